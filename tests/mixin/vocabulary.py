"""Which names and labels a hand-written PromQL expression uses, by its text; a real parser judges its grammar."""

import re

from otel_docsfab.catalogue import METRICS
from otel_docsfab.mixin.promql import TARGET_LABELS
from otel_docsfab.mixin.rules import Rules

LABELS = {
    **{name: {*metric.label_names, *TARGET_LABELS} for metric in METRICS for name in metric.series_names},
    **{rule.name: set(rule.query.labels) for rule in Rules().all()},
    # Prometheus itself makes this one.
    "ALERTS": {"alertname", "alertstate", "severity", "job", "step", "agent", "code", "site", "instance"},
}
for _metric in METRICS:
    if _metric.bounds:
        LABELS[f"{_metric.prometheus_name}_bucket"].add("le")
BOUNDS = {f"{bound:g}" for metric in METRICS for bound in metric.bounds} | {"+Inf"}

_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}")
_MATCHER = re.compile(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"')
_GROUPS = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
_NO_NAMES = re.compile(r"\[[^\]]*\]|\boffset \S+|(?<![\w:])[\d.]+")
_NAME = re.compile(r"[a-zA-Z_:][\w:]*")
_WORDS = {
    *("sum", "max", "min", "count", "by", "or", "and", "unless", "on", "offset", "rate", "increase", "round", "topk"),
    *("clamp_min", "vector", "histogram_quantile", "last_over_time", "timestamp"),
}


def strangers(expression: str) -> list[str]:
    """Names, labels and bounds that the catalogue lacks; empty when there is none."""
    found: list[str] = []
    selected = _SELECTOR.findall(expression)
    grouped = {label.strip() for labels in _GROUPS.findall(expression) for label in labels.split(",")}
    rest = _NO_NAMES.sub(" ", _GROUPS.sub(" ", _SELECTOR.sub(" ", expression)))
    selected += [(name, "") for name in _NAME.findall(rest) if name not in _WORDS]
    for name, matchers in selected:
        if name not in LABELS:
            found.append(f"metric {name}")
            continue
        for label, value in _MATCHER.findall(matchers):
            if label not in LABELS[name]:
                found.append(f"label {label} of {name}")
            if label == "le" and value not in BOUNDS:
                found.append(f"bound {value} of {name}")
    had = {label for name, _ in selected for label in LABELS.get(name, ())}
    return found + [f"label {label}" for label in sorted(grouped - had)]
