"""LangChain and LangGraph through OpenInference and traceloop: starts show the span's name only."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import callback_input, exact_text, plain_arguments
from otel_docsfab.spans.dialects.envelopes import tool_message
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.kinds import SEMCONV_NAMES
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.sources import Source, metadata_of
from otel_docsfab.spans.dialects.values import text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView

_GRAPHS = frozenset({"LangGraph", "AgentExecutor"})
"""Names that the runtime gives agents that were given none."""


class LangChain(OpenInferenceFamily):
    """No agent kind: the root chain is the agent, and so is a chain named like the agent that its metadata names.

    A tool with one text argument shows the bare text.
    """

    name = "langchain"
    scopes = frozenset({"openinference.instrumentation.langchain", "@arizeai/openinference-instrumentation-langchain"})
    arguments = (Source("input.value", plain_arguments, mime="input.mime_type", plain=exact_text),)
    results = (Source("output.value", tool_message, mime="output.mime_type"),)

    def role(self, view: SpanView) -> Role | None:
        """As conventions say, else whether the chain is an agent."""
        role = super().role(view)
        return role if role is not None else self._chain_role(view)

    def _chain_role(self, view: SpanView) -> Role | None:
        if view.is_root or view.name in _GRAPHS:
            return Role.AGENT
        named = metadata_of(view.attributes.get("metadata")).get("lc_agent_name")
        return Role.AGENT if view.name and named == view.name else None

    def agent_name(self, view: SpanView) -> str | None:
        """The chain's name."""
        named = metadata_of(view.attributes.get("metadata")).get("lc_agent_name")
        return text_of(named) or super().agent_name(view) or view.name

    def conversation(self, view: SpanView) -> str | None:
        """The session, else the thread of the metadata."""
        thread = metadata_of(view.attributes.get("metadata")).get("thread_id")
        return super().conversation(view) or text_of(thread)


class LangChainTraceloop(Family):
    """Callback envelopes with steps and checkpoints inside, under both sets of keys."""

    name = "langchain_traceloop"
    scopes = frozenset({"opentelemetry.instrumentation.langchain"})
    span_names = SEMCONV_NAMES
    name_affixes = (*Family.name_affixes, ".workflow")
    arguments = (Source(ARGUMENTS_KEY, callback_input), Source("traceloop.entity.input", callback_input))
    results = (Source(RESULT_KEY, tool_message), Source("traceloop.entity.output", tool_message))

    def role_at_start(self, view: SpanView) -> Role | None:
        """By name."""
        role = super().role_at_start(view)
        if role is None and view.name.endswith((".chat", ".completion")):
            return Role.MODEL
        if role is None and view.is_root and view.name.endswith(".workflow"):
            return Role.AGENT
        return role
