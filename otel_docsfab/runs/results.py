"""The result of a run, from the records of its attempts (R25), ready for JSON; its model is ``RunResult``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

Document = Mapping[str, Any]
"""A record or result with camelCase keys; absent facts have no key."""

ASKED_EARLY: Final = "answer-asked-early"
_ANSWERED: Final = "answered"
_ABANDONED: Final = "abandoned"
_ENDING: Final = ("outcome", "code", "category")


def run_result(attempts: Iterable[Document]) -> dict[str, Any]:
    """Put a run together.

    Args:
        attempts: The records of all its attempts; at least one.

    Returns:
        Steps in the order in which they began. A step ends as its last attempt did; the run as the newest of its steps
        without an answer, and ``answered`` when every step was.
    """
    ordered = sorted(attempts, key=lambda one: (one["startedUnixMs"], one["attempt"]))
    steps = by_steps(ordered)
    began = ordered[0]["startedUnixMs"]
    last = min(map(last_of, steps), key=lambda one: (one["outcome"] == _ANSWERED, -ended_ms(one)))
    return {
        "schemaVersion": 1,
        "kind": "docsfab-run-result",
        "runId": ordered[0]["runId"],
        "startedUnixMs": began,
        "durationMs": max(map(ended_ms, ordered)) - began,
        "enforced": any(one["enforced"] for one in ordered),
        **_kept(last, *_ENDING),
        "steps": [_step_end(tries) for tries in steps],
        "answersAskedEarly": [_asked_early(one) for one in ordered if "concludeNow" in one],
        "limitations": [limitation for one in ordered for limitation in limitations_of(one)],
        "attempts": ordered,
    }


def by_steps(ordered: Sequence[Document]) -> list[list[Document]]:
    """Attempts by step, steps in the order in which they began."""
    first = {one.get("stepId"): place for place, one in reversed(list(enumerate(ordered)))}
    by_first = sorted(ordered, key=lambda one: first[one.get("stepId")])
    return [list(tries) for _, tries in groupby(by_first, key=lambda one: one.get("stepId"))]


def last_of(tries: Sequence[Document]) -> Document:
    """The attempt that a step ends with."""
    return max(tries, key=lambda one: (one["attempt"], ended_ms(one)))


def ended_ms(attempt: Document) -> int:
    """When an attempt ended, ms since the epoch."""
    return int(attempt["startedUnixMs"] + attempt["durationMs"])


def limitations_of(attempt: Document) -> list[dict[str, Any]]:
    """What makes an attempt's result less than it seems, the ask first."""
    found = []
    asked, outcome = attempt.get("concludeNow"), attempt["outcome"]
    if asked:
        what = "its answer came from partial reading"
        if outcome != _ANSWERED:
            what = f"what it read was partial, and it ended {outcome}"
        found.append((ASKED_EARLY, f"asked for its answer ({asked['trigger']}) after turn {asked['turn']}; {what}"))
    unjudged = attempt["tools"].get("unjudged")
    if unjudged:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(unjudged.items()))
        found.append(("reads-unjudged", f"reads that could not be judged: {reasons}"))
    if outcome == _ABANDONED:
        found.append(("never-closed", "nobody said how it ended"))
    place = _kept(attempt, "stepId", "attempt")
    return [{"limitation": name, **place, "detail": detail} for name, detail in found]


def _step_end(tries: Sequence[Document]) -> dict[str, Any]:
    last = last_of(tries)
    counts = {"attempts": len(tries), "retries": sum("retryOf" in one for one in tries)}
    return {**_kept(last, "stepId", "stepKind"), **counts, **_kept(last, *_ENDING)}


def _asked_early(attempt: Document) -> dict[str, Any]:
    asked = attempt["concludeNow"]
    place = _kept(attempt, "stepId", "attempt")
    return {**place, "trigger": asked["trigger"], "turn": asked["turn"], "outcome": attempt["outcome"]}


def _kept(document: Document, *keys: str) -> dict[str, Any]:
    return {key: document[key] for key in keys if key in document}
