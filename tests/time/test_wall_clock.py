"""Only the monotonic clock is measured with: a wall clock that steps an hour moves neither asks nor deadlines."""

from __future__ import annotations

import threading
import time

import pytest

from otel_docsfab import Supervisor
from otel_docsfab.supervisor.clock import SystemClock
from otel_docsfab.testing import MemorySink
from tests.time.drivers import ASK_AT_MS, TIMER_MS, BySpans, ByWord

HOUR_MS = 3_600_000
STEPS = [HOUR_MS, -HOUR_MS, 2_500, -2_500]


def step(driver, by_ms):
    driver.clock._EPOCH_MS += by_ms


@pytest.mark.parametrize("by_ms", STEPS)
@pytest.mark.parametrize("way", [ByWord, BySpans])
def test_a_stepped_wall_clock_moves_no_ask_and_no_deadline(way, by_ms):
    driver = way()
    step(driver, by_ms)
    driver.tool_turn()
    driver.until(ASK_AT_MS - 1)
    assert driver.sink.decisions == []
    step(driver, -by_ms)
    driver.until(ASK_AT_MS)
    assert driver.asked
    step(driver, by_ms)
    driver.until(TIMER_MS - 1)
    assert len(driver.sink.decisions) == 1
    driver.until(TIMER_MS)
    assert driver.sink.decisions[1].observed == TIMER_MS
    driver.close()


@pytest.mark.parametrize("by_ms", STEPS)
@pytest.mark.parametrize("when", ["before the request", "between request and output", "after the output"])
def test_span_events_find_their_place_whenever_the_wall_clock_stepped(by_ms, when):
    """Their times are the wall clock's; they are read when the timer fires, and came before it."""
    driver = BySpans(kind="write")
    driver.tool_turn()
    driver.begin_turn()
    driver.until(50_000)
    if when == "before the request":
        step(driver, by_ms)
    driver.sent()
    if when == "between request and output":
        step(driver, by_ms)
    driver.until(60_000)
    driver.output("tool-call")
    if when == "after the output":
        step(driver, by_ms)
    driver.until(TIMER_MS)
    assert driver.close().deadline_turn == "streaming-tool-call"


@pytest.mark.parametrize("by_ms", [0, HOUR_MS, -HOUR_MS])
def test_an_event_after_the_timer_is_none_of_its_business_however_late_the_alarm(by_ms):
    driver = BySpans(kind="write")
    driver.tool_turn()
    driver.begin_turn()
    driver.sent()
    step(driver, by_ms)
    driver.clock.now_ms = TIMER_MS + 500  # nobody woke
    driver.model.add_event("docsfab.output_started", {"kind": "answer"}, timestamp=driver.now_ns)
    driver.clock.advance(0)
    assert driver.close().deadline_turn == "awaiting-first-byte"


def test_the_scheduler_waits_by_the_monotonic_clock(monkeypatch):
    """The process's own thread and clock, while the wall clock jumps about."""
    told = threading.Event()

    class Sink(MemorySink):
        def decided(self, decision):
            super().decided(decision)
            told.set()

    class Jumping(SystemClock):
        """An hour forth, an hour back, at every look."""

        looks = 0

        def unix_ms(self):
            Jumping.looks += 1
            return super().unix_ms() + (HOUR_MS if Jumping.looks % 2 else -HOUR_MS)

    def jumping():
        return Jumping().unix_ms() / 1000

    monkeypatch.setattr(time, "time", jumping)
    sink, clock = Sink(), Jumping()
    supervisor = Supervisor(sinks=[sink], clock=clock, mode="enforce")
    attempt = supervisor.attempt("some-step", kind="write", timeout_ms=200)
    began_ms = attempt._began_ms
    assert told.wait(60)
    at_ms = clock.monotonic_ms()
    assert 200 <= sink.decisions[0].observed <= at_ms - began_ms
    attempt.close()


def test_an_event_with_a_time_outside_the_attempt_is_older_than_what_is_known():
    driver = BySpans(kind="write")
    driver.begin_turn()
    driver.model.add_event("docsfab.request_sent", timestamp=1)
    driver.until(TIMER_MS)
    assert driver.close().deadline_turn == "awaiting-first-byte"
