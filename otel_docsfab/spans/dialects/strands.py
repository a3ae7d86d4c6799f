"""Strands: span events hold the content, the newer mode writes attributes; the start shows the name only."""

from __future__ import annotations

from otel_docsfab.spans.dialects.envelopes import content_blocks
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.observation import Role


class Strands(Family):
    """Native spans of Strands in both modes."""

    name = "strands"
    scopes = frozenset({"strands.telemetry.tracer"})
    span_names = (("execute_tool ", Role.TOOL), ("invoke_agent ", Role.AGENT), ("chat", Role.MODEL))
    arguments = (Source(ARGUMENTS_KEY), Source("content", event="gen_ai.tool.message"))
    results = (Source(RESULT_KEY, content_blocks), Source("message", content_blocks, event="gen_ai.choice"))
