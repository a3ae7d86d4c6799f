"""The catalogue as a page for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from otel_docsfab.catalogue.attributes import MAX_LABEL_LENGTH, SPAN_ATTRIBUTES, Label
from otel_docsfab.catalogue.events import LOG_EVENTS, EventAttribute
from otel_docsfab.catalogue.metric import MAX_SERIES, Kind, Metric
from otel_docsfab.catalogue.metrics import METRICS
from otel_docsfab.catalogue.words import OTHER

_HEAD: Final = f"""<!-- Made by `otel-docsfab mixin build`; change the catalogue, not this file. -->
# Metrics, span attributes and log events

Everything this package emits, and nothing else. A metric has the same name, unit and labels whether OpenTelemetry or
prometheus_client carries it; the Prometheus names follow the usual rules. No label ever holds an id, a path, an
argument or a prompt.

## Metrics

A **stable** metric keeps its name, unit, kind and labels; one in **development** may change in a minor version. *Zero*
says when a counter's series come to be at 0: `increase()` misses what a series starts with, so the dashboards and
alerts ask for new series too. Each metric stays within {MAX_SERIES} series, buckets included: when it has as many
combinations of open labels as the table says, all further ones become `{OTHER}`.

"""
_OPEN: Final = f"""An open label holds names that the host chooses, as many as given, of {MAX_LABEL_LENGTH} characters
at most; any other becomes `{OTHER}`.

"""


def markdown() -> str:
    """The reference page."""
    parts = [
        _HEAD,
        _table(("Name", "In Prometheus", "Kind, unit", "Labels", "Zero", "Stability"), map(_metric_row, METRICS)),
        "\n### What they say\n\n",
        *(f"- `{metric.name}`: {metric.description}.{_bounds(metric)}\n" for metric in METRICS),
        "\n### Labels\n\n",
        _OPEN,
        _table(("Label", "Of", "Says", "Values"), map(_label_row, _labels())),
        "\n## Span attributes\n\nAll optional on input.\n\n",
        _table(
            ("Attribute", "Type", "On", "Set", "Says", "Values"),
            (
                (f"`{one.name}`", one.kind, one.placed, one.direction, one.description, _values(one.values))
                for one in SPAN_ATTRIBUTES
            ),
        ),
        "\n## Log events\n\nEmitted in the attempt's context: trace and span id come with them.\n",
    ]
    for event in LOG_EVENTS:
        parts.append(f"\n### `{event.name}`\n\n{event.description}. Severity {event.severity}.\n\n")
        rows = (
            (
                f"`{one.name}`",
                one.kind,
                one.description,
                "always" if one.required else "when known",
                _values(one.values),
            )
            for one in event.attributes
        )
        parts.append(_table(("Attribute", "Type", "Says", "Present", "Values"), rows))
    return "".join(parts)


def as_data() -> list[dict[str, Any]]:
    """The metrics as plain data, ready for JSON."""
    return [
        {
            "name": metric.name,
            "prometheusName": metric.prometheus_name,
            "kind": metric.kind,
            "unit": metric.unit,
            "description": metric.description,
            "labels": [
                {"name": label.name, "description": label.description}
                | ({"cap": label.cap} if label.open else {"values": list(label.values)})
                for label in metric.labels
            ],
            "bounds": list(metric.bounds),
            "recorded": metric.recorded,
            "zero": metric.zero,
            "maxOpenCombinations": metric.max_open_combinations,
            "stability": metric.stability,
        }
        for metric in METRICS
    ]


def _metric_row(metric: Metric) -> tuple[str, ...]:
    cap = f" (at most {metric.max_open_combinations})" if metric.open_labels else ""
    return (
        f"`{metric.name}`",
        f"`{metric.prometheus_name}`",
        f"{metric.kind}, `{metric.unit}`",
        (", ".join(f"`{name}`" for name in metric.label_names) or "none") + cap,
        metric.zero if metric.kind is Kind.COUNTER else "-",
        metric.stability,
    )


def _bounds(metric: Metric) -> str:
    return f" Bounds: {', '.join(f'{bound:g}' for bound in metric.bounds)}." if metric.bounds else ""


def _labels() -> dict[Label, list[Metric]]:
    found: dict[Label, list[Metric]] = {}
    for metric in METRICS:
        for label in metric.labels:
            found.setdefault(label, []).append(metric)
    return found


def _label_row(label: Label) -> tuple[str, ...]:
    metrics = _labels()[label]
    values = f"open, at most {label.cap}" if label.open else _values(label.values)
    return f"`{label.name}`", ", ".join(f"`{metric.name}`" for metric in metrics), label.description, values


def _event_row(one: EventAttribute) -> tuple[str, ...]:
    present = "always" if one.required else "when known"
    return f"`{one.name}`", one.kind, one.description, present, _values(one.values)


def _values(values: Sequence[str]) -> str:
    return ", ".join(f"`{value}`" for value in values) or "any"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
