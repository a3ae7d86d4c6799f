"""The GenAI semantic conventions as they are, and the runtimes that keep to them (Pydantic AI among them)."""

from __future__ import annotations

from typing import Final

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.kinds import SEMCONV_NAMES
from otel_docsfab.spans.dialects.sources import Source

ARGUMENTS_KEY: Final = "gen_ai.tool.call.arguments"
RESULT_KEY: Final = "gen_ai.tool.call.result"


class GenAi(Family):
    """Spans that carry ``gen_ai.operation.name``, whoever wrote them; keys of other conventions come last."""

    name = "genai"
    marking_keys = frozenset({"gen_ai.operation.name"})
    scopes = frozenset(
        {
            "pydantic-ai",
            "opentelemetry.instrumentation.genai.langchain",
            "opentelemetry.instrumentation.genai.llama_index",
            "opentelemetry.instrumentation.genai.smolagents",
            "opentelemetry.instrumentation.genai.agno",
            "opentelemetry.instrumentation.genai.dspy",
        }
    )
    span_names = SEMCONV_NAMES
    arguments = (
        Source(ARGUMENTS_KEY),
        Source("tool_arguments"),
        Source("tool.arguments"),
        Source("input.value"),
        Source("traceloop.entity.input"),
        Source("content", event="gen_ai.tool.message"),
    )
    results = (
        Source(RESULT_KEY),
        Source("tool_response"),
        Source("output.value"),
        Source("traceloop.entity.output"),
        Source("message", event="gen_ai.choice"),
    )
