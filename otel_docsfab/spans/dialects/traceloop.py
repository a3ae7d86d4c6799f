"""Traceloop as it is: spans of its decorators and of instrumentations without an envelope of their own."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import keyword_arguments
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.view import SpanView


class Traceloop(Family):
    """Spans that carry ``traceloop.span.kind``."""

    name = "traceloop"
    name_affixes = (*Family.name_affixes, ".agent", ".workflow", ".task")
    arguments = (Source(ARGUMENTS_KEY), Source("traceloop.entity.input", keyword_arguments))
    results = (Source(RESULT_KEY), Source("traceloop.entity.output"))

    def matches(self, view: SpanView) -> bool:
        """By the span kind, or by the request type of its older model instrumentations."""
        attributes = view.attributes
        return "traceloop.span.kind" in attributes or "llm.request.type" in attributes
