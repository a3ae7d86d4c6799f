"""One thread a process wakes attempts at their times: started when it is needed, and again after a fork."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from otel_docsfab import Supervisor
from otel_docsfab.supervisor.scheduler import Alarms, Scheduler
from otel_docsfab.testing import ManualClock, MemorySink

PATIENCE_S = 60


class Sleeper:
    """Notes when it is woken."""

    def __init__(self, name="", woken=None, error=None):
        self.name, self.error = name, error
        self.woken = woken if woken is not None else []
        self.up = threading.Event()

    def wake(self):
        self.woken.append(self.name)
        self.up.set()
        if self.error is not None:
            raise self.error


# Alarms


def test_alarms_go_off_in_the_order_of_their_times_and_then_of_their_setting():
    alarms, woken = Alarms(), []
    sleepers = [Sleeper(name) for name in "abcd"]
    for sleeper, at_ms in zip(sleepers, (30, 10, 20, 10), strict=True):
        alarms.set(sleeper, at_ms)
    assert alarms.next_ms() == 10
    woken = alarms.due(20)
    assert [sleeper.name for sleeper in woken] == ["b", "d", "c"]
    assert alarms.due(20) == []
    assert alarms.next_ms() == 30


def test_a_crowd_is_taken_out_bit_by_bit():
    alarms = Alarms()
    sleepers = [Sleeper(str(n)) for n in range(10)]
    for sleeper in sleepers:
        alarms.set(sleeper, 1)
    assert [len(alarms.due(1, at_most=4)) for _ in range(4)] == [4, 4, 2, 0]


def test_who_sets_an_alarm_hears_whether_it_is_the_soonest():
    alarms, sleeper = Alarms(), Sleeper()
    assert [alarms.set(sleeper, at_ms)[1] for at_ms in (20, 30, 10, 10)] == [True, False, True, False]


def test_an_alarm_that_was_unset_wakes_nobody():
    alarms, sleeper = Alarms(), Sleeper()
    alarm, _ = alarms.set(sleeper, 10)
    alarm.unset()
    alarm.unset()
    assert alarms.due(10) == []
    assert len(alarms) == 0


def test_an_alarm_keeps_nobody_alive():
    alarms = Alarms()
    alarms.set(Sleeper(), 10)
    gc.collect()
    assert alarms.due(10) == []


def test_unset_alarms_do_not_pile_up():
    """An attempt mostly ends long before its timer: what it leaves behind must not stay for an hour."""
    alarms, sleeper = Alarms(), Sleeper()
    waiting = [alarms.set(sleeper, 10_000)[0] for _ in range(100)]
    most = 0
    for at_ms in range(5_000):
        alarms.set(sleeper, 20_000 + at_ms)[0].unset()
        most = max(most, len(alarms))
    assert most <= 2 * len(waiting) + 10
    assert len(alarms.due(10_000, at_most=1_000)) == len(waiting)


# The thread


@pytest.fixture
def scheduler():
    """One of its own; its thread ends with the tests."""
    return Scheduler()


def now_ms():
    return time.monotonic_ns() // 1_000_000


def test_the_thread_starts_with_the_first_alarm_and_is_the_only_one(scheduler):
    assert not scheduler.running
    sleepers = [Sleeper() for _ in range(50)]
    before = threading.active_count()
    for sleeper in sleepers:
        scheduler.set(sleeper, now_ms() + 5)
    assert threading.active_count() == before + 1
    assert all(sleeper.up.wait(PATIENCE_S) for sleeper in sleepers)


def test_nobody_is_woken_before_the_time(scheduler):
    sleeper = Sleeper()
    at_ms = now_ms() + 30
    scheduler.set(sleeper, at_ms)
    assert sleeper.up.wait(PATIENCE_S)
    assert now_ms() >= at_ms


def test_a_sooner_alarm_is_not_kept_waiting_by_a_later_one(scheduler):
    woken = []
    late, soon = Sleeper("late", woken), Sleeper("soon", woken)
    scheduler.set(late, now_ms() + 3_600_000)
    scheduler.set(soon, now_ms() + 20)
    assert soon.up.wait(PATIENCE_S)
    assert woken == ["soon"]


def test_a_sleeper_that_raises_keeps_nobody_else_asleep(scheduler):
    bad, good = Sleeper(error=RuntimeError("secret")), Sleeper()
    at_ms = now_ms() + 20
    scheduler.set(bad, at_ms)
    scheduler.set(good, at_ms)
    assert bad.up.wait(PATIENCE_S)
    assert good.up.wait(PATIENCE_S)


def test_a_thread_that_cannot_be_started_is_counted_and_asks_come_with_the_next_event(monkeypatch, caplog):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    class Clock(ManualClock):
        def set_alarm(self, sleeper, at_ms):
            return Scheduler().set(sleeper, at_ms)

    clock, sink = Clock(), MemorySink()
    supervisor = Supervisor(clock=clock, sinks=[sink], mode="enforce")
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with supervisor.attempt(kind="read-only", timeout_ms=100_000) as attempt:
        read = attempt.gate(lambda path: "x", tool="read")
        read(path="a")
        clock.now_ms = 50_000
        read(path="b")
    assert sink.verdicts == ["deliver", "denied"]
    assert [decision.action for decision in sink.decisions] == ["conclude"]
    assert supervisor.faults.counts()["scheduler"] == 1
    assert "No thread can be started" in caplog.text


# Live attempts


def test_asks_and_deadlines_come_by_themselves_on_the_scheduler_s_thread():
    told = threading.Event()
    where = []

    class Sink(MemorySink):
        def decided(self, decision):
            super().decided(decision)
            where.append(threading.current_thread().name)
            if decision.action == "stop":
                told.set()

    sink = Sink()
    limits = {
        "compositionExecution.answerPlan.defaultTokens": 1,
        "compositionExecution.answerNowTurnLatencyMs": 100,
    }
    supervisor = Supervisor(sinks=[sink], mode="enforce", limits=limits)
    attempt = supervisor.attempt("some-step", kind="read-only", timeout_ms=200)
    attempt.gate(lambda path: "x", tool="read")(path="a")
    assert told.wait(PATIENCE_S)
    attempt.close()
    assert [(decision.action, decision.trigger) for decision in sink.decisions] == [
        ("conclude", "attempt-deadline"),
        ("stop", None),
    ]
    assert where == ["otel-docsfab-scheduler"] * 2
    assert sink.records[0].stop.observed >= 200


def test_a_closed_attempt_leaves_no_alarm_and_an_answered_one_is_left_alone():
    clock = ManualClock()
    supervisor = Supervisor(clock=clock, mode="enforce")
    for _ in range(1_000):
        with supervisor.attempt(kind="read-only", timeout_ms=100_000) as attempt:
            attempt.answered()
    assert len(clock._alarms) <= 65


def in_a_process(script):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE"))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_no_thread_at_import_and_none_for_attempts_without_a_timer():
    counts = in_a_process("""
        import json, threading
        import otel_docsfab, otel_docsfab.testing, otel_docsfab.spans.processor, otel_docsfab.gate
        counts = [threading.active_count()]
        supervisor = otel_docsfab.Supervisor(mode="enforce", on_decision=print)
        processor = otel_docsfab.ReadLoopSpanProcessor(supervisor)
        attempts = [supervisor.attempt() for _ in range(10)]
        counts.append(threading.active_count())
        off = otel_docsfab.Supervisor(mode="off").attempt(kind="read-only", timeout_ms=1_000)
        counts.append(threading.active_count())
        attempts += [supervisor.attempt(kind="read-only", timeout_ms=3_600_000) for _ in range(100)]
        counts.append(threading.active_count())
        print(json.dumps(counts))
    """)
    assert counts == [1, 1, 1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_has_a_thread_of_its_own_when_it_needs_one():
    told = in_a_process("""
        import json, os, threading
        from otel_docsfab import Supervisor
        from otel_docsfab.supervisor.scheduler import SCHEDULER
        from otel_docsfab.testing import MemorySink

        stopped = threading.Event()
        class Sink(MemorySink):
            def decided(self, decision):
                super().decided(decision)
                stopped.set()

        sink = Sink()
        supervisor = Supervisor(sinks=[sink], mode="enforce")
        parents = supervisor.attempt(kind="write", timeout_ms=3_600_000)
        held, let_go = threading.Event(), threading.Event()
        def hold():
            with SCHEDULER.alarms._lock, SCHEDULER._lock, supervisor._callbacks._lock:
                held.set()
                let_go.wait(60)
        threading.Thread(target=hold).start()
        held.wait(60)
        into, out = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                facts = {"running": SCHEDULER.running, "alarms": len(SCHEDULER.alarms)}
                attempt = supervisor.attempt(kind="write", timeout_ms=20)
                facts["stopped"] = stopped.wait(60)
                facts["decisions"] = len(sink.decisions)
                os.write(out, json.dumps(facts).encode())
            finally:
                os._exit(0)
        let_go.set()
        os.waitpid(child, 0)
        print(json.dumps([json.loads(os.read(into, 10_000)), SCHEDULER.running, len(SCHEDULER.alarms)]))
    """)
    child = {"running": False, "alarms": 0, "stopped": True, "decisions": 1}
    assert told == [child, True, 1]


def test_a_fault_of_ours_on_waking_is_counted_and_shown_to_nobody():
    clock = ManualClock()
    supervisor = Supervisor(clock=clock, mode="enforce")
    attempt = supervisor.attempt(kind="write", timeout_ms=1_000)

    def broken():
        raise ValueError("secret")

    attempt.timing.news = broken
    clock.advance(1_000)
    assert {site: n for site, n in supervisor.faults.counts().items() if n} == {"scheduler": 1}
    other = supervisor.attempt(kind="write", timeout_ms=1_000)
    clock.advance(1_000)
    assert other.decision.action == "stop"
