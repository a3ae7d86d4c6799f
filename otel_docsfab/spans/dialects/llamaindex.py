"""LlamaIndex through OpenInference and traceloop."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import keyword_arguments
from otel_docsfab.spans.dialects.envelopes import settled, tool_output
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.dialects.values import RESULT, Content, text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView

_AGENT_RUNS = ("Agent.run", "AgentWorkflow.run")
_MODEL_STEP = ".run_agent_step"


def _maybe_shortened(value: object) -> Content:
    """A representation that is no JSON is shortened with dots at the end."""
    if isinstance(value, str) and value.endswith("..."):
        return Content(None, RESULT.cut)
    return settled(value)


class LlamaIndex(OpenInferenceFamily):
    """The agent's step asks the model; the tool's span is named after its class."""

    name = "llamaindex"
    scopes = frozenset({"openinference.instrumentation.llama_index"})
    arguments = (Source("input.value", keyword_arguments),)
    results = (Source("output.value", tool_output, mime="output.mime_type", plain=_maybe_shortened),)
    span_names = (("FunctionTool.acall", Role.TOOL), ("FunctionTool.call", Role.TOOL))

    def role(self, view: SpanView) -> Role | None:
        """As conventions say; agent runs and steps by name."""
        role = super().role(view)
        if role is None and view.name.endswith(_AGENT_RUNS):
            return Role.AGENT
        return Role.MODEL if role is None and view.name.endswith(_MODEL_STEP) else role

    def bare_name(self, name: str) -> str:
        """A tool span's name says nothing of the tool."""
        return "" if name.startswith("FunctionTool.") else super().bare_name(name)


class LlamaIndexTraceloop(Family):
    """A tool call is a *task* with a tool's name; only its output tells a failure."""

    name = "llamaindex_traceloop"
    scopes = frozenset({"opentelemetry.instrumentation.llamaindex"})
    tool_keys = ("tool.name", "gen_ai.tool.name", "traceloop.entity.name")
    arguments = (Source("tool.arguments"), Source("traceloop.entity.input", keyword_arguments))
    results = (Source("traceloop.entity.output", tool_output),)
    name_affixes = (".workflow", ".task", ".tool")

    def role(self, view: SpanView) -> Role | None:
        """By the tool's name; the workflow of an agent is the agent."""
        attributes = view.attributes
        if text_of(attributes.get("tool.name")):
            return Role.TOOL
        if view.name.endswith("Agent.workflow") or view.name == "AgentWorkflow.workflow":
            return Role.AGENT
        return super().role(view)
