"""Traceloop as it is: spans of its decorators and of instrumentations without an envelope of their own."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import keyword_arguments
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source


class Traceloop(Family):
    """Spans that carry ``traceloop.span.kind``, or the request type of its older model instrumentations."""

    name = "traceloop"
    marking_keys = frozenset({"traceloop.span.kind", "llm.request.type"})
    name_affixes = (*Family.name_affixes, ".agent", ".workflow", ".task")
    arguments = (Source(ARGUMENTS_KEY), Source("traceloop.entity.input", keyword_arguments))
    results = (Source(RESULT_KEY), Source("traceloop.entity.output"))
