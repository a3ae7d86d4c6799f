"""Every generated file, and the check that the ones on disk are what the catalogue says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

from otel_docsfab.catalogue import reference
from otel_docsfab.mixin.alerts import Alert, alerts
from otel_docsfab.mixin.boards import boards
from otel_docsfab.mixin.config import DEFAULTS, MixinConfig
from otel_docsfab.mixin.grafana import to_json
from otel_docsfab.mixin.promql import Rule
from otel_docsfab.mixin.rules import Rules

_NOTE: Final = "# Made by `otel-docsfab mixin build`; change the catalogue or the mixin, not this file.\n"
_BOARDS: Final = "dashboards/json"


class Format(StrEnum):
    """Who reads the rules."""

    PROMETHEUS = "prometheus"
    PROMETHEUS_OPERATOR = "prometheus-operator"


def render(config: MixinConfig = DEFAULTS, rules_format: Format = Format.PROMETHEUS) -> dict[str, str]:
    """Every generated file.

    Args:
        config: Thresholds, windows and links.
        rules_format: Rule files for Prometheus, or one ``PrometheusRule`` for its operator.

    Returns:
        Path below the output directory to text.
    """
    files = {f"{_BOARDS}/{board.file_name}": to_json(board) for board in boards(config)}
    files["docs/metrics.md"] = reference.markdown()
    rule_group = {"name": "docsfab-rules", "rules": [_rule(rule) for rule in Rules(config).all()]}
    alert_group = {"name": "docsfab-alerts", "rules": [_alert(alert, config) for alert in alerts(config)]}
    if rules_format is Format.PROMETHEUS:
        return files | {
            "dashboards/rules.yaml": _yaml({"groups": [rule_group]}),
            "dashboards/alerts.yaml": _yaml({"groups": [alert_group]}),
        }
    manifest = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "docsfab", "labels": {"app.kubernetes.io/name": "otel-docsfab"}},
        "spec": {"groups": [rule_group, alert_group]},
    }
    return files | {"dashboards/prometheusrule.yaml": _yaml(manifest)}


def differences(files: Mapping[str, str], directory: Path) -> list[str]:
    """What on disk is not as rendered: ``missing``, ``changed`` or ``left over``, with the path."""
    found = []
    for name, text in files.items():
        path = directory / name
        if not path.is_file():
            found.append(f"missing: {path}")
        elif path.read_text(encoding="utf-8") != text:
            found.append(f"changed: {path}")
    boards_there = {f"{_BOARDS}/{path.name}" for path in (directory / _BOARDS).glob("*.json")}
    return found + [f"left over: {directory / name}" for name in sorted(boards_there - set(files))]


def write(files: Mapping[str, str], directory: Path) -> None:
    """Write the files below the directory."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _rule(rule: Rule) -> dict[str, Any]:
    return {"record": rule.name, "expr": rule.query.text}


def _alert(alert: Alert, config: MixinConfig) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.query.text,
        "for": alert.hold,
        "labels": {"severity": str(alert.severity)},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            "dashboard": alert.board,
            "runbook_url": f"{config.runbook_url.rstrip('/')}/{alert.name}.md",
        },
    }


def _yaml(document: Mapping[str, Any]) -> str:
    return _NOTE + yaml.safe_dump(document, sort_keys=False, width=120, allow_unicode=True)
