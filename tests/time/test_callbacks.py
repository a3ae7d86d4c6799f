"""What time decides is told by a thread of its own, in order and bounded; nobody's ask waits for anybody's callback."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_docsfab import Supervisor
from otel_docsfab.config import Caps
from otel_docsfab.testing import ManualClock, MemorySink

PATIENCE_S = 120
HOUR_MS = 3_600_000
LIMITS = {
    "compositionExecution.answerPlan.defaultTokens": 1,
    "compositionExecution.answerNowDecodeTokensPerSecond": 1_000,
    "compositionExecution.answerNowTurnLatencyMs": HOUR_MS - 1,
}
"""A reserve of an hour: asks come soon and deadlines do not."""


class Asks(MemorySink):
    """Notes the asks, and says when so many were made."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted = wanted
        self.all_made = threading.Event()

    def decided(self, decision):
        super().decided(decision)
        if len(self.decisions) == self.wanted:
            self.all_made.set()


def open_attempt(supervisor, name, ask_in_ms):
    """An attempt that is asked after so many ms; its first tool turn is over before the clock is set for it."""
    timeout_ms = HOUR_MS + ask_in_ms
    attempt = supervisor.attempt("some-step", run_id=name, kind="read-only", timeout_ms=timeout_ms, announce=False)
    attempt.gate(lambda path: "x", tool="read")(path="a")
    supervisor.announce(attempt)
    return attempt


def test_2000_asks_wait_for_no_callback_and_keep_their_order():
    """The order is that of the scheduler's clock: each attempt is due after the one before."""
    count = 2_000
    names = [str(number) for number in range(count)]
    release, all_told = threading.Event(), threading.Event()
    told = []

    def block(decision):
        told.append((decision.attempt.run_id, threading.current_thread().name))
        release.wait(PATIENCE_S)
        if len(told) == count:
            all_told.set()

    sink = Asks(count)
    caps = Caps(max_queued_decisions=count)
    supervisor = Supervisor(sinks=[sink], on_decision=block, mode="enforce", limits=LIMITS, caps=caps)
    attempts = [open_attempt(supervisor, name, 1_500 + int(name) // 4) for name in names]
    assert sink.all_made.wait(PATIENCE_S)
    assert [decision.attempt.run_id for decision in sink.decisions] == names
    assert all(attempt.conclude_request for attempt in attempts)
    assert len(told) <= 1  # the first callback has not come back, and nobody was kept waiting by it
    release.set()
    assert all_told.wait(PATIENCE_S)
    assert told == [(name, "otel-docsfab-callbacks") for name in names]
    assert sum(supervisor.faults.counts().values()) == 0
    supervisor.shutdown()


def test_decisions_past_the_queue_are_counted_and_block_nobody():
    count, queued = 50, 10
    entered, release, last = threading.Event(), threading.Event(), threading.Event()
    told = []

    def block(decision):
        told.append(decision.attempt.run_id)
        entered.set()
        release.wait(PATIENCE_S)
        if decision.attempt.run_id == "last":
            last.set()

    sink = Asks(1 + count)
    caps = Caps(max_queued_decisions=queued)
    supervisor = Supervisor(sinks=[sink], on_decision=block, mode="enforce", limits=LIMITS, caps=caps)
    open_attempt(supervisor, "first", 20)
    assert entered.wait(PATIENCE_S)  # it is being told, and no longer waits
    attempts = [open_attempt(supervisor, str(number), 1_000 + number) for number in range(count)]
    assert sink.all_made.wait(PATIENCE_S)
    assert len(attempts) == count
    assert all(attempt.decision.action == "conclude" for attempt in attempts)  # it holds, told or not
    release.set()
    wait_until(lambda: len(told) == 1 + queued)
    assert told == ["first", *map(str, range(queued))]
    assert {site: n for site, n in supervisor.faults.counts().items() if n} == {"scheduler": count - queued}
    sink.wanted += 1
    open_attempt(supervisor, "last", 20)  # and it goes on afterwards
    assert last.wait(PATIENCE_S)
    supervisor.shutdown()


def wait_until(there):
    changed = threading.Event()
    for _ in range(PATIENCE_S * 100):
        if there():
            return
        changed.wait(0.01)
    raise AssertionError("it did not come")


def test_a_timed_callback_that_raises_is_counted_and_the_next_is_told():
    told = threading.Event()

    def raise_once(decision):
        if decision.attempt.run_id == "bad":
            raise RuntimeError
        told.set()

    supervisor = Supervisor(on_decision=raise_once, mode="enforce", limits=LIMITS)
    open_attempt(supervisor, "bad", 20)
    open_attempt(supervisor, "good", 30)
    assert told.wait(PATIENCE_S)
    assert {site: n for site, n in supervisor.faults.counts().items() if n} == {"callback": 1}
    supervisor.shutdown()


async def test_an_async_callback_is_not_queued_behind_anybody():
    """It goes to the attempt's own event loop at once; one that waits is not waited for."""
    heard = []
    both = asyncio.Event()

    async def hear(decision):
        heard.append((decision.attempt.run_id, asyncio.get_running_loop(), threading.get_ident()))
        if len(heard) == 2:
            both.set()
        await both.wait()

    supervisor = Supervisor(on_decision=hear, mode="enforce", limits=LIMITS)
    attempts = [open_attempt(supervisor, name, 20) for name in "ab"]
    await asyncio.wait_for(both.wait(), PATIENCE_S)
    here = (asyncio.get_running_loop(), threading.get_ident())
    assert heard == [("a", *here), ("b", *here)]
    assert len(attempts) == 2
    supervisor.shutdown()


@pytest.mark.parametrize("late", [False, True], ids=["woken by the clock", "found by an event"])
def test_in_the_thread_that_lets_time_pass_a_callback_runs_right_there(late):
    """With the clock of the test kit nothing happens elsewhere, or later."""
    clock, heard = ManualClock(), []
    supervisor = Supervisor(
        on_decision=lambda decision: heard.append(threading.current_thread()), clock=clock, limits=LIMITS
    )
    attempt = open_attempt(supervisor, "a", 1_000)
    if late:
        clock.now_ms = 1_000
        attempt.start_call("read", {"path": "b"})
    else:
        clock.advance(1_000)
    assert heard == [threading.current_thread()]


def test_a_thread_that_cannot_be_started_costs_the_telling_and_not_the_decision(monkeypatch):
    sink = Asks(2)
    told = threading.Event()
    supervisor = Supervisor(sinks=[sink], on_decision=lambda _: told.set(), mode="enforce", limits=LIMITS)
    attempt = open_attempt(supervisor, "a", HOUR_MS)  # the scheduler's thread is there from now on
    start, refused = threading.Thread.start, threading.Event()

    def refuse(thread):
        if thread.name == "otel-docsfab-callbacks" and not refused.is_set():
            refused.set()
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    first = open_attempt(supervisor, "b", 20)
    assert refused.wait(PATIENCE_S)
    wait_until(lambda: supervisor.faults.counts()["scheduler"] == 1)
    assert first.conclude_request is not None
    second = open_attempt(supervisor, "c", 20)
    assert told.wait(PATIENCE_S)
    assert {site: n for site, n in supervisor.faults.counts().items() if n} == {"scheduler": 1}
    assert [opened.decision is not None for opened in (attempt, first, second)] == [False, True, True]
    supervisor.shutdown()
