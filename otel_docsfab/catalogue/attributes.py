"""Attributes of metrics (labels) and of spans, each with the values it may have.

A label is *closed* (its values are listed) or *open* (names of tools, steps, agents, models: at most ``cap`` of them,
any more become ``other``). No label ever holds an id, a path, an argument or a prompt (R27).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from otel_docsfab.catalogue.words import NONE, UNKNOWN, ErrorSite, Eviction, LeaseResult, SpanResult
from otel_docsfab.core.codes import (
    RETRIED,
    AnswerPath,
    Code,
    DeadlineTurn,
    Denial,
    Outcome,
    Progress,
    RetryOf,
    StepKind,
    Trigger,
    Unjudged,
    Verdict,
)

MAX_LABEL_LENGTH: Final = 120
"""Longest value of an open label, characters; a longer name is ``other``."""


@dataclass(frozen=True, slots=True)
class Label:
    """One attribute of a metric.

    Attributes:
        name: Attribute name, the same in OpenTelemetry and Prometheus.
        description: What it says.
        values: Every value of a closed label; empty for an open one.
        cap: Most names of an open label, ``other`` not counted; 0 for a closed one.
    """

    name: str
    description: str
    values: tuple[str, ...] = ()
    cap: int = 0

    @property
    def open(self) -> bool:
        """Whether its values are names that the host chooses."""
        return not self.values

    @property
    def size(self) -> int:
        """Most values it can have, ``other`` included."""
        return len(self.values) or self.cap + 1


def _closed(name: str, description: str, values: Iterable[str]) -> Label:
    return Label(name, description, tuple(str(value) for value in values))


FINAL_OUTCOMES: Final = tuple(outcome for outcome in Outcome if outcome is not Outcome.OPEN)
DEADLINE_CODES: Final = (Code.DEADLINE_IN_TOOL_LOOP, Code.DEADLINE_AWAITING_PROVIDER, Code.TIMEOUT)
READ_VERDICTS: Final = (Verdict.DELIVER, Verdict.DELIVER_WITH_NOTICE, Verdict.NOTICE_ONLY)
UNJUDGED: Final = "unjudged"
"""The verdict label of a read that could not be judged (R29)."""

TOOL: Final = Label("tool", "Name of the read-class tool", cap=64)
STEP: Final = Label("step", f"Step id; `{UNKNOWN}` when the runtime names none", cap=32)
AGENT: Final = Label("agent", f"Agent name; `{UNKNOWN}` when the runtime names none", cap=32)
MODEL: Final = Label("model", f"Model name; `{UNKNOWN}` when the runtime names none", cap=16)

ENFORCED: Final = _closed("enforced", "Whether the verdict took effect (R30)", ("true", "false"))
VERDICT: Final = _closed(
    "verdict",
    "What became of the result; `notice-only` is withheld, `unjudged` is delivered and not counted",
    (*READ_VERDICTS, UNJUDGED),
)
UNJUDGED_REASON: Final = _closed("reason", "Why the read could not be judged (R29)", Unjudged)
STOP_CODE: Final = _closed("code", "Code of the stop (R15, R17)", RETRIED)
TRIGGER: Final = _closed("trigger", "What raised the ask for the answer (R18, R20, R21)", Trigger)
DENIAL: Final = _closed(
    "trigger", "Why the call was denied (R17, R19, R22)", (d for d in Denial if d != Denial.STOPPED)
)
OUTCOME: Final = _closed("outcome", "How the attempt ended", FINAL_OUTCOMES)
CODE: Final = _closed("code", f"Why the attempt failed; `{NONE}` when it did not", (NONE, *Code))
POSITION: Final = _closed("position", "Where the timer found the attempt (R23)", DeadlineTurn)
DEADLINE_CODE: Final = _closed("code", "Code of the deadline (R23)", DEADLINE_CODES)
RETRY_REASON: Final = _closed("reason", "Why the attempt was a retry (R17)", RetryOf)
LEASE_RESULT: Final = _closed("result", "What became of the renewal (R28)", LeaseResult)
PROGRESS_KIND: Final = _closed("kind", "What the progress was (R28)", Progress)
SPAN_RESULT: Final = _closed("result", "What was made of the span", SpanResult)
ERROR_SITE: Final = _closed("site", "Where the error was caught", ErrorSite)
EVICTION_REASON: Final = _closed("reason", "Why the attempt was given up", Eviction)


def _pairs(table: Mapping[str, Iterable[str]]) -> frozenset[tuple[str, str]]:
    return frozenset((str(first), str(second)) for first, seconds in table.items() for second in seconds)


PAIRS: Final = {
    ("outcome", "code"): _pairs(
        {
            Outcome.ANSWERED: [NONE],
            Outcome.REJECTED: [Code.ANSWER_REJECTED],
            Outcome.FAILED: [code for code in Code if code is not Code.ANSWER_REJECTED],
            Outcome.CANCELLED: [NONE],
            Outcome.ABANDONED: [NONE],
        }
    ),
    ("position", "code"): _pairs(
        {
            DeadlineTurn.AWAITING_FIRST_BYTE: [Code.DEADLINE_AWAITING_PROVIDER],
            DeadlineTurn.STREAMING_ANSWER: [Code.TIMEOUT],
            DeadlineTurn.STREAMING_TOOL_CALL: [Code.TIMEOUT, Code.DEADLINE_IN_TOOL_LOOP],
            DeadlineTurn.STREAMING: [Code.TIMEOUT, Code.DEADLINE_IN_TOOL_LOOP],
            DeadlineTurn.BETWEEN_REQUESTS: [Code.TIMEOUT, Code.DEADLINE_IN_TOOL_LOOP],
        }
    ),
}
"""Labels whose values go together in some ways only: a code says how an attempt ended, and where it was (R23)."""


class Placed(StrEnum):
    """Where a span attribute stands."""

    ATTEMPT = "attempt span"
    TOOL = "tool span"
    EVENT = "span event"


class Direction(StrEnum):
    """Who sets a span attribute."""

    INPUT = "set by the host, optional"
    OUTPUT = "set by this package"
    BOTH = "read when the host set it, else set by this package"


@dataclass(frozen=True, slots=True)
class SpanAttribute:
    """One attribute of a span.

    Attributes:
        name: Attribute name.
        kind: OpenTelemetry attribute type.
        placed: On which span.
        direction: Who sets it.
        description: What it says.
        values: Every value of a closed set; empty when open.
    """

    name: str
    kind: str
    placed: Placed
    direction: Direction
    description: str
    values: tuple[str, ...] = ()


def _on(placed: Placed, direction: Direction, *rows: tuple[str, str, str, Iterable[str]]) -> tuple[SpanAttribute, ...]:
    return tuple(
        SpanAttribute(name, kind, placed, direction, description, tuple(str(value) for value in values))
        for name, kind, description, values in rows
    )


SPAN_ATTRIBUTES: Final[tuple[SpanAttribute, ...]] = (
    *_on(
        Placed.ATTEMPT,
        Direction.INPUT,
        ("docsfab.run.id", "string", "Run that the attempt belongs to", ()),
        ("docsfab.step.id", "string", "Workflow step, such as `review-documentation`", ()),
        (
            "docsfab.step.kind",
            "string",
            "Whether the step only reads; an undeclared one is never asked (R20)",
            StepKind,
        ),
        ("docsfab.step.judgment", "boolean", "Whether the step also has a reading share (R21)", ()),
        ("docsfab.attempt.number", "int", "Number of the attempt, from 1", ()),
        ("docsfab.attempt.retry_of", "string", "Why it is a retry (R17)", RetryOf),
        ("docsfab.attempt.timeout_ms", "int", "Length of the attempt, ms (R20)", ()),
        ("docsfab.answer.path", "string", "How the answer is handed in (R22)", AnswerPath),
    ),
    *_on(
        Placed.ATTEMPT,
        Direction.OUTPUT,
        ("docsfab.stop.code", "string", "Why the attempt was stopped", Code),
        ("docsfab.conclude_now.trigger", "string", "What raised the ask for the answer", Trigger),
        ("docsfab.deadline_turn", "string", "Where the timer found the attempt (R23)", DeadlineTurn),
        ("docsfab.outcome", "string", "How the attempt ended", Outcome),
        ("docsfab.enforced", "boolean", "Whether verdicts took effect (R30)", ()),
    ),
    *_on(
        Placed.TOOL,
        Direction.BOTH,
        ("docsfab.turn", "int", "Turn of the call, from 1", ()),
        ("docsfab.result.digest", "string", "Digest of the result before any notice: `sha256:` or `hmac-sha256:`", ()),
        ("docsfab.arguments.digest", "string", "Digest of the canonical arguments: `sha256:` or `hmac-sha256:`", ()),
    ),
    *_on(
        Placed.TOOL,
        Direction.OUTPUT,
        ("docsfab.read.verdict", "string", "What became of the result", (*Verdict, UNJUDGED)),
        ("docsfab.read.repeats", "int", "Repeat count of the result (R3)", ()),
        ("docsfab.read.cross_result", "int", "Cross-result count of the attempt (R3)", ()),
        ("docsfab.read.first_turn", "int", "Turn that first delivered the content (R6)", ()),
    ),
    *_on(
        Placed.EVENT,
        Direction.INPUT,
        ("docsfab.evicted.call_ids", "string[]", "On `docsfab.compaction`: the calls that left the context (R12a)", ()),
        ("kind", "string", "On `docsfab.output_started`: what is streaming (R23)", ("answer", "tool-call", "other")),
    ),
)
"""Every span attribute that this package reads or sets, in the order of the reference page."""
