"""What is written on an attempt's still open agent span, so that tail sampling can select on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_docsfab.supervisor.attempt import Attempt


def annotate_agent_span(attempt: Attempt) -> None:
    """Write stop, ask, deadline and outcome onto the agent span, if it is still recording (DESIGN section 4)."""
    span = attempt.agent_span
    if span is None or not span.is_recording():
        return
    machine = attempt.machine
    span.set_attribute("docsfab.enforced", attempt.enforced)
    span.set_attribute("docsfab.outcome", machine.outcome.value)
    if machine.asked is not None:
        span.set_attribute("docsfab.conclude_now.trigger", machine.asked.trigger.value)
    if machine.stop is not None:
        span.set_attribute("docsfab.stop.code", machine.stop.code.value)
        if machine.stop.deadline_turn is not None:
            span.set_attribute("docsfab.deadline_turn", machine.stop.deadline_turn.value)
