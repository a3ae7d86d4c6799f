"""Random attempts: what a runtime may do, as plain data, and the player that does it to a machine.

A history is a list of moves. A move that makes no sense at its moment (a result while nothing runs) is left out by the
player, so that every list is a history and Hypothesis can shrink freely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from otel_docsfab.core import (
    DOCSFAB_TOOLS,
    AnswerPath,
    AnswerReturned,
    AttemptEnded,
    AttemptMachine,
    CallStarted,
    Compacted,
    DenyCall,
    Effect,
    Event,
    Evicted,
    Limits,
    Outcome,
    Output,
    OutputStarted,
    RequestEnded,
    RequestSent,
    ResultReturned,
    RetryOf,
    Step,
    StepKind,
    TimePassed,
    TurnBegan,
    TurnEnded,
)
from otel_docsfab.core.identity import arguments_digest, result_digest
from tests.properties.naive import Naive, Setting

CALLS = [
    ("read", {"path": "docs/a.md"}),
    ("read", {"path": "docs/b.md"}),
    ("grep", {"pattern": "a", "path": "docs"}),
    ("edit", {"path": "docs/a.md", "text": "one"}),
    ("edit", {"path": "docs/a.md", "text": "two"}),
    ("bash", {"command": "make"}),
    ("submit_quality_evaluation", {"score": 1}),
]
READS = (0, 1, 2)
SUBMIT = 6


class Call(NamedTuple):
    """A call starts; unless ``holds``, it returns at once when it was not denied."""

    what: int
    content: str | None = "A"
    ok: bool = True
    own_notice: bool = False
    known_arguments: bool = True
    holds: bool = False
    since_mark: int = 0
    """How many of the newest asks and stops the call's real start lies before."""
    has_id: bool = True


class Finish(NamedTuple):
    """A running call returns: the ``which``-th of them."""

    which: int
    content: str | None = "A"
    ok: bool = True


class Evict(NamedTuple):
    """Results leave the context: those of the calls that started so many calls ago, or those of a tool and arguments."""

    ago: tuple[int, ...] = ()
    calls: tuple[int, ...] = ()


class Wait(NamedTuple):
    """Time passes."""

    ms: int


Move = Call | Finish | Evict | Wait | Event

CONTENTS = st.sampled_from(["A", "B", "A", "A", None])
CALL_MOVES = st.builds(
    Call,
    what=st.sampled_from([0, 0, 1, 2, 0, 1, 3, 4, 5, 6]),
    content=st.sampled_from(["A", "A", "A", "A", "B", None]),
    ok=st.sampled_from([True] * 7 + [False]),
    own_notice=st.sampled_from([False] * 9 + [True]),
    known_arguments=st.sampled_from([True] * 9 + [False]),
    holds=st.sampled_from([False] * 4 + [True]),
    since_mark=st.sampled_from([0] * 5 + [1, 2]),
    has_id=st.sampled_from([True] * 5 + [False]),
)
PLAIN_READS = st.builds(Call, what=st.sampled_from(READS))
FINISHES = st.builds(Finish, which=st.integers(0, 3), content=st.sampled_from(["A", "A", "B", None]), ok=st.booleans())
EVICTIONS = st.builds(
    Evict,
    ago=st.lists(st.integers(0, 12), max_size=4).map(tuple),
    calls=st.lists(st.sampled_from(READS), max_size=1).map(tuple),
)
WAITS = st.builds(Wait, st.sampled_from([0, 1, 60, 150, 350]))
TURNS = st.sampled_from([TurnBegan(), TurnBegan(), TurnBegan(), TurnEnded()])
STREAM = st.sampled_from(
    [RequestSent(True), RequestSent(False), RequestEnded(), *(OutputStarted(kind) for kind in Output)]
)
ANSWERS = st.sampled_from([AnswerReturned(), AnswerReturned(True), AnswerReturned(False)])
ENDINGS = st.sampled_from([AttemptEnded(), AttemptEnded(Outcome.ABANDONED)])
MOVES = st.one_of(PLAIN_READS, PLAIN_READS, CALL_MOVES, CALL_MOVES, TURNS, TURNS, FINISHES, EVICTIONS, WAITS, STREAM,
                  st.just(Compacted()))  # fmt: skip

LIMITS = st.builds(
    Limits,
    repeat_streak=st.integers(0, 3),
    unchanged_re_reads=st.integers(0, 5),
    withheld_reads=st.integers(0, 3),
    tool_call_ceiling=st.sampled_from([512, 512, 12, 3]),
    max_no_progress_retries=st.integers(0, 2),
    decode_tokens_per_second=st.just(1_000),
    default_answer_tokens=st.sampled_from([100, 400, 900]),
    max_output_tokens=st.sampled_from([150, 1_000]),
    turn_latency_ms=st.sampled_from([0, 7]),
    elapsed_share_bp=st.sampled_from([0, 3_333, 10_000]),
)
STEPS = st.builds(
    Step,
    id=st.sampled_from([None, "review-documentation", "plan"]),
    kind=st.sampled_from([StepKind.READ_ONLY, StepKind.READ_ONLY, StepKind.WRITE, None]),
    judgment=st.booleans(),
    answer_path=st.sampled_from([None, *AnswerPath]),
)


