"""What a host says of its model requests, put on its spans, so that a replay of them finds the same positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import trace

if TYPE_CHECKING:
    from otel_docsfab.supervisor.attempt import Attempt


def mark_request(attempt: Attempt, event: str, **attributes: Any) -> None:
    """Write ``docsfab.<event>`` on the current span, or on the attempt's agent span, whichever is recording."""
    span = trace.get_current_span()
    if not span.is_recording():
        span = attempt.agent_span
    if span is not None and span.is_recording():
        span.add_event(f"docsfab.{event}", attributes)
