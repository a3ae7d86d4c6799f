"""R23: every position, history and ask through the live surface, by the host's words and by spans, and in replay."""

from __future__ import annotations

import pytest

from otel_docsfab import Code
from tests.time.drivers import ASK_AT_MS, TIMER_MS, BySpans, ByWord, facts_of

STALL, LOOP, TIMEOUT = Code.DEADLINE_AWAITING_PROVIDER, Code.DEADLINE_IN_TOOL_LOOP, Code.TIMEOUT
CATEGORIES = {STALL: "provider-stall", LOOP: "no-progress", TIMEOUT: "timeout"}

# Where it is: position, then the code without an ask after: no tool turn, one that is still streaming, an earlier one;
# then with an ask after: one that is still streaming, an earlier one. (No ask comes before the first tool turn.)
TABLE = {
    "nothing came back": ("awaiting-first-byte", (STALL, STALL, STALL), (STALL, STALL)),
    "an answer": ("streaming-answer", (TIMEOUT, TIMEOUT, TIMEOUT), (TIMEOUT, TIMEOUT)),
    "a tool call": ("streaming-tool-call", (TIMEOUT, TIMEOUT, LOOP), (TIMEOUT, TIMEOUT)),
    "other output": ("streaming", (TIMEOUT, TIMEOUT, LOOP), (TIMEOUT, TIMEOUT)),
    "nobody says": ("streaming", (TIMEOUT, TIMEOUT, LOOP), (TIMEOUT, TIMEOUT)),
    "between requests": ("between-requests", (TIMEOUT, LOOP, LOOP), (LOOP, LOOP)),
    "a tool runs": ("between-requests", (LOOP, LOOP, LOOP), (LOOP, LOOP)),
}
KINDS = {"an answer": "answer", "a tool call": "tool-call", "other output": "other"}
HISTORIES = ("no tool turn", "this turn called tools", "an earlier turn called tools")
CELLS = [
    pytest.param(where, history, asked, position, code, id=f"{where}, {history}{', asked' if asked else ''}")
    for where, (position, plain, after_ask) in TABLE.items()
    for asked, codes in ((False, plain), (True, (None, *after_ask)))
    for history, code in zip(HISTORIES, codes, strict=True)
    if code is not None
]


def drive(driver, where, history, *, asked):
    """Bring an attempt to a cell of the table."""
    if history == HISTORIES[2]:
        driver.tool_turn()
    driver.begin_turn()
    if history == HISTORIES[1]:
        driver.call()
    if asked:
        driver.until(ASK_AT_MS - 1)
        assert not driver.asked
        driver.until(ASK_AT_MS)
    assert driver.asked is asked
    if where == "a tool runs":
        driver.start_call()
    elif where == "nobody says":
        driver.unseen()
    else:
        driver.sent()
        if where in KINDS:
            driver.output(KINDS[where])
        if where == "between requests":
            driver.ended()


@pytest.mark.parametrize("way", [ByWord, BySpans])
@pytest.mark.parametrize(("where", "history", "asked", "position", "code"), CELLS)
def test_r23_every_cell(way, where, history, asked, position, code, tmp_path):
    driver = way(kind="read-only" if asked else "write")
    drive(driver, where, history, asked=asked)
    driver.until(TIMER_MS - 1)
    assert [decision.action for decision in driver.sink.decisions] == ["conclude"] * asked
    driver.until(TIMER_MS)
    stop = driver.sink.decisions[-1]
    assert (stop.action, stop.code, stop.category) == ("stop", code, CATEGORIES[code])
    assert (stop.observed, stop.limit, stop.limit_name) == (TIMER_MS, TIMER_MS, "compositionExecution.timeoutMs")
    assert not stop.retry_granted
    record = driver.close()
    assert (record.outcome, record.code, record.deadline_turn) == ("failed", code, position)
    assert record.stop.category == CATEGORIES[code]
    assert (record.conclude_now is not None) is asked
    if way is BySpans:
        assert driver.replay(tmp_path) == facts_of(record)
        written = driver.exporter.get_finished_spans()[-1].attributes
        assert (written["docsfab.stop.code"], written["docsfab.deadline_turn"]) == (code, position)


@pytest.mark.parametrize("way", [ByWord, BySpans])
@pytest.mark.parametrize("where", TABLE)
def test_r20_no_position_is_asked_before_the_first_tool_turn(way, where):
    driver = way()
    drive(driver, where, HISTORIES[0], asked=False)
    driver.until(TIMER_MS)
    assert not driver.asked


@pytest.mark.parametrize("way", [ByWord, BySpans])
def test_r20_an_answer_that_streams_is_not_asked_for(way, tmp_path):
    driver = way()
    driver.tool_turn()
    driver.begin_turn()
    driver.sent()
    driver.output("answer")
    driver.until(TIMER_MS)
    record = driver.close()
    assert (record.conclude_now, record.code, record.deadline_turn) == (None, TIMEOUT, "streaming-answer")
    if way is BySpans:
        assert driver.replay(tmp_path) == facts_of(record)


def test_r23_a_request_that_nobody_reports_may_be_out_whenever_no_call_runs():
    """No stall without evidence, and no "between requests" either."""
    driver = ByWord(kind="write")
    read = driver.attempt.gate(lambda path: "same", tool="read")
    read(path="a")
    read(path="b")  # each its own turn, since nobody marks any
    driver.until(TIMER_MS)
    assert (driver.close().code, driver.record.deadline_turn) == (LOOP, "streaming")


def test_r23_the_timer_of_an_agent_span_runs_before_anything_else_is_seen(tmp_path):
    driver = BySpans()
    driver.until(TIMER_MS)
    record = driver.close()
    assert (record.code, record.deadline_turn, record.turns) == (TIMEOUT, "streaming", 0)
    assert driver.replay(tmp_path) == facts_of(record)


def test_an_answer_is_never_hurt_by_the_timer():
    driver = ByWord()
    driver.tool_turn()
    driver.attempt.answered()
    driver.until(10 * TIMER_MS)
    assert driver.sink.decisions == []
    assert driver.close().outcome == "answered"
