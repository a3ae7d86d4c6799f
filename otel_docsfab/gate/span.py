"""The gate's span: the runtime's own tool span where there is one, else one of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import trace

from otel_docsfab.core import DeliverResult, Verdict

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from otel_docsfab.supervisor import Admission, Attempt

_tracer = trace.get_tracer("otel_docsfab")
_TOOL_MARKS = (
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "TOOL"),
    ("traceloop.span.kind", "tool"),
)


@contextmanager
def tool_span(attempt: Attempt, tool: str) -> Iterator[Span]:
    """The span on which the gate writes its verdict; content is never written.

    Args:
        attempt: The attempt the call belongs to.
        tool: Tool name.

    Yields:
        The current span when it is a recording tool span, else a new ``execute_tool`` span.
    """
    current = trace.get_current_span()
    if current.is_recording() and _is_tool_span(current, attempt):
        yield current
        return
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    with _tracer.start_as_current_span(f"execute_tool {tool}", attributes=attributes) as span:
        yield span


def _is_tool_span(span: Span, attempt: Attempt) -> bool:
    if span.get_span_context().span_id in attempt.open_tool_spans:
        return True
    attributes = getattr(span, "attributes", None) or {}
    return any(attributes.get(key) == value for key, value in _TOOL_MARKS)


def write_verdict(span: Span, effect: DeliverResult) -> None:
    """Write a verdict (DESIGN section 4)."""
    if not span.is_recording():
        return
    span.set_attribute("docsfab.turn", effect.turn)
    span.set_attribute("docsfab.read.verdict", effect.verdict.value)
    if effect.repeats is not None and effect.cross_result is not None and effect.first_turn is not None:
        span.set_attribute("docsfab.read.repeats", effect.repeats)
        span.set_attribute("docsfab.read.cross_result", effect.cross_result)
        span.set_attribute("docsfab.read.first_turn", effect.first_turn)


def write_denial(span: Span, admission: Admission) -> None:
    """Write that the call did not run."""
    if admission.denied is not None and span.is_recording():
        span.set_attribute("docsfab.turn", admission.denied.turn)
        span.set_attribute("docsfab.read.verdict", Verdict.DENIED.value)
