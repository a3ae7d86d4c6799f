"""The span processor: watches any runtime that emits tool spans, and never hurts it."""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import StatusCode, format_span_id, format_trace_id

from otel_docsfab.errors import AttemptStopped
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.tracker import Tracker
from otel_docsfab.spans.view import EventView
from otel_docsfab.supervisor import Site, Supervisor

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from otel_docsfab.spans.nodes import Node

_log = logging.getLogger("otel_docsfab")

INTERRUPTIBLE_SCOPES: Final = frozenset(
    {
        "pydantic-ai",
        "opentelemetry.instrumentation.genai.openai_agents",
        "openinference.instrumentation.openai_agents",
        "opentelemetry.instrumentation.genai.langchain",
        "openinference.instrumentation.langchain",
        "gcp.vertex.agent",
        "openinference.instrumentation.google_adk",
    }
)
"""Scopes of the runtimes whose run ends when a tool span's start raises; others may swallow it."""
GATE_SCOPE: Final = "otel_docsfab"
"""Scope of the gate's own spans: it denies by itself."""


class LiveSpan:
    """A live SDK span as dialects see it."""

    __slots__ = ("_span",)

    def __init__(self, span: ReadableSpan) -> None:
        """Look at this span."""
        self._span = span

    @property
    def name(self) -> str:
        """Span name."""
        return self._span.name

    @property
    def scope(self) -> str:
        """Instrumentation scope name."""
        scope = self._span.instrumentation_scope
        return scope.name if scope is not None else ""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Attributes so far."""
        return self._span.attributes or {}

    @property
    def events(self) -> Sequence[EventView]:
        """Events so far."""
        return [EventView(event.name, event.attributes or {}, event.timestamp) for event in self._span.events]

    @property
    def error(self) -> bool:
        """Whether the status is ERROR."""
        return self._span.status.status_code is StatusCode.ERROR

    @property
    def status_description(self) -> str:
        """Text of the status."""
        return self._span.status.description or ""

    @property
    def explicit_ok(self) -> bool:
        """Whether the status is OK, set on purpose."""
        return self._span.status.status_code is StatusCode.OK

    @property
    def is_root(self) -> bool:
        """Whether it has no parent in this process."""
        parent = self._span.parent
        return parent is None or parent.is_remote

    @property
    def value_length_limit(self) -> int | None:
        """Length at which the SDK cuts attribute values; a value that long is unknown.

        Only the SDK's own mapping knows it: an ended span no longer holds its limits.
        """
        limit = getattr(getattr(self._span, "_attributes", None), "max_value_len", None)
        return limit if isinstance(limit, int) else None


class ReadLoopSpanProcessor(SpanProcessor):
    """Judges the tool spans that a runtime emits.

    It observes: nothing is changed in the runtime, decisions are told. Tools behind a gate are left to the gate, all
    others of the same attempt are fed into the same machine.

    Args:
        supervisor: Judges the calls.
        interrupt: After a stop, let the next tool span's start raise ``AttemptStopped``, so that the tool does not run.
            Only where that was tested to end the run; elsewhere it warns once and does nothing.
        strict: Report an untested runtime as an error in the log instead of a warning.

    Source: DESIGN sections 1, 3 and 4.
    """

    def __init__(self, supervisor: Supervisor, *, interrupt: bool = False, strict: bool = False) -> None:
        """Watch nothing yet."""
        self.supervisor = supervisor
        self.interrupt = interrupt
        self.strict = strict
        self.tracker = Tracker(supervisor)
        self._warned: set[str] = set()
        _PROCESSORS.add(self)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:  # noqa: ARG002 - the SDK's signature
        """A span started; raises nothing but ``AttemptStopped``."""
        try:
            context = span.context
            parent = span.parent
            node = self.tracker.started(
                context.span_id,
                parent.span_id if parent is not None else None,
                LiveSpan(span),
                span=span,
                ids=(format_trace_id(context.trace_id), format_span_id(context.span_id)),
            )
            stopped = self._stopped(node, span) if self.interrupt and node.role is Role.TOOL else None
            if stopped is not None:
                self.tracker.forget(context.span_id)  # it will not end
        except Exception as error:  # noqa: BLE001 - telemetry must never hurt the host
            self.supervisor.faults.count(Site.PROCESSOR, error)
            return
        if stopped is not None:
            raise stopped

    def on_end(self, span: ReadableSpan) -> None:
        """A span ended; raises nothing."""
        try:
            if span.context is not None:
                self.tracker.ended(span.context.span_id, LiveSpan(span))
        except Exception as error:  # noqa: BLE001 - telemetry must never hurt the host
            self.supervisor.faults.count(Site.PROCESSOR, error)

    def _stopped(self, node: Node, span: Span) -> AttemptStopped | None:
        """The interruption of a tool that starts after the stop."""
        owner = node.owner
        stop = owner.attempt.machine.stop if owner is not None and owner.attempt is not None else None
        scope = span.instrumentation_scope.name if span.instrumentation_scope is not None else ""
        if stop is None or node.into is not None or scope == GATE_SCOPE:
            return None
        if scope in INTERRUPTIBLE_SCOPES:
            return AttemptStopped(stop.code, stop.message)
        if scope not in self._warned and len(self._warned) < 100:  # noqa: PLR2004 - a bound, no more
            self._warned.add(scope)
            level = logging.ERROR if self.strict else logging.WARNING
            _log.log(level, "otel-docsfab: interrupt was not tested with spans of %r and does nothing there", scope)
        return None

    def shutdown(self) -> None:
        """Give up the attempts that are still open."""
        self.supervisor.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Let the sinks write out."""
        return self.supervisor.flush(timeout_millis / 1000)


_PROCESSORS: weakref.WeakSet[ReadLoopSpanProcessor] = weakref.WeakSet()


def _after_fork() -> None:
    for processor in list(_PROCESSORS):
        processor.tracker.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
