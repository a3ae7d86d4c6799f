"""R23: where the timer found the attempt, and the code."""

import pytest

from otel_docsfab.core import (
    AnswerReturned,
    Category,
    Code,
    DeadlineTurn,
    Output,
    OutputStarted,
    RequestEnded,
    RequestSent,
    Step,
    StepKind,
)
from otel_docsfab.core.deadline import RequestState, deadline_code
from tests.core.attempts import Attempt

STALL, LOOP, TIMEOUT = Code.DEADLINE_AWAITING_PROVIDER, Code.DEADLINE_IN_TOOL_LOOP, Code.TIMEOUT
TIMER = 100_000
A, B, C, D, E = (
    DeadlineTurn.AWAITING_FIRST_BYTE,
    DeadlineTurn.STREAMING_ANSWER,
    DeadlineTurn.STREAMING_TOOL_CALL,
    DeadlineTurn.STREAMING,
    DeadlineTurn.BETWEEN_REQUESTS,
)


# position: code by (asked, called tools before) in the order: neither, tools, asked, both
@pytest.mark.parametrize(
    ("position", "codes"),
    [
        (A, (STALL, STALL, STALL, STALL)),
        (B, (TIMEOUT, TIMEOUT, TIMEOUT, TIMEOUT)),
        (C, (TIMEOUT, LOOP, TIMEOUT, TIMEOUT)),
        (D, (TIMEOUT, LOOP, TIMEOUT, TIMEOUT)),
        (E, (TIMEOUT, LOOP, TIMEOUT, LOOP)),
    ],
)
def test_r23_every_cell(position, codes):
    cells = [(False, False), (False, True), (True, False), (True, True)]
    got = [deadline_code(position, asked=a, any_tool_turn=t, earlier_tool_turn=t) for a, t in cells]
    assert tuple(got) == codes


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(("position", "code"), [(A, STALL), (B, TIMEOUT), (C, TIMEOUT), (D, TIMEOUT), (E, LOOP)])
def test_r23_streaming_needs_an_earlier_tool_turn_than_its_own(position, code, asked):
    assert deadline_code(position, asked=asked, any_tool_turn=True, earlier_tool_turn=False) is code


SENT, UNSEEN = RequestSent(), RequestSent(output_visible=False)
STREAM = {kind: OutputStarted(kind) for kind in Output}


@pytest.mark.parametrize(
    ("events", "position"),
    [
        ([], E),
        ([SENT], A),
        ([UNSEEN], D),
        ([SENT, STREAM[Output.ANSWER]], B),
        ([SENT, STREAM[Output.TOOL_CALL]], C),
        ([SENT, STREAM[Output.OTHER]], D),
        ([UNSEEN, STREAM[Output.ANSWER]], B),
        ([STREAM[Output.TOOL_CALL]], C),
        ([SENT, STREAM[Output.OTHER], STREAM[Output.ANSWER]], B),
        ([SENT, STREAM[Output.ANSWER], RequestEnded()], E),
        ([SENT, RequestEnded(), SENT], A),
        ([SENT, STREAM[Output.ANSWER], SENT], A),
    ],
)
def test_r23_the_machine_finds_the_position(events, position):
    attempt = Attempt(timer_ms=TIMER)
    attempt.turn()
    for event in events:
        attempt.tell(event)
    attempt.wait_until(TIMER)
    assert attempt.stop.deadline_turn is position
    assert attempt.record["deadlineTurn"] == position


def test_r23_an_answer_ends_the_request():
    state = RequestState()
    state.sent(output_visible=True)
    state.output(Output.ANSWER)
    assert state.answering
    state.ended()
    assert not state.answering
    assert state.position() is E


@pytest.mark.parametrize(
    ("position", "code", "category"),
    [
        (SENT, STALL, Category.PROVIDER_STALL),
        (STREAM[Output.ANSWER], TIMEOUT, Category.TIMEOUT),
        (STREAM[Output.TOOL_CALL], LOOP, Category.NO_PROGRESS),
        (STREAM[Output.OTHER], LOOP, Category.NO_PROGRESS),
        (RequestEnded(), LOOP, Category.NO_PROGRESS),
    ],
)
def test_r23_after_a_tool_turn(position, code, category):
    attempt = Attempt(Step("plan", StepKind.WRITE), timer_ms=TIMER)
    attempt.read()
    attempt.turn()
    attempt.tell(position)
    assert attempt.wait_until(TIMER - 1) == ()
    attempt.wait_until(TIMER)
    stop = attempt.stop
    assert (stop.code, stop.category, stop.turn, stop.retry_granted) == (code, category, 2, False)
    assert stop.message == f"{code}: the attempt timer compositionExecution.timeoutMs = {TIMER} ms ran out."
    assert (stop.observed, stop.limit, stop.limit_name) == (TIMER, TIMER, "compositionExecution.timeoutMs")
    assert attempt.machine.next_wakeup_ms() is None


@pytest.mark.parametrize("output", [Output.TOOL_CALL, Output.OTHER])
def test_r23_the_first_tool_turn_while_it_streams_is_a_timeout(output):
    attempt = Attempt(Step("plan", StepKind.WRITE), timer_ms=TIMER)
    attempt.turn()
    attempt.tell(STREAM[output])
    attempt.read()  # its first call runs while the rest streams
    attempt.wait_until(TIMER)
    assert attempt.stop.code is TIMEOUT


def test_r23_tools_running_in_the_first_tool_turn_are_in_the_tool_loop():
    attempt = Attempt(Step("plan", StepKind.WRITE), timer_ms=TIMER)
    attempt.start("bash", {})
    attempt.wait_until(TIMER)
    assert (attempt.stop.code, attempt.stop.deadline_turn) == (LOOP, E)


def test_r23_a_late_result_does_not_make_the_streaming_turn_the_one_that_called():
    attempt = Attempt(Step("plan", StepKind.WRITE), timer_ms=TIMER)
    call = attempt.start("bash", {})
    attempt.turn_ends()
    attempt.tell(STREAM[Output.TOOL_CALL])  # of the next response
    attempt.finish(call)
    attempt.wait_until(TIMER)
    assert attempt.stop.code is LOOP


@pytest.mark.parametrize("output", [Output.TOOL_CALL, Output.OTHER, Output.ANSWER])
def test_r23_streaming_after_an_ask_is_a_timeout(output):
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.wait_until(45_000)
    assert attempt.asks
    attempt.turn()
    attempt.tell(STREAM[output])
    attempt.wait_until(TIMER)
    assert attempt.stop.code is TIMEOUT


def test_r23_a_provider_that_stalls_after_an_ask_is_a_stall():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.wait_until(45_000)
    attempt.turn()
    attempt.tell(SENT)
    attempt.wait_until(TIMER)
    assert attempt.stop.code is STALL


def test_r23_the_timer_does_not_touch_an_answered_attempt():
    attempt = Attempt(timer_ms=TIMER)
    attempt.turn()
    attempt.tell(AnswerReturned())
    attempt.wait_until(2 * TIMER)
    assert attempt.stops == 0
    assert "deadlineTurn" not in attempt.record
