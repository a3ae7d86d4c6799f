"""The player: does moves to a machine, and keeps what it was told and what it said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from otel_docsfab.core import (
    DOCSFAB_TOOLS,
    AttemptMachine,
    CallDescribed,
    CallStarted,
    DenyCall,
    Effect,
    Event,
    Evicted,
    ResultReturned,
    TimePassed,
    ToolClass,
)
from otel_docsfab.core.identity import arguments_digest, result_digest
from tests.properties.histories import CALLS, Call, Evict, Finish, Move, Wait
from tests.properties.naive import Naive
from tests.properties.story import Setting


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
        tool_class = DOCSFAB_TOOLS.classify(tool, arguments).tool_class
        has_id = move.has_id and self.setting.max_results > len(CALLS)
        call_id = self.name_of(number) if has_id else None
        digest = digest_of(move.what) if move.known_arguments else None
        mark = max(0, self.machine.mark - move.since_mark) if move.since_mark else None
        subject = str(arguments.get("path", ""))
        if move.described_late:
            yield CallStarted(number, tool, tool_class, None, mark=mark)
            if number in self.running:
                yield CallDescribed(number, tool_class, digest, subject, call_id)
        else:
            yield CallStarted(number, tool, tool_class, digest, subject, call_id, mark)
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


def started_again(player: Player) -> Event | None:
    """A call whose key is that of a running one; None when nothing runs."""
    if not player.running:
        return None
    return CallStarted(player.running[0], "read", ToolClass.READ, digest_of(0))


def result_of_nobody() -> Event:
    return ResultReturned("nobody", None)