@st.composite
def settings_of_attempts(draw: st.DrawFn) -> Setting:
    """An attempt with small limits, so that every bound is in reach."""
    retry_of = draw(st.sampled_from([None, *RetryOf]))
    return Setting(
        step=draw(STEPS),
        limits=draw(LIMITS),
        number=1 if retry_of is None else draw(st.integers(2, 3)),
        retry_of=retry_of,
        timer_ms=draw(st.sampled_from([None, 600, 1_000, 5_000])),
        max_results=draw(st.sampled_from([65_536, 65_536, 3])),
    )


HISTORIES = st.lists(MOVES, min_size=30, max_size=90)


def machine_of(setting: Setting) -> AttemptMachine:
    return AttemptMachine(
        setting.step,
        setting.limits,
        None,
        setting.number,
        setting.retry_of,
        timer_ms=setting.timer_ms,
        max_results=setting.max_results,
    )


@dataclass
class Player:
    """Plays moves to a machine and keeps what it was told and what it said."""

    setting: Setting
    name_of: Callable[[int], str] = "call-{}".format
    """The runtime's id of the n-th call."""
    wakes: bool = True
    """Whether the machine is woken when it asks for it, as every driver does."""
    told: list[tuple[Event, int]] = field(default_factory=list)
    said: list[tuple[Effect, ...]] = field(default_factory=list)
    now_ms: int = 0
    started: int = 0
    marks: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    closed: bool = False

    def __post_init__(self) -> None:
        self.machine = machine_of(self.setting)

    def play(self, moves: Sequence[Move]) -> Player:
        for move in moves:
            for event in self.events_of(move):
                self.tell(event)
        return self

    @property
    def effects(self) -> list[Effect]:
        return [effect for effects in self.said for effect in effects]

    def tell(self, event: Event) -> tuple[Effect, ...]:
        said = self.machine.apply(event, self.now_ms)
        self.told.append((event, self.now_ms))
        self.said.append(said)
        for effect in said:
            if isinstance(effect, DenyCall):
                self.running.remove(effect.call)  # type: ignore[arg-type]
        self.closed = self.machine.closed
        return said

    def events_of(self, move: Move) -> Iterator[Event]:
        """The events that a move is at this moment, one after the other."""
        if self.closed:
            return
        match move:
            case Call():
                yield from self.call(move)
            case Finish(which, content, ok) if self.running:
                yield self.result(self.running[which % len(self.running)], content, ok=ok)
            case Finish():
                return
            case Evict(ago, calls):
                ids = tuple(self.name_of(self.started - 1 - n) for n in ago if n < self.started)
                yield Evicted(ids, tuple((CALLS[what][0], digest_of(what)) for what in calls))
            case Wait(ms):
                yield from self.wait(ms)
            case _:
                yield move

    def call(self, move: Call) -> Iterator[Event]:
        tool, arguments = CALLS[move.what]
        number = self.started
        self.started += 1
        self.running.append(number)
        yield CallStarted(
            number,
            tool,
            DOCSFAB_TOOLS.classify(tool, arguments).tool_class,
            digest_of(move.what) if move.known_arguments else None,
            str(arguments.get("path", "")),
            self.name_of(number) if move.has_id and self.setting.max_results > len(CALLS) else None,
            max(0, self.machine.mark - move.since_mark) if move.since_mark else None,
        )
        if number in self.running and not move.holds:
            yield self.result(number, move.content, ok=move.ok, own_notice=move.own_notice)

    def result(self, number: int, content: str | None, *, ok: bool, own_notice: bool = False) -> ResultReturned:
        self.running.remove(number)
        return ResultReturned(number, None if content is None else result_digest(content), ok, own_notice)

    def wait(self, ms: int) -> Iterator[Event]:
        until = self.now_ms + ms
        wakeup = self.machine.next_wakeup_ms()
        while self.wakes and wakeup is not None and wakeup <= until:
            self.now_ms = max(wakeup, self.now_ms)
            yield TimePassed()
            wakeup = self.machine.next_wakeup_ms()
        self.now_ms = until
        yield TimePassed()


def digest_of(what: int) -> bytes:
    digest = arguments_digest(CALLS[what][1])
    assert digest is not None
    return digest


def replay(setting: Setting, told: Sequence[tuple[Event, int]]) -> list[tuple[Effect, ...]]:
    """What a fresh machine says to the same events."""
    machine = machine_of(setting)
    return [machine.apply(event, at_ms) for event, at_ms in told]


def reread(setting: Setting, told: Sequence[tuple[Event, int]]) -> tuple[Naive, list[tuple[Effect, ...]]]:
    """What the plain reading of the rules says to the same events."""
    naive = Naive(setting)
    return naive, [naive.take(event, at_ms) for event, at_ms in told]
