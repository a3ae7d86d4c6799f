"""MCP: the SDK, fastmcp and traceloop. The first two never carry content, and show a call up to three times.

The session id differs per call and the request id is unique in a session only: neither is taken for an identity.
"""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import named_call
from otel_docsfab.spans.dialects.envelopes import mcp_result
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView


class Mcp(Family):
    """Client and server spans of ``tools/call``."""

    name = "mcp"
    marking_keys = frozenset({"mcp.method.name"})
    scopes = frozenset(
        {
            "mcp-python-sdk",
            "fastmcp",
            "opentelemetry.instrumentation.mcp",
            "opentelemetry.instrumentation.mcp.instrumentation",
        }
    )
    name_affixes = ("MCP send ", "tools/call ", ".tool")
    call_id_keys = ("gen_ai.tool.call.id",)
    arguments = (Source(ARGUMENTS_KEY), Source("traceloop.entity.input", named_call))
    results = (Source(RESULT_KEY), Source("traceloop.entity.output", mcp_result))

    def role_at_start(self, view: SpanView) -> Role | None:
        """Traceloop's start shows the name only."""
        role = super().role_at_start(view)
        return Role.TOOL if role is None and view.name.endswith(".tool") else role
