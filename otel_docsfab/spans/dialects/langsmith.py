"""LangChain and LangGraph through LangSmith's OpenTelemetry mode: spans come afterwards, parents first."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import plain_arguments
from otel_docsfab.spans.dialects.envelopes import tool_message
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source, first_text
from otel_docsfab.spans.dialects.values import ARGUMENTS, RESULT, Content, text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView

_AGENT_NAME = "langsmith.metadata.lc_agent_name"


def _prompt(value: object) -> Content:
    """``{}`` is also what hidden inputs are."""
    return Content(None, ARGUMENTS.not_captured) if _is_empty(value) else plain_arguments(value)


def _completion(value: object) -> Content:
    """``{}`` is also what hidden outputs are."""
    return Content(None, RESULT.not_captured) if _is_empty(value) else tool_message(value)


def _is_empty(value: object) -> bool:
    return value in ("{}", {})


class LangSmith(Family):
    """Good for reports; too late for control."""

    name = "langsmith"
    marking_keys = frozenset({"langsmith.span.kind"})
    scopes = frozenset({"langsmith"})
    arguments = (Source(ARGUMENTS_KEY), Source("gen_ai.prompt", _prompt))
    results = (Source(RESULT_KEY), Source("gen_ai.completion", _completion))
    agent_keys = ("gen_ai.agent.name", _AGENT_NAME)
    tool_keys = ("gen_ai.tool.name", "langsmith.trace.name")

    def role(self, view: SpanView) -> Role | None:
        """As conventions say; the root chain and a chain named like its agent are agents."""
        role = super().role(view)
        if role is not None:
            return role
        named = text_of(view.attributes.get(_AGENT_NAME))
        return Role.AGENT if view.is_root or (view.name and named == view.name) else None

    def agent_name(self, view: SpanView) -> str | None:
        """The agent's name, else the chain's."""
        return first_text(view.attributes, self.agent_keys) or view.name or None
