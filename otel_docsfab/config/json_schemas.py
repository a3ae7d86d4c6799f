"""JSON Schemas of the tables that other modules check: limits and toolsets."""

from __future__ import annotations

import re
from typing import Any

from otel_docsfab.core import LIMITS, ToolClass
from otel_docsfab.core.limits import ANSWER_PLAN

MAX_VALUE = LIMITS[0].maximum


def _table(properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties or {}, "additionalProperties": False, **more}


def limits_schema() -> dict[str, Any]:
    """Of ``[limits]``, from the one table of limits: tables nested along the dots, or a whole name as the key."""
    root = _table()
    for spec in LIMITS:
        *groups, leaf = spec.name.split(".")
        table = root
        for group in groups:
            table = table["properties"].setdefault(group, _table())
        root["properties"][spec.name] = table["properties"][leaf] = {
            "type": "integer",
            "minimum": spec.minimum,
            "maximum": spec.maximum,
            "default": spec.default,
            "description": f"{spec.name}, {spec.unit}",
        }
    plan = {"type": "integer", "minimum": 1, "maximum": MAX_VALUE, "description": "Planned answer of a step, tokens"}
    plans = root["properties"]["compositionExecution"]["properties"]["answerPlan"]
    plans["patternProperties"] = {"^[a-z][A-Za-z0-9]*Tokens$": plan}
    root["patternProperties"] = {f"^{re.escape(ANSWER_PLAN)}[a-z][A-Za-z0-9]*Tokens$": plan}
    return root


def toolset_schema() -> dict[str, Any]:
    """Of ``toolset``: a profile's name, or a table with rules before a profile's."""
    name = {"type": "string", "minLength": 1}
    names = {"anyOf": [name, {"type": "array", "items": name}]}
    value = {"type": ["string", "boolean", "number"]}
    condition = {
        "type": "object",
        "propertyNames": {"minLength": 1},
        "additionalProperties": {"anyOf": [value, {"type": "array", "items": value, "minItems": 1}]},
    }
    rule = _table(
        {
            "tools": {"anyOf": [name, {"type": "array", "items": name, "minItems": 1}]},
            "class": {"enum": [*map(str, ToolClass), "shell"]},
            "when": condition,
            "unless": condition,
            "ignore": names,
            "command": names,
            "directory": names,
        },
        required=["tools", "class"],
    )
    table = _table(
        {
            "profile": name,
            "shellRules": {"enum": ["off", "reads", "reads-and-writes"]},
            "workingDirectory": name,
            "prefixes": names,
            "rules": {"type": "array", "items": rule},
        }
    )
    return {"anyOf": [name, table]}
