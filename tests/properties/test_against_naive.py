"""The machine against the plain second reading of the rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from otel_docsfab.core import DOCSFAB_TOOLS, AttemptRecord, Compacted, Effect, StopAttempt, TurnBegan
from otel_docsfab.errors import RefusedEvent
from tests.core.test_vectors import drive
from tests.properties import histories
from tests.properties.naive import Naive, Refused
from tests.properties.player import Player, reread, result_of_nobody, started_again
from tests.properties.story import Setting
from tests.vectors import cases


def comparable(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Without the sentences that the rules leave free: the detail, and the message of a timer that fired."""
    return tuple(
        effect._replace(detail="", message="" if effect.deadline_turn else effect.message)
        if isinstance(effect, StopAttempt)
        else effect
        for effect in effects
    )


def comparable_record(record: AttemptRecord) -> AttemptRecord:
    if record.deadline_turn is None or record.stop is None:
        return record
    return replace(record, stop=replace(record.stop, message=""))


@given(histories.settings_of_attempts(), histories.HISTORIES)
def test_any_history_is_judged_as_the_plain_reading_judges_it(setting, moves):
    player = Player(setting).play(moves)
    naive, said = reread(setting, player.told)
    for (event, _), core, plain in zip(player.told, player.said, said, strict=True):
        assert comparable(core) == comparable(plain), event
    assert comparable_record(player.machine.record()) == naive.record()


class Attempts(RuleBasedStateMachine):
    """One attempt, a move at a time; after each, effects and record are the same on both sides."""

    @initialize(setting=histories.settings_of_attempts())
    def begin(self, setting: Setting) -> None:
        self.player = Player(setting)
        self.naive = Naive(setting)

    def do(self, move: histories.Move) -> None:
        for event in self.player.events_of(move):
            plain = self.naive.take(event, self.player.now_ms)
            assert comparable(self.player.tell(event)) == comparable(plain)

    @rule(move=st.sampled_from(histories.PLAIN_READS))
    def reads(self, move: histories.Call) -> None:
        self.do(move)

    @rule(move=st.sampled_from(histories.PLAIN_READS), times=st.integers(2, 6))
    def loops(self, move: histories.Call, times: int) -> None:
        for _ in range(times):
            self.do(TurnBegan())
            self.do(move)

    @rule(move=st.sampled_from(histories.CALL_MOVES))
    def calls(self, move: histories.Call) -> None:
        self.do(move)

    @rule(move=st.sampled_from(histories.TURNS))
    def turns(self, move: histories.Move) -> None:
        self.do(move)

    @precondition(lambda self: self.player.running)
    @rule(move=st.sampled_from(histories.FINISHES))
    def finishes(self, move: histories.Finish) -> None:
        self.do(move)

    @rule(move=st.sampled_from(histories.EVICTIONS))
    def evicts(self, move: histories.Evict) -> None:
        self.do(move)

    @rule()
    def compacts(self) -> None:
        self.do(Compacted())

    @rule(move=st.sampled_from(histories.WAITS))
    def waits(self, move: histories.Wait) -> None:
        self.do(move)

    @rule(move=st.sampled_from(histories.STREAM))
    def streams(self, move: histories.Move) -> None:
        self.do(move)

    @precondition(lambda self: len(self.player.told) > 20)
    @rule(move=st.sampled_from(histories.ANSWERS))
    def answers(self, move: histories.Move) -> None:
        self.do(move)

    @precondition(lambda self: len(self.player.told) > 60)
    @rule(move=st.sampled_from(histories.ENDINGS))
    def ends(self, move: histories.Move) -> None:
        self.do(move)

    @rule(key=st.sampled_from(["running", "unknown", "closed"]))
    def is_refused_alike(self, key: str) -> None:
        event = {
            "running": started_again(self.player),
            "unknown": result_of_nobody(),
            "closed": TurnBegan() if self.player.closed else None,
        }[key]
        if event is None:
            return
        with pytest.raises(RefusedEvent):
            self.player.machine.apply(event, self.player.now_ms)
        with pytest.raises(Refused):
            self.naive.take(event, self.player.now_ms)

    @invariant()
    def records_are_the_same(self) -> None:
        assert comparable_record(self.player.machine.record()) == self.naive.record()


TestAttempts = Attempts.TestCase


@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_the_plain_reading_passes_the_vectors_too(case, monkeypatch):
    monkeypatch.setattr("tests.core.test_vectors.AttemptMachine", _NaiveAsMachine)
    assert cases.compare(case, drive(case)) == []


class _NaiveAsMachine:
    """The plain reading behind the machine's methods."""

    def __init__(self, step, limits, toolset, number, retry_of, *, timer_ms):
        self.naive = Naive(Setting(step, limits, number, retry_of, timer_ms))
        self.toolset = toolset or DOCSFAB_TOOLS
        self.apply = self.naive.take
        self.record = self.naive.record
