"""What a span stands for by the kinds that conventions define, and by the names that runtimes keep to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_docsfab.spans.dialects.values import text_of
from otel_docsfab.spans.observation import Role

ANSWER_TOOLS: Final = frozenset({"final_answer", "finish"})
MERGED_TOOLS: Final = frozenset({"(merged tools)", "(merged)"})
KINDS: Final[tuple[tuple[str, dict[str, Role]], ...]] = (
    (
        "gen_ai.operation.name",
        {
            "execute_tool": Role.TOOL,
            "invoke_agent": Role.AGENT,
            "chat": Role.MODEL,
            "text_completion": Role.MODEL,
            "generate_content": Role.MODEL,
        },
    ),
    ("openinference.span.kind", {"TOOL": Role.TOOL, "AGENT": Role.AGENT, "LLM": Role.MODEL}),
    ("traceloop.span.kind", {"tool": Role.TOOL, "agent": Role.AGENT}),
    ("langsmith.span.kind", {"tool": Role.TOOL, "llm": Role.MODEL}),
    ("mcp.method.name", {"tools/call": Role.TOOL}),
    ("llm.request.type", {"chat": Role.MODEL, "completion": Role.MODEL}),
)
SEMCONV_NAMES: Final[tuple[tuple[str, Role], ...]] = (
    ("execute_tool ", Role.TOOL),
    ("invoke_agent ", Role.AGENT),
    ("chat ", Role.MODEL),
    ("generate_content ", Role.MODEL),
)
"""Span names of the GenAI conventions. They count only for runtimes that are known to keep to them."""


def role_by_attributes(attributes: Mapping[str, Any]) -> Role | None:
    """What a span stands for by the kinds that conventions define (mapping rule 1)."""
    for key, roles in KINDS:
        kind = attributes.get(key)
        if kind is not None:
            role = roles.get(text_of(kind) or "")
            if role is not None:
                return role
    return None


def tool_role(tool: str) -> Role:
    """Real tool, answer or pseudo tool (mapping rule 1)."""
    if tool in ANSWER_TOOLS:
        return Role.ANSWER
    return Role.IGNORED if tool in MERGED_TOOLS else Role.TOOL
