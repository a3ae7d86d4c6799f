"""OpenAI Agents through logfire: its own scope and span names; redaction writes ``[Scrubbed due to ..]``."""

from __future__ import annotations

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.observation import Role


class Logfire(Family):
    """Arguments and result are there at the start as the text ``null``: unknown until the end."""

    name = "logfire"
    scopes = frozenset({"logfire.openai_agents"})
    span_names = (
        ("Function: ", Role.TOOL),
        ("Agent run: ", Role.AGENT),
        ("Turn {turn} for agent", Role.TURN),
        ("Responses API with ", Role.MODEL),
        ("Chat completion with ", Role.MODEL),
    )
    tool_keys = ("gen_ai.tool.name", "name")
    agent_keys = ("gen_ai.agent.name", "name")
    arguments = (Source("input"),)
    results = (Source("output"),)
    silence_is_failure = True
