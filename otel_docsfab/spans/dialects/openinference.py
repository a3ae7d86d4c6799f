"""OpenInference as it is: runtimes whose instrumentation writes arguments and result without an envelope."""

from __future__ import annotations

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.view import SpanView


class OpenInference(Family):
    """Spans that carry ``openinference.span.kind``; native keys of the runtime come first when there are both."""

    name = "openinference"
    tool_keys: tuple[str, ...] = ("gen_ai.tool.name", "tool.name")
    agent_keys: tuple[str, ...] = ("gen_ai.agent.name", "agent.name", "graph.node.id")
    arguments: tuple[Source, ...] = (Source(ARGUMENTS_KEY), Source("input.value"))
    results: tuple[Source, ...] = (Source(RESULT_KEY), Source("output.value"))

    def matches(self, view: SpanView) -> bool:
        """By the span kind, when no other family of these keys claims the scope."""
        return type(self) is OpenInference and "openinference.span.kind" in view.attributes
