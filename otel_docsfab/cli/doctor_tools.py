"""``otel-docsfab doctor --tools TOOL [ARGS]``: what a toolset makes of a call, and why."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from otel_docsfab.config.toolsets import Explanation, Tools, ToolsetSettings, explain
from otel_docsfab.core.codes import ToolClass
from otel_docsfab.core.identity import NotJson, canonical_json


def doctor_tools(
    tool: Annotated[str, typer.Argument(help="Tool name as the runtime gives it.")],
    arguments: Annotated[str | None, typer.Argument(help="Arguments as JSON, or a shell command as text.")] = None,
    profile: Annotated[str, typer.Option(help="Toolset profile.")] = "docsfab",
    *,
    shell_rules: Annotated[str, typer.Option(help="off, reads or reads-and-writes.")] = "off",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    toolset: Annotated[Tools | None, typer.Option(hidden=True, parser=lambda _text: None)] = None,
) -> None:
    """Print the class of a call, why, and what of its arguments belongs to the result identity.

    Args:
        tool: Tool name.
        arguments: JSON text, or plain text for a shell tool; None when not known.
        profile: Profile to ask.
        shell_rules: What shell rules may say.
        as_json: Print one JSON object.
        toolset: A toolset to ask in place of the profile.

    Raises:
        ConfigError: The profile or the shell mode is unknown, or the shell parser is not installed.
    """
    if toolset is None:
        data = {"profile": profile, "shellRules": shell_rules}
        toolset = ToolsetSettings.from_data(data, source="options").build()
    explanation = explain(tool, arguments, toolset)
    typer.echo(_as_json(explanation, profile) if as_json else _as_text(explanation, profile))


def _as_json(explanation: Explanation, profile: str) -> str:
    return json.dumps(
        {
            "tool": explanation.tool,
            "profile": profile,
            "class": explanation.tool_class.value,
            "reason": explanation.reason,
            "identity": _shown(explanation),
            "leftOut": list(explanation.left_out),
        }
    )


def _as_text(explanation: Explanation, profile: str) -> str:
    rows = [
        ("tool", explanation.tool),
        ("profile", profile),
        ("class", explanation.tool_class.value),
        ("why", explanation.reason),
    ]
    if explanation.tool_class is not ToolClass.NEUTRAL:
        rows.append(("identity", _shown(explanation)))
    if explanation.left_out:
        rows.append(("left out", ", ".join(explanation.left_out)))
    lines = [f"{name:<9} {value}" for name, value in rows]
    return "\n".join(line.encode("utf-8", "backslashreplace").decode() for line in lines)


def _shown(explanation: Explanation) -> str:
    """The identity's arguments on one line."""
    if explanation.identity is None:
        return "unknown: a read without its arguments is not judged"
    if isinstance(explanation.identity, str):
        return explanation.identity
    try:
        return canonical_json(explanation.identity)
    except NotJson:
        return "not JSON: a read with such arguments is not judged"
