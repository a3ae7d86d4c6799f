"""The result of a run, from the records of its attempts (R25)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from otel_docsfab.core.codes import Outcome
from otel_docsfab.runs.models import AskedEarly, Attempt, Limitation, RunResult, StepEnd

ASKED_EARLY = "answer-asked-early"


def run_result(attempts: Iterable[Attempt]) -> RunResult:
    """Put a run together.

    Args:
        attempts: The records of all its attempts; at least one.

    Returns:
        Steps in the order in which they began. A step ends as its last attempt did; the run as the newest of its steps
        without an answer, and ``answered`` when every step was.
    """
    ordered = sorted(attempts, key=lambda one: (one.started_unix_ms, one.attempt))
    by_step = by_steps(ordered)
    began = ordered[0].started_unix_ms
    ends = [last_of(tries) for tries in by_step]
    last = min(ends, key=lambda one: (one.outcome is Outcome.ANSWERED, -ended_ms(one)))
    return RunResult(
        schema_version=1,
        kind="docsfab-run-result",
        run_id=ordered[0].run_id,
        started_unix_ms=began,
        duration_ms=max(map(ended_ms, ordered)) - began,
        enforced=any(one.enforced for one in ordered),
        outcome=last.outcome,
        code=last.code,
        category=last.category,
        steps=tuple(map(_step_end, by_step)),
        answers_asked_early=tuple(
            AskedEarly(
                step_id=one.step_id,
                attempt=one.attempt,
                trigger=one.conclude_now.trigger,
                turn=one.conclude_now.turn,
                outcome=one.outcome,
            )
            for one in ordered
            if one.conclude_now
        ),
        limitations=tuple(limitation for one in ordered for limitation in limitations_of(one)),
        attempts=tuple(ordered),
    )


def by_steps(ordered: Sequence[Attempt]) -> list[list[Attempt]]:
    """Attempts by step, steps in the order in which they began."""
    first = {one.step_id: place for place, one in reversed(list(enumerate(ordered)))}
    by_first = sorted(ordered, key=lambda one: first[one.step_id])
    return [list(tries) for _, tries in groupby(by_first, key=lambda one: one.step_id)]


def last_of(tries: Sequence[Attempt]) -> Attempt:
    """The attempt that a step ends with."""
    return max(tries, key=lambda one: (one.attempt, ended_ms(one)))


def ended_ms(attempt: Attempt) -> int:
    """When an attempt ended, ms since the epoch."""
    return attempt.started_unix_ms + attempt.duration_ms


def _step_end(tries: Sequence[Attempt]) -> StepEnd:
    last = last_of(tries)
    return StepEnd(
        step_id=last.step_id,
        step_kind=last.step_kind,
        attempts=len(tries),
        retries=sum(one.retry_of is not None for one in tries),
        outcome=last.outcome,
        code=last.code,
        category=last.category,
    )


def limitations_of(attempt: Attempt) -> list[Limitation]:
    """What makes an attempt's result less than it seems, the ask first."""

    def one(limitation: str, detail: str) -> Limitation:
        return Limitation.model_validate(
            {"limitation": limitation, "stepId": attempt.step_id, "attempt": attempt.attempt, "detail": detail}
        )

    found = []
    asked = attempt.conclude_now
    if asked:
        what = "its answer came from partial reading"
        if attempt.outcome is not Outcome.ANSWERED:
            what = f"what it read was partial, and it ended {attempt.outcome}"
        found.append(one(ASKED_EARLY, f"asked for its answer ({asked.trigger}) after turn {asked.turn}; {what}"))
    unjudged = sum(attempt.tools.unjudged.values())
    if unjudged:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(attempt.tools.unjudged.items()))
        found.append(one("reads-unjudged", f"reads that could not be judged: {reasons}"))
    if attempt.outcome is Outcome.ABANDONED:
        found.append(one("never-closed", "nobody said how it ended"))
    return found
