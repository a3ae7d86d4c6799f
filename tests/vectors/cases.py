"""The conformance vectors, ready for any driver: machine, gate, span processor, replay.

A driver walks ``case.timeline()``, does what each event says at the time it says, tells an ``Observed`` what it saw,
and asserts ``compare(case, observed) == []``. What every driver has to do alike:

- All calls of a turn start at its ``Turn`` event, in order; each ends at its own ``Tool`` event.
- A turn that will answer streams its answer from its ``Turn`` event on (``Turn.answers``): no ask falls into it.
- ``Ask`` is nothing but time: limits and timer are set so that the ask's moment is the time of that event.
- The end of the events ends the last turn.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from otel_docsfab.core import (
    AnswerPath,
    AttemptRecord,
    DeliverResult,
    DenyCall,
    Effect,
    Limits,
    RetryOf,
    Step,
    StepKind,
    Trigger,
    Unjudged,
)

STEP_ID = "vector-step"
TICK_MS = 1_000
"""Event ``n`` of a case, from 0, is at ``(n + 1) * TICK_MS``."""
_FILE = Path(__file__).with_name("read-loop.jsonl")
_RESERVE_MS = 10_000_000


@dataclass(frozen=True)
class Tool:
    """A call of the current turn ends: ``position`` among the case's calls; None for what telemetry did not carry."""

    position: int
    tool: str
    arguments: Any
    result: str | None
    ok: bool


@dataclass(frozen=True)
class Turn:
    """A model turn begins; it ends the one before. ``calls`` start now."""

    calls: tuple[Tool, ...]
    answers: bool


@dataclass(frozen=True)
class Compaction:
    """A new epoch begins."""


@dataclass(frozen=True)
class Evicted:
    """The results of these calls (positions) left the context."""

    calls: tuple[int, ...]


@dataclass(frozen=True)
class Ask:
    """The ask time of this trigger passes."""

    trigger: Trigger


@dataclass(frozen=True)
class Answer:
    """The current turn is an answer."""


CaseEvent = Tool | Turn | Compaction | Evicted | Ask | Answer


@dataclass(frozen=True)
class AttemptSettings:
    """What to set an attempt up with.

    ``limits`` are dotted names over the defaults; ``timer_ms`` is None for an attempt without a timer, and otherwise
    longer than the case. Both are chosen so that the ask comes when the case says.
    """

    limits: Mapping[str, int]
    step: Step
    number: int
    retry_of: RetryOf | None
    timer_ms: int | None

    @property
    def core_limits(self) -> Limits:
        return Limits.of(self.limits)


@dataclass(frozen=True)
class Case:
    """One line of the file."""

    name: str
    rules: tuple[str, ...]
    about: str
    settings: AttemptSettings
    events: tuple[CaseEvent, ...]
    expect: Mapping[str, Any]

    @property
    def calls(self) -> tuple[Tool, ...]:
        return tuple(event for event in self.events if isinstance(event, Tool))

    @property
    def end_ms(self) -> int:
        """When the last turn ends."""
        return (len(self.events) + 1) * TICK_MS

    def timeline(self) -> Iterator[tuple[int, CaseEvent, int]]:
        """Index, event and its time in ms since the attempt began."""
        for index, event in enumerate(self.events):
            yield index, event, (index + 1) * TICK_MS


@dataclass
class Observed:
    """What a driver saw, in the words of ``expect``."""

    verdicts: dict[int, dict[str, Any]] = field(default_factory=dict)
    progress: dict[int, bool] = field(default_factory=dict)
    stop: dict[str, Any] | None = None
    conclude_now: dict[str, Any] | None = None
    read_evidence: Any = None
    outcome: str = "open"
    calls_after_stop: int = 0

    def denied(self, position: int) -> None:
        self.verdicts[position] = {"verdict": "denied"}
        self.progress[position] = False

    def judged(
        self,
        position: int,
        verdict: str,
        *,
        first_turn: int | None = None,
        repeats: int | None = None,
        cross_result: int | None = None,
        unjudged: Unjudged | None = None,
        progress: bool | None = None,
    ) -> None:
        """One call's verdict; ``progress`` stays None for a driver that cannot see it."""
        seen: dict[str, Any] = {"verdict": str(verdict)}
        if repeats is not None:
            seen |= {"firstTurn": first_turn, "repeats": repeats, "crossResult": cross_result}
        if unjudged is not None:
            seen["unjudged"] = True
        self.verdicts[position] = seen
        if progress is not None:
            self.progress[position] = progress

    def take(self, position: int, effect: Effect) -> None:
        """The core's effect on one call; effects of another kind are left out."""
        if isinstance(effect, DenyCall):
            self.denied(position)
        elif isinstance(effect, DeliverResult):
            self.judged(
                position,
                effect.verdict,
                first_turn=effect.first_turn,
                repeats=effect.repeats,
                cross_result=effect.cross_result,
                unjudged=effect.unjudged,
                progress=effect.progress is not None,
            )

    def finish(self, record: AttemptRecord) -> Observed:
        """The rest, from the attempt's record."""
        facts = record.as_dict()
        stop: Any = facts.get("stop")
        self.stop = stop and {key: stop[key] for key in ("code", "observed", "limit", "turn")}
        self.conclude_now = facts.get("concludeNow")  # type: ignore[assignment]
        self.read_evidence = facts["tools"].get("readEvidence")  # type: ignore[attr-defined]
        self.outcome = str(record.outcome)
        self.calls_after_stop = record.calls_after_stop
        return self


