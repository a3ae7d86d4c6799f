"""What turns the content of tool spans on, scope by scope, as measured with the releases the captures were made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_FALSE: Final = frozenset({"false", "0", "no", "off"})


class Switch(NamedTuple):
    """How one scope's content is turned on.

    Attributes:
        advice: What to do, for people: the exact variable or setting.
        needs: Environment variables that must all have one of these values (lower case).
        hides: Environment variables any one of which hides content with one of these values.
        never: Whether nothing turns content on.
    """

    advice: str
    needs: tuple[tuple[str, frozenset[str]], ...] = ()
    hides: tuple[tuple[str, frozenset[str]], ...] = ()
    never: bool = False


_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS: Final = frozenset({"span_only", "span_and_event"})
_GENAI: Final = Switch(
    f"Set {_CAPTURE}=SPAN_ONLY (or SPAN_AND_EVENT). The older {_CAPTURE}=true alone puts nothing on spans.",
    needs=((_CAPTURE, _ON_SPANS),),
)
_OPENINFERENCE: Final = Switch(
    "Captured by default: unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS (they write __REDACTED__), and"
    " hide neither in TraceConfig.",
    hides=(("OPENINFERENCE_HIDE_INPUTS", _TRUE), ("OPENINFERENCE_HIDE_OUTPUTS", _TRUE)),
)
_TRACELOOP: Final = Switch(
    "Captured by default: unset TRACELOOP_TRACE_CONTENT or set it to true.",
    hides=(("TRACELOOP_TRACE_CONTENT", _FALSE),),
)
_MCP: Final = Switch(
    "No switch was found: its spans never carry arguments or results. Instrument the agent runtime as well (its span of"
    " the call carries them), or gate the tool.",
    never=True,
)
_NO_TOOLS: Final = Switch("Shows no tool spans at all: use openinference-instrumentation-crewai.", never=True)
_SENSITIVE: Final = "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE"
_SEMANTIC_KERNEL: Final = Switch(f"Set {_SENSITIVE}=true.", needs=((_SENSITIVE, _TRUE),))
_CLAUDE_CODE: Final = tuple(
    (variable, _TRUE)
    for variable in (
        "CLAUDE_CODE_ENABLE_TELEMETRY",
        "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA",
        "OTEL_LOG_TOOL_DETAILS",
        "OTEL_LOG_TOOL_CONTENT",
    )
)

SWITCHES: Final[dict[str, Switch]] = {
    "pydantic-ai": Switch(
        "Captured by default: leave include_content of InstrumentationSettings at True (Agent.instrument_all or"
        " instrument=)."
    ),
    "agent_framework": Switch(
        "Set ENABLE_SENSITIVE_DATA=true, or call enable_sensitive_telemetry().",
        needs=(("ENABLE_SENSITIVE_DATA", _TRUE),),
    ),
    "gcp.vertex.agent": Switch(
        f"Set {_CAPTURE}=SPAN_ONLY (or SPAN_AND_EVENT). {_CAPTURE}=true alone yields nothing in ADK 2.13. With"
        " ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1 (the older schema) leave ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS unset"
        " or true instead.",
        needs=((_CAPTURE, _ON_SPANS),),
    ),
    "strands.telemetry.tracer": Switch("Captured by default, in span events or, in the newer mode, in attributes."),
    "langsmith": Switch(
        "Captured by default: unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS (they write {}).",
        hides=(("LANGSMITH_HIDE_INPUTS", _TRUE), ("LANGSMITH_HIDE_OUTPUTS", _TRUE)),
    ),
    "logfire.openai_agents": Switch(
        "Captured by default; what scrubbing replaces is unknown: narrow it with logfire.configure(scrubbing=...)."
    ),
    "autogen-core": Switch(
        "Native spans never carry content: add openinference-instrumentation-autogen-agentchat.", never=True
    ),
    "semantic_kernel.functions.kernel_function": _SEMANTIC_KERNEL,
    "mcp-python-sdk": _MCP,
    "fastmcp": _MCP,
    "com.anthropic.claude_code.tracing": Switch(
        "Set CLAUDE_CODE_ENABLE_TELEMETRY=1, CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1, OTEL_LOG_TOOL_DETAILS=1 and"
        " OTEL_LOG_TOOL_CONTENT=1. Spans tell the arguments of Read and Bash only; a read's line range is in the logs.",
        needs=_CLAUDE_CODE,
    ),
    "opentelemetry.instrumentation.openai_agents": Switch(
        "Captured by default: unset TRACELOOP_TRACE_CONTENT or set it to true, and leave trace_include_sensitive_data"
        " of RunConfig at True.",
        hides=(("TRACELOOP_TRACE_CONTENT", _FALSE),),
    ),
}
"""Scopes with a switch of their own."""

_FAMILIES: Final[tuple[tuple[str, Switch], ...]] = (
    ("opentelemetry.instrumentation.genai.", _GENAI),
    ("openinference.instrumentation.", _OPENINFERENCE),
    ("@arizeai/openinference-", _OPENINFERENCE),
    ("semantic_kernel.", _SEMANTIC_KERNEL),
    ("opentelemetry.instrumentation.crewai", _NO_TOOLS),
    ("opentelemetry.instrumentation.langchain", _TRACELOOP),
    ("opentelemetry.instrumentation.llamaindex", _TRACELOOP),
    ("opentelemetry.instrumentation.mcp", _TRACELOOP),
)

HAYSTACK: Final = Switch(
    "Set HAYSTACK_CONTENT_TRACING_ENABLED=true before Haystack is imported.",
    needs=(("HAYSTACK_CONTENT_TRACING_ENABLED", _TRUE),),
)
"""Haystack's spans have the application's own scope; they are known by their names."""

UNKNOWN: Final = Switch(
    "Let the instrumentation write gen_ai.tool.call.arguments and gen_ai.tool.call.result, or the digests of whole"
    " content as docsfab.arguments.digest and docsfab.result.digest."
)
"""For scopes that nobody knows."""


def switch_for(scope: str, dialect: str = "") -> Switch:
    """What turns the content of a scope's tool spans on.

    Args:
        scope: Instrumentation scope name.
        dialect: Name of the dialect that read the span, for those that go by other marks than the scope.
    """
    if dialect == "haystack":
        return HAYSTACK
    known = SWITCHES.get(scope)
    if known is not None:
        return known
    for prefix, switch in _FAMILIES:
        if scope.startswith(prefix):
            return switch
    return UNKNOWN


def is_captured(switch: Switch, environment: Mapping[str, str]) -> bool:
    """Whether content is captured under these environment variables; settings in code are not seen."""
    if switch.never:
        return False
    values = {name: value.strip().lower() for name, value in environment.items()}
    wanted = all(values.get(name) in accepted for name, accepted in switch.needs)
    return wanted and not any(values.get(name) in hiding for name, hiding in switch.hides)
