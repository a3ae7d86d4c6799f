"""OpenInference as it is: runtimes whose instrumentation writes arguments and result without an envelope."""

from __future__ import annotations

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source


class OpenInferenceFamily(Family):
    """What runtimes behind OpenInference share; native keys of the runtime come first when there are both."""

    tool_keys: tuple[str, ...] = ("gen_ai.tool.name", "tool.name")
    agent_keys: tuple[str, ...] = ("gen_ai.agent.name", "agent.name", "graph.node.id")
    arguments: tuple[Source, ...] = (Source(ARGUMENTS_KEY), Source("input.value"))
    results: tuple[Source, ...] = (Source(RESULT_KEY), Source("output.value"))


class OpenInference(OpenInferenceFamily):
    """Spans that carry ``openinference.span.kind``, of scopes that no other family claims."""

    name = "openinference"
    marking_keys = frozenset({"openinference.span.kind"})
