"""An attempt as the list of its facts, and what can be read off it at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from otel_docsfab.core import (
    AnswerReturned,
    AskForAnswer,
    AttemptEnded,
    CallDescribed,
    CallStarted,
    Denial,
    DenyCall,
    Effect,
    Event,
    Evicted,
    Limits,
    ResultReturned,
    RetryOf,
    Step,
    StopAttempt,
    ToolClass,
    TurnBegan,
    TurnEnded,
    Verdict,
)


@dataclass(frozen=True)
class Setting:
    """What an attempt is set up with."""

    step: Step = field(default_factory=Step)
    limits: Limits = field(default_factory=Limits)
    number: int = 1
    retry_of: RetryOf | None = None
    timer_ms: int | None = None
    max_results: int = 65_536


@dataclass(frozen=True)
class Fact:
    """Something that happened (``event``) or was decided (``effect``), in the turn ``turn``."""

    turn: int
    event: Any = None
    effect: Any = None
    started: CallStarted | None = None  # of a result: the call that returned
    mark: int = 0  # of a started call: asks and stops before it
    due: bool = False  # the ask's time was noticed here
    charged_cross: bool | None = None  # of a notice-only read or a charged denial: to which allowance


FULL = (Verdict.DELIVER, Verdict.DELIVER_WITH_NOTICE)


class Story:
    """What happened and what was decided, in order; one scan a question."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.facts: list[Fact] = []
        self.now_ms = 0

    def add(self, event: Event, **more: Any) -> None:
        self.facts.append(Fact(more.pop("turn", self.turn()), event, **more))

    def decide(self, effect: Effect, **more: Any) -> None:
        self.facts.append(Fact(self.turn(), None, effect, **more))

    def events(self, *kinds: type) -> list[Fact]:
        return [fact for fact in self.facts if isinstance(fact.event, kinds)]

    def effects(self, *kinds: type) -> list[Any]:
        return [fact.effect for fact in self.facts if isinstance(fact.effect, kinds)]

    def turn(self) -> int:
        return len(self.events(TurnBegan))

    def turn_open(self) -> bool:
        marks = self.events(TurnBegan, TurnEnded)
        return bool(marks) and isinstance(marks[-1].event, TurnBegan)

    def late_results(self) -> bool:
        """Results that came after the turn's end."""
        marks = self.events(TurnEnded, ResultReturned)
        return bool(marks) and isinstance(marks[-1].event, ResultReturned)

    def tool_turns(self) -> set[int]:
        return {fact.turn for fact in self.events(CallStarted)}

    def closed(self) -> bool:
        return bool(self.events(AttemptEnded))

    def answered(self) -> bool:
        return bool(self.events(AnswerReturned))

    def stop(self) -> StopAttempt | None:
        return next(iter(self.effects(StopAttempt)), None)

    def ask(self) -> AskForAnswer | None:
        return next(iter(self.effects(AskForAnswer)), None)

    def mark(self) -> int:
        return len(self.effects(AskForAnswer, StopAttempt))

    def mark_of(self, kind: type) -> int | None:
        """How many asks and stops there were when the first of this kind had been made."""
        made = [type(effect) for effect in self.effects(AskForAnswer, StopAttempt)]
        return made.index(kind) + 1 if kind in made else None

    def denied(self) -> list[DenyCall]:
        return self.effects(DenyCall)

    def running(self) -> dict[Hashable, CallStarted]:
        calls: dict[Hashable, CallStarted] = {}
        for fact in self.facts:
            if isinstance(fact.event, CallStarted):
                calls[fact.event.call] = fact.event
            elif isinstance(fact.event, CallDescribed):
                calls[fact.event.call] = calls[fact.event.call]._replace(**fact.event._asdict())
            elif isinstance(fact.effect, DenyCall):
                del calls[fact.effect.call]
            elif isinstance(fact.event, ResultReturned):
                del calls[fact.event.call]
        return calls

    def ran(self) -> int:
        return len(self.events(CallStarted)) - len(self.denied())


def identity(fact: Fact) -> tuple[str, bytes | None, bytes | None]:
    assert fact.started is not None
    assert isinstance(fact.event, ResultReturned)
    return fact.started.tool, fact.started.arguments, fact.event.result


def same_call(one: Fact, other: Fact) -> bool:
    """Tool and canonical arguments; what is unknown is never the same."""
    assert one.started is not None
    assert other.started is not None
    known = one.started.arguments is not None
    return known and (one.started.tool, one.started.arguments) == (other.started.tool, other.started.arguments)


def is_return(fact: Fact, tool_class: ToolClass) -> bool:
    """A call of this class returned something that is not our own notice."""
    return (
        isinstance(fact.event, ResultReturned)
        and not fact.event.own_notice
        and fact.started is not None
        and fact.started.tool_class is tool_class
    )


def is_progress_success(fact: Fact) -> bool:
    return is_return(fact, ToolClass.PROGRESS) and fact.event.ok


def is_unfruitful(fact: Fact) -> bool:
    """A call without progress: returned (own notices apart), or denied by anything but a stop."""
    if isinstance(fact.effect, DenyCall):
        return fact.effect.reason is not Denial.STOPPED
    return isinstance(fact.event, ResultReturned) and not fact.event.own_notice


def evicts(later: Fact, delivered: Fact) -> bool:
    call, event = delivered.started, later.event
    assert call is not None
    return isinstance(event, Evicted) and (
        (call.call_id is not None and call.call_id in event.call_ids) or (call.tool, call.arguments) in event.calls
    )


def tally(words: Iterable[Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def most_repeated(facts: Iterable[Fact]) -> int:
    """How often the most repeated call came again."""
    calls = tally((f.started.tool, f.started.arguments) for f in facts if f.started and f.started.arguments is not None)
    return max(calls.values(), default=1) - 1
