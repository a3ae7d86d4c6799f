"""The span processor: watches any runtime that emits tool spans, and never hurts it."""

from __future__ import annotations

import logging
import os
import weakref
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from otel_docsfab.errors import AttemptStopped
from otel_docsfab.spans.live import LiveSpan
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.tracker import Tracker
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
