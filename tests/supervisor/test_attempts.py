"""The table of live attempts: what is given up, why, and what is spared."""

from __future__ import annotations

import pytest

from otel_docsfab import Outcome, Supervisor
from otel_docsfab.config import load
from otel_docsfab.config.values import Caps
from otel_docsfab.testing import ManualClock, MemorySink

HOUR_MS = 3_600_000


class Table:
    def __init__(self, cap=100_000, idle_ms=HOUR_MS):
        self.clock, self.sink = ManualClock(), MemorySink()
        settings = load(mode="enforce", caps=Caps(max_live_attempts=cap, max_idle_ms=idle_ms), environ={})
        self.supervisor = Supervisor(settings=settings, sinks=[self.sink], clock=self.clock)

    def open(self, *names):
        attempts = []
        for name in names:
            self.clock.advance(1)
            attempts.append(self.supervisor.attempt(run_id=name))
        return attempts

    def touch(self, attempt):
        self.clock.advance(1)
        attempt.gate(lambda **_: "x", tool="bash")(command="ls")

    @property
    def gone(self):
        return [record.run_id for record in self.sink.records]

    def evictions(self, reason):
        return self.supervisor.tallies.read().get(("docsfab.supervisor.evictions", (reason,)), 0)


def test_past_the_cap_the_longest_unseen_goes():
    table = Table(cap=3)
    table.open("a", "b", "c", "d", "e")
    assert table.gone == ["a", "b"]
    assert [record.outcome for record in table.sink.records] == [Outcome.ABANDONED] * 2
    assert table.evictions("cap") == 2
    assert table.supervisor.live_attempts == 3


def test_one_that_was_active_gets_a_second_chance():
    table = Table(cap=3)
    a, *_ = table.open("a", "b", "c")
    table.touch(a)
    table.open("d")
    assert table.gone == ["b"]
    table.open("e")
    assert table.gone == ["b", "c"]
    table.open("f", "g")
    assert table.gone == ["b", "c", "d", "a"]  # one chance an activity


@pytest.mark.parametrize("cap", [1, 2, 8, 20])
def test_the_cap_holds_when_everybody_is_active(cap):
    table = Table(cap=cap)
    for name in range(cap * 3):
        (newest,) = table.open(str(name))
        for attempt in table.supervisor._attempts.all():
            table.touch(attempt)
        assert table.supervisor.live_attempts <= cap
        assert newest in table.supervisor._attempts.all()
    assert table.evictions("cap") == cap * 2


def test_idle_attempts_go_even_below_the_cap():
    table = Table(idle_ms=1_000)
    _, b = table.open("a", "b")
    table.clock.advance(600)
    table.touch(b)
    table.clock.advance(500)
    table.open("c")
    assert table.gone == ["a"]
    assert table.evictions("idle") == 1
    assert table.evictions("cap") == 0
    assert b in table.supervisor._attempts.all()


def test_a_newcomer_looks_at_a_few_only():
    """Its price does not grow with the table; the rest of the idle ones go with the next ones."""
    table = Table(idle_ms=1_000)
    table.open(*map(str, range(20)))
    table.clock.advance(2_000)
    table.open("new")
    assert len(table.gone) == 8
    table.open("new", "new")
    assert len(table.gone) == 20


def test_what_is_given_up_still_lets_its_calls_through():
    table = Table(cap=1)
    (a,) = table.open("a")
    read = a.gate(lambda path: "same", tool="read")
    table.open("b")
    assert [read(path="x") for _ in range(30)] == ["same"] * 30
    a.close()
    a.answered()
    assert a.record().outcome is Outcome.ABANDONED


def test_a_stopped_attempt_that_is_given_up_stays_failed():
    table = Table(cap=1)
    (a,) = table.open("a")
    read = a.gate(lambda path: "same", tool="read")
    with a.turn():
        for _ in range(20):
            read(path="x")
    table.open("b")
    assert a.record().outcome is Outcome.FAILED


def test_closed_attempts_are_forgotten():
    table = Table()
    attempts = table.open(*map(str, range(50)))
    for attempt in attempts:
        attempt.close()
        attempt.close()
    assert table.supervisor.live_attempts == 0
    assert len(table.gone) == 50
    assert sum(table.supervisor.faults.counts().values()) == 0