def compare(case: Case, observed: Observed, leave_out: Collection[str] = ()) -> list[str]:
    """What differs from what the case expects, a line each; ``leave_out`` names keys that this driver cannot see."""
    expect = case.expect
    positions = range(len(case.calls))
    seen: dict[str, Any] = {
        "verdicts": [observed.verdicts.get(position) for position in positions],
        "progress": [observed.progress.get(position) for position in positions],
        "stop": observed.stop,
        "concludeNow": observed.conclude_now,
        "readEvidence": observed.read_evidence,
        "outcome": observed.outcome,
        "callsAfterStop": observed.calls_after_stop,
    }
    assert seen.keys() == expect.keys(), f"{case.name}: expect holds other keys than this driver knows"
    differences = []
    for key in seen.keys() - set(leave_out):
        if key in {"verdicts", "progress"}:
            differences += [
                f"{case.name}: {key}[{position}] expected {expected}, got {got}"
                for position, (expected, got) in enumerate(zip(expect[key], seen[key], strict=True))
                if expected != got
            ]
        elif seen[key] != expect[key]:
            differences.append(f"{case.name}: {key} expected {expect[key]}, got {seen[key]}")
    return differences


@cache
def load_cases() -> tuple[Case, ...]:
    """Every case of the file, in its order."""
    with _FILE.open(encoding="utf-8") as lines:
        return tuple(_case(json.loads(line)) for line in lines)


def _case(line: Mapping[str, Any]) -> Case:
    return Case(
        name=line["name"],
        rules=tuple(line["rules"]),
        about=line["about"],
        settings=_settings(line),
        events=tuple(_events(line["events"])),
        expect=line["expect"],
    )


def _settings(line: Mapping[str, Any]) -> AttemptSettings:
    attempt = line["attempt"]
    limits = dict(line["limits"])
    timer_ms = None
    judgment = False
    asks = [(index, event["trigger"]) for index, event in enumerate(line["events"]) if event["type"] == "ask"]
    if asks:
        index, trigger = asks[0]
        at_ms = (index + 1) * TICK_MS
        limits["compositionExecution.answerNowTurnLatencyMs"] = 0
        if trigger == Trigger.ATTEMPT_DEADLINE:
            limits |= {
                "compositionExecution.answerPlan.defaultTokens": _RESERVE_MS,
                "compositionExecution.maxOutputTokens": _RESERVE_MS,
                "compositionExecution.answerNowDecodeTokensPerSecond": 1_000,
            }
            timer_ms = at_ms + _RESERVE_MS
        else:
            judgment = True
            limits["compositionExecution.answerNowElapsedShareBasisPoints"] = 1
            timer_ms = at_ms * 10_000
    step = Step(
        STEP_ID,
        StepKind(attempt.get("stepKind", "read-only")),
        judgment,
        AnswerPath(attempt["answerPath"]) if "answerPath" in attempt else None,
    )
    retry_of = RetryOf(attempt["retryOf"]) if "retryOf" in attempt else None
    return AttemptSettings(limits, step, attempt.get("number", 1), retry_of, timer_ms)


def _events(raw: list[Mapping[str, Any]]) -> Iterator[CaseEvent]:
    tools: dict[int, Tool] = {}
    for index, event in enumerate(raw):
        if event["type"] == "tool":
            tools[index] = Tool(len(tools), event["tool"], event["arguments"], event["result"], event["ok"])
    for index, event in enumerate(raw):
        match event["type"]:
            case "turn":
                end = next((i for i in range(index + 1, len(raw)) if raw[i]["type"] == "turn"), len(raw))
                calls = tuple(tools[i] for i in range(index, end) if i in tools)
                yield Turn(calls, any(raw[i]["type"] == "answer" for i in range(index, end)))
            case "tool":
                yield tools[index]
            case "compaction":
                yield Compaction()
            case "evicted":
                yield Evicted(tuple(event["calls"]))
            case "ask":
                yield Ask(Trigger(event["trigger"]))
            case "answer":
                yield Answer()
            case other:
                raise ValueError(f"unknown event {other!r}")
