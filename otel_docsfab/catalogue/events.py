"""Log events of decisions: codes, counts and ids, never content (R27)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from otel_docsfab.catalogue.attributes import DEADLINE_CODES
from otel_docsfab.core.codes import RETRIED, DeadlineTurn, Trigger


class Severity(StrEnum):
    """OpenTelemetry severity text of an event."""

    INFO = "INFO"
    WARN = "WARN"


@dataclass(frozen=True, slots=True)
class EventAttribute:
    """One attribute of a log event.

    Attributes:
        name: Attribute name.
        kind: OpenTelemetry attribute type.
        description: What it says.
        required: False when the fact can be unknown; the attribute is then left out.
        values: Every value of a closed set; empty when open.
    """

    name: str
    kind: str
    description: str
    required: bool = True
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One log event; it is emitted in the attempt's context, so trace and span id come with it.

    Attributes:
        name: Event name.
        severity: Severity.
        description: When it is emitted.
        attributes: Its attributes.
    """

    name: str
    severity: Severity
    description: str
    attributes: tuple[EventAttribute, ...]


def _of(name: str, description: str, values: Iterable[str], *, required: bool = True) -> EventAttribute:
    return EventAttribute(name, "string", description, required, tuple(str(value) for value in values))


_WHO: Final = (
    EventAttribute("docsfab.run.id", "string", "Run that the attempt belongs to", required=False),
    EventAttribute("docsfab.step.id", "string", "Workflow step", required=False),
    EventAttribute("docsfab.attempt.number", "int", "Number of the attempt, from 1"),
    EventAttribute("gen_ai.agent.name", "string", "Agent name", required=False),
    EventAttribute("docsfab.turn", "int", "Turn after which it was decided"),
    EventAttribute("docsfab.enforced", "boolean", "Whether it took effect (R30)"),
)
_LIMIT: Final = (
    EventAttribute("docsfab.observed", "int", "The count, or ms, that crossed the limit"),
    EventAttribute("docsfab.limit.value", "int", "The limit's value"),
    EventAttribute("docsfab.limit.name", "string", "The limit's dotted name"),
)

READ_LOOP_STOP: Final = LogEvent(
    "docsfab.read_loop.stop",
    Severity.WARN,
    "An attempt was stopped for lack of progress: a read-loop bound or the tool-call ceiling",
    (
        _of("docsfab.stop.code", "Code of the stop (R15, R17)", RETRIED),
        *_WHO,
        *_LIMIT,
        EventAttribute("docsfab.retry_granted", "boolean", "Whether the step gets another attempt (R17)"),
    ),
)
ATTEMPT_DEADLINE: Final = LogEvent(
    "docsfab.attempt.deadline",
    Severity.WARN,
    "The attempt timer fired",
    (
        _of("docsfab.stop.code", "Code of the deadline (R23)", DEADLINE_CODES),
        _of("docsfab.deadline_turn", "Where the timer found the attempt (R23)", DeadlineTurn),
        *_WHO,
        *_LIMIT,
    ),
)
CONCLUDE_NOW: Final = LogEvent(
    "docsfab.conclude_now",
    Severity.INFO,
    "An attempt was asked for its answer",
    (_of("docsfab.conclude_now.trigger", "What raised the ask (R18, R20, R21)", Trigger), *_WHO),
)

LOG_EVENTS: Final = (READ_LOOP_STOP, CONCLUDE_NOW, ATTEMPT_DEADLINE)
"""Every log event."""
