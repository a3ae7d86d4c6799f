"""Closed lists of words that only telemetry uses; the words of the rules are ``otel_docsfab.core.codes``."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

OTHER: Final = "other"
"""What the name of a tool, step, agent or model becomes past its cap."""
UNKNOWN: Final = "unknown"
"""What stands for a step, agent or model that the runtime does not name."""
NONE: Final = "none"
"""What stands for the code of an attempt that has none; an empty label would be no label to Prometheus."""


class LeaseResult(StrEnum):
    """What became of a lease renewal (R28)."""

    RENEWED = "renewed"
    REFUSED = "refused"  # no progress since the last renewal
    LOST = "lost"  # another owner holds it
    ERROR = "error"  # the store could not be asked


class SpanResult(StrEnum):
    """What the supervisor made of a span that ended."""

    JUDGED = "judged"
    IGNORED = "ignored"  # no tool call, or judged by the gate
    FOLDED = "folded"  # a second span of a call that was already seen
    UNJUDGED = "unjudged"  # a read whose result or arguments are unknown (R29)


class Eviction(StrEnum):
    """Why the supervisor gave an attempt up without its end."""

    IDLE = "idle"
    CAP = "cap"
    FORK = "fork"


class ErrorSite(StrEnum):
    """Where a fault of our own, or of the host's callback, was caught; none of them reaches the host."""

    CALLBACK = "callback"
    SINK = "sink"
    GATE = "gate"
    PROCESSOR = "processor"
    HOOK = "hook"
    DIALECT = "dialect"
    SCHEDULER = "scheduler"
    RECORDS = "records"
    LEASE = "lease"
    ATTEMPT = "attempt"
