"""Haystack: recognised by span name alone, because the scope is the application's own tracer."""

from __future__ import annotations

from typing import Final

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView

ROLES: Final = {
    "haystack.agent.run": Role.AGENT,
    "haystack.agent.step.llm": Role.MODEL,
    "haystack.agent.step.tool": Role.TOOL,
}


class Haystack(Family):
    """A failed tool leaves the status alone and says ``haystack.tool.error``."""

    name = "haystack"
    marking_names = frozenset(ROLES)
    tool_keys = ("gen_ai.tool.name", "haystack.tool.name")
    arguments = (Source("haystack.agent.step.tool.input"),)
    results = (Source("haystack.agent.step.tool.output"),)

    def role(self, view: SpanView) -> Role | None:
        """By name."""
        return ROLES.get(view.name)

    def bare_name(self, name: str) -> str:  # noqa: ARG002 - one signature for all families
        """The span's name says nothing of the tool."""
        return ""
