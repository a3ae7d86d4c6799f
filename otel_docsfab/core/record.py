"""The record of an attempt: ids, codes and counts only (R24, R25, R27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_docsfab.core.codes import (
    FINDINGS,
    Category,
    Code,
    DeadlineTurn,
    Outcome,
    RetryOf,
    StepKind,
    Trigger,
)
from otel_docsfab.core.effects import StopAttempt


@dataclass(frozen=True, slots=True)
class ReadEvidence:
    """Counts of an attempt that re-read unchanged content (R24).

    Attributes:
        unchanged_re_reads: Unchanged re-reads counted, in total.
        read_loop_withheld: Notice-only reads in total, R19's denials included.
        max_repeats_of_one_result: Largest repeat count.
        max_unchanged_re_reads_across_results: Largest cross-result count.
    """

    unchanged_re_reads: int
    read_loop_withheld: int
    max_repeats_of_one_result: int
    max_unchanged_re_reads_across_results: int


@dataclass(frozen=True, slots=True)
class Stall:
    """How long an attempt went without progress (R24, beyond the source).

    Attributes:
        longest_stretch_calls: Most calls between two progresses of R28.
        longest_stretch_turns: Most turns between two progresses of R28.
        max_repeated_failed_reads: Repeats of the most repeated failed read (tool and arguments).
        max_repeated_progress_calls: Repeats of the most repeated progress-class call.
    """

    longest_stretch_calls: int = 0
    longest_stretch_turns: int = 0
    max_repeated_failed_reads: int = 0
    max_repeated_progress_calls: int = 0


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an attempt was ended.

    Attributes:
        code: The code.
        message: Its sentence up to ``count.``, without tool or path (R27).
        observed: The count (or ms) that crossed the limit.
        limit: The limit's value.
        limit_name: The limit's dotted name.
        turn: The turn after which it ended.
        retry_granted: Whether the step got another attempt for it.
    """

    code: Code
    message: str
    observed: int
    limit: int
    limit_name: str
    turn: int
    retry_granted: bool

    @classmethod
    def of(cls, stop: StopAttempt, *, failed: bool) -> Stop:
        """The recorded form of a stop: no tool, no path; an answered attempt gets no retry (R16, R27)."""
        return cls(
            stop.code,
            stop.message,
            stop.observed,
            stop.limit,
            stop.limit_name,
            stop.turn,
            stop.retry_granted and failed,
        )

    @property
    def category(self) -> Category:
        """Failure category of the code."""
        return FINDINGS[self.code].category


@dataclass(frozen=True, slots=True)
class ConcludeNow:
    """That the answer was asked for, and after which turn (R18, R25)."""

    trigger: Trigger
    turn: int


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """What is known of one attempt.

    Attributes:
        step_id: Step id; None when the runtime names none.
        step_kind: Read-only or write; None when nobody declared it.
        attempt: Number of the attempt, from 1.
        retry_of: Why it is a retry of R17.
        outcome: How it ended; ``open`` while it runs.
        code: Why it failed; None unless the outcome is ``failed`` or ``rejected``.
        stop: The stop that was raised, kept even when an answer followed (R16).
        conclude_now: The ask for the answer.
        deadline_turn: Where the timer found it.
        turns: Turns begun.
        calls: Tool calls that ran.
        denied: Denied calls by reason.
        calls_after_stop: Calls after the stop, in no other count (R16).
        verdicts: Judged reads by verdict.
        unjudged: Reads that could not be judged, by reason (R29).
        progress: Progress by kind (R28).
        read_evidence: R24's counts; None when nothing unchanged was re-read.
        stall: R24's stretches.
        duration_ms: Ms from the beginning to the newest event.
        run_id: The run it belongs to; set by the supervisor, as are the fields below.
        agent_name: Name of the agent.
        model: Name of the model.
        trace_id: Trace of the attempt, 32 hex digits.
        span_id: Span of the attempt, 16 hex digits.
        enforced: Whether verdicts took effect (R30).
        started_unix_ms: When it began, ms since the epoch.
    """

    step_id: str | None
    step_kind: StepKind | None
    attempt: int
    retry_of: RetryOf | None
    outcome: Outcome
    code: Code | None
    stop: Stop | None
    conclude_now: ConcludeNow | None
    deadline_turn: DeadlineTurn | None
    turns: int
    calls: int
    denied: Mapping[str, int]
    calls_after_stop: int
    verdicts: Mapping[str, int]
    unjudged: Mapping[str, int]
    progress: Mapping[str, int]
    read_evidence: ReadEvidence | None
    stall: Stall
    duration_ms: int
    run_id: str | None = None
    agent_name: str | None = None
    model: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    enforced: bool = False
    started_unix_ms: int | None = None

    @property
    def category(self) -> Category | None:
        """Failure category of the code."""
        return FINDINGS[self.code].category if self.code else None

    def as_dict(self) -> dict[str, object]:
        """The record with the source's camelCase keys, ready for JSON; absent facts are left out."""
        evidence = self.read_evidence
        tools: dict[str, object] = {
            "calls": self.calls,
            "denied": dict(self.denied),
            "callsAfterStop": self.calls_after_stop,
            "verdicts": dict(self.verdicts),
            "unjudged": dict(self.unjudged),
            "progress": dict(self.progress),
            "stall": {
                "longestStretchCalls": self.stall.longest_stretch_calls,
                "longestStretchTurns": self.stall.longest_stretch_turns,
                "maxRepeatedFailedReads": self.stall.max_repeated_failed_reads,
                "maxRepeatedProgressCalls": self.stall.max_repeated_progress_calls,
            },
        }
        if evidence:
            tools["readEvidence"] = {
                "unchangedReReads": evidence.unchanged_re_reads,
                "readLoopWithheld": evidence.read_loop_withheld,
                "maxRepeatsOfOneResult": evidence.max_repeats_of_one_result,
                "maxUnchangedReReadsAcrossResults": evidence.max_unchanged_re_reads_across_results,
            }
        facts: dict[str, object] = {
            "runId": self.run_id,
            "stepId": self.step_id,
            "stepKind": self.step_kind,
            "attempt": self.attempt,
            "retryOf": self.retry_of,
            "agentName": self.agent_name,
            "model": self.model,
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "enforced": self.enforced,
            "startedUnixMs": self.started_unix_ms,
            "durationMs": self.duration_ms,
            "turns": self.turns,
            "outcome": self.outcome,
            "code": self.code,
            "category": self.category,
            "stop": self.stop
            and {
                "code": self.stop.code,
                "category": self.stop.category,
                "message": self.stop.message,
                "observed": self.stop.observed,
                "limit": self.stop.limit,
                "limitName": self.stop.limit_name,
                "turn": self.stop.turn,
                "retryGranted": self.stop.retry_granted,
            },
            "concludeNow": self.conclude_now and {"trigger": self.conclude_now.trigger, "turn": self.conclude_now.turn},
            "deadlineTurn": self.deadline_turn,
        }
        return {key: value for key, value in facts.items() if value is not None} | {"tools": tools}
