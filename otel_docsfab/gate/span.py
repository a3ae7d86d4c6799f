"""The gate's span: the runtime's own tool span where there is one, else one of ours."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from opentelemetry import context, trace
from opentelemetry.trace import INVALID_SPAN, StatusCode

from otel_docsfab.catalogue.attributes import UNJUDGED
from otel_docsfab.core import DeliverResult, Verdict
from otel_docsfab.supervisor import Site, current_attempt

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from otel_docsfab.supervisor import Admission, Attempt

_tracer = trace.get_tracer("otel_docsfab")
_TOOL_MARKS = (
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "TOOL"),
    ("traceloop.span.kind", "tool"),
)
_NAME_KEYS = ("gen_ai.tool.name", "tool.name", "traceloop.entity.name")


class ToolSpan:
    """The span on which the gate writes its verdict; content is never written, an exception's message included.

    A context manager. Yields the current span when it is the recording span of this tool, else a new ``execute_tool``
    span, or one that records nothing when the supervisor wants no spans of its own. The attempt is the current one
    while the tool runs, so that spans below belong to it in any thread.
    """

    __slots__ = ("_attempt", "_context", "_own", "_tool", "_was_current")

    def __init__(self, attempt: Attempt, tool: str) -> None:
        """Prepare for one call.

        Args:
            attempt: The attempt the call belongs to.
            tool: Tool name.
        """
        self._attempt = attempt
        self._tool = tool
        self._own: Span | None = None

    def __enter__(self) -> Span:
        """Find or open the span."""
        attempt = self._attempt
        self._was_current = current_attempt.set(attempt)
        current = trace.get_current_span()
        if current.is_recording() and _is_span_of(current, self._tool, attempt):
            return current
        if not attempt.supervisor.own_spans:
            return INVALID_SPAN
        try:
            self._own = _start(attempt, self._tool)
        except BaseException:
            current_attempt.reset(self._was_current)
            raise
        if self._own is None:
            return INVALID_SPAN
        self._context = context.attach(trace.set_span_in_context(self._own))
        return self._own

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """End the span if it is ours."""
        span = self._own
        if span is not None:
            context.detach(self._context)
            if kind is not None:
                span.set_attribute("error.type", kind.__qualname__)
                span.set_status(StatusCode.ERROR)
            _end(self._attempt, span)
        current_attempt.reset(self._was_current)


def _start(attempt: Attempt, tool: str) -> Span | None:
    """A new tool span, or None. A span processor of the host may raise here; the tool runs without a span then."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    try:
        return _tracer.start_span(f"execute_tool {tool}", attributes=attributes)
    except Exception as error:  # noqa: BLE001 - as said; AttemptStopped is no Exception and goes through
        attempt.supervisor.faults.count(Site.GATE, error, "A span processor raised.")
        return None


def _end(attempt: Attempt, span: Span) -> None:
    """End a span of ours. A span processor of the host may raise here, which must not cost it the tool's result."""
    try:
        span.end()
    except Exception as error:  # noqa: BLE001 - as said
        attempt.supervisor.faults.count(Site.GATE, error, "A span processor raised.")


def _is_span_of(span: Span, tool: str, attempt: Attempt) -> bool:
    """Whether a span is this tool's: a tool span that names it or names none, not that of a tool around it."""
    attributes = getattr(span, "attributes", None) or {}
    if any(attributes.get(key) not in (None, tool) for key in _NAME_KEYS):
        return False
    if span.get_span_context().span_id in attempt.open_tool_spans:
        return True
    return any(attributes.get(key) == value for key, value in _TOOL_MARKS)


def write_verdict(span: Span, effect: DeliverResult) -> None:
    """Write a verdict (DESIGN section 4)."""
    if not span.is_recording():
        return
    span.set_attribute("docsfab.turn", effect.turn)
    span.set_attribute("docsfab.read.verdict", UNJUDGED if effect.unjudged else effect.verdict.value)
    if effect.repeats is not None and effect.cross_result is not None and effect.first_turn is not None:
        span.set_attribute("docsfab.read.repeats", effect.repeats)
        span.set_attribute("docsfab.read.cross_result", effect.cross_result)
        span.set_attribute("docsfab.read.first_turn", effect.first_turn)


def write_denial(span: Span, admission: Admission) -> None:
    """Write that the call did not run."""
    if admission.denied is not None and span.is_recording():
        span.set_attribute("docsfab.turn", admission.denied.turn)
        span.set_attribute("docsfab.read.verdict", Verdict.DENIED.value)


tool_span = ToolSpan
"""The same, by the name that the hooks use."""
