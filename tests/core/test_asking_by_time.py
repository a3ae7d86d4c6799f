"""R20 to R22: conclude now, by the timer."""

import pytest

from otel_docsfab.core import (
    SUBMIT_TOOL,
    AnswerPath,
    AskForAnswer,
    Code,
    DeadlineTurn,
    Denial,
    EvaluateAnswer,
    Outcome,
    Output,
    OutputStarted,
    RequestEnded,
    Step,
    StepKind,
    Trigger,
)
from tests.core.attempts import Attempt

TIMER = 100_000  # ms; with the defaults asked at 45,000
ASK_AT = 45_000


def test_r20_asked_at_once_when_no_call_is_running():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    assert attempt.machine.next_wakeup_ms() == ASK_AT
    assert attempt.wait_until(ASK_AT - 1) == ()
    assert attempt.wait_until(ASK_AT) == (AskForAnswer(Trigger.ATTEMPT_DEADLINE, 1),)
    assert attempt.machine.next_wakeup_ms() == TIMER
    assert attempt.record["concludeNow"] == {"trigger": "attempt-deadline", "turn": 1}


def test_r20_a_running_call_keeps_its_verdict_and_the_turns_end_asks():
    attempt = Attempt(timer_ms=TIMER)
    running = attempt.start("read", {"path": "a"})
    assert attempt.wait_until(ASK_AT) == ()
    assert attempt.machine.next_wakeup_ms() == TIMER
    assert attempt.read("b").progress is not None  # of the same turn, before the ask
    assert attempt.finish(running).progress is not None
    assert attempt.turn() == (AskForAnswer(Trigger.ATTEMPT_DEADLINE, 1),)
    assert attempt.read("c").reason is Denial.ATTEMPT_DEADLINE


def test_r20_never_before_the_first_tool_turn():
    attempt = Attempt(timer_ms=TIMER)
    attempt.turn()
    attempt.wait_until(ASK_AT)
    attempt.turn()
    assert attempt.asks == []
    attempt.read()
    assert attempt.turn() == (AskForAnswer(Trigger.ATTEMPT_DEADLINE, 2),)


def test_r20_never_while_an_answer_streams():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.turn()
    attempt.tell(OutputStarted(Output.ANSWER))
    assert attempt.wait_until(ASK_AT) == ()
    assert attempt.answer() == (EvaluateAnswer(2, None),)
    assert attempt.asks == []


def test_r20_not_when_the_host_ends_the_turn_that_streams_an_answer():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.turn()
    attempt.tell(OutputStarted(Output.ANSWER))
    attempt.wait_until(ASK_AT)
    assert attempt.turn_ends() == ()
    assert attempt.answer() == (EvaluateAnswer(2, None),)
    assert "concludeNow" not in attempt.record


def test_r20_an_answer_that_broke_off_is_none_and_the_turns_end_asks():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.turn()
    attempt.tell(OutputStarted(Output.ANSWER))
    attempt.wait_until(ASK_AT)
    attempt.tell(RequestEnded())
    assert attempt.turn() == (AskForAnswer(Trigger.ATTEMPT_DEADLINE, 2),)


def test_r20_never_after_a_stop():
    attempt = Attempt(timer_ms=TIMER, limits={"ceiling": 1})
    attempt.read()
    attempt.turn()
    assert attempt.machine.next_wakeup_ms() is None
    attempt.wait_until(ASK_AT)
    attempt.wait_until(TIMER)
    assert attempt.asks == []
    assert attempt.stop.code == Code.TOOL_CALL_CEILING


def test_r20_never_after_an_answer():
    attempt = Attempt(timer_ms=TIMER)
    late = attempt.start("read", {"path": "a"})
    attempt.wait_until(ASK_AT)
    attempt.answer()
    assert attempt.machine.next_wakeup_ms() is None
    attempt.finish(late)
    attempt.turn()
    attempt.wait_until(TIMER)
    assert attempt.asks == []
    assert attempt.stops == 0


def test_r20_an_ask_never_comes_after_the_timer_however_late_the_machine_is_woken():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.tell(OutputStarted(Output.OTHER))
    attempt.wait_until(TIMER)
    assert attempt.asks == []
    assert attempt.stop.deadline_turn == DeadlineTurn.STREAMING


def test_r20_a_call_is_later_than_an_ask_when_it_starts_after_it():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    before = attempt.machine.mark
    attempt.wait_until(ASK_AT)
    assert attempt.call("read", {"path": "b"}, mark=before).progress is not None
    assert attempt.call("read", {"path": "c"}).reason is Denial.ATTEMPT_DEADLINE


@pytest.mark.parametrize("step", [Step("plan"), Step("plan", StepKind.WRITE)])
def test_r20_only_a_declared_read_only_step_is_asked(step):
    attempt = Attempt(step, timer_ms=TIMER)
    attempt.read()
    assert attempt.machine.next_wakeup_ms() == TIMER
    attempt.wait_until(TIMER - 1)
    assert attempt.asks == []


def test_r20_without_a_timer_there_is_no_ask():
    attempt = Attempt()
    attempt.read()
    assert attempt.machine.next_wakeup_ms() is None
    assert attempt.wait_until(10**12) == ()


def test_r21_the_reading_share_of_a_judgment_step_comes_first():
    attempt = Attempt(
        Step("plan", StepKind.READ_ONLY, judgment=True),
        timer_ms=TIMER,
        limits={"compositionExecution.answerNowElapsedShareBasisPoints": 3_000},
    )
    attempt.read()
    assert attempt.wait_until(30_000) == (AskForAnswer(Trigger.READING_BUDGET, 1),)
    assert attempt.read("b").reason is Denial.READING_BUDGET
    attempt.wait_until(ASK_AT)
    assert len(attempt.asks) == 1


def asked(path: AnswerPath | None, **more) -> Attempt:
    attempt = Attempt(Step("plan", StepKind.READ_ONLY, answer_path=path), timer_ms=TIMER, **more)
    attempt.read()
    attempt.wait_until(ASK_AT)
    assert attempt.asks
    return attempt


def test_r22_on_the_tool_call_path_the_first_submit_of_each_turn_runs():
    attempt = asked(AnswerPath.TOOL_CALL)
    for ok in (False, True):
        attempt.turn()
        assert attempt.call("read", {"path": "b"}).reason is Denial.ATTEMPT_DEADLINE
        assert attempt.call(SUBMIT_TOOL, {"score": 1}, ok=ok).verdict == "deliver"
        assert attempt.call(SUBMIT_TOOL, {"score": 1}).reason is Denial.ATTEMPT_DEADLINE
    assert attempt.machine.outcome is Outcome.OPEN  # it is a call, not an answer
    assert attempt.record["tools"]["denied"] == {"attempt-deadline": 4}


def test_r22_a_submit_before_the_ask_was_the_first_of_its_turn():
    attempt = Attempt(Step("plan", StepKind.READ_ONLY, answer_path=AnswerPath.TOOL_CALL), timer_ms=TIMER)
    attempt.turn()
    assert attempt.call(SUBMIT_TOOL, {"score": 1}).verdict == "deliver"
    attempt.wait_until(ASK_AT)
    assert attempt.call(SUBMIT_TOOL, {"score": 1}).reason is Denial.ATTEMPT_DEADLINE
    attempt.turn()
    assert attempt.call(SUBMIT_TOOL, {"score": 1}).verdict == "deliver"


@pytest.mark.parametrize("path", [None, AnswerPath.TEXT_FINAL])
def test_r22_on_no_other_path(path):
    attempt = asked(path)
    assert attempt.call(SUBMIT_TOOL, {"score": 1}).reason is Denial.ATTEMPT_DEADLINE


def test_r22_these_denials_are_not_charged_to_the_read_loop():
    attempt = asked(None)
    attempt.read()
    for _ in range(50):
        attempt.turn()
        attempt.read()
    assert attempt.stops == 0
    assert "readEvidence" not in attempt.record["tools"]


def test_r22_the_submit_exception_ends_at_the_ceiling():
    attempt = asked(AnswerPath.TOOL_CALL, limits={"ceiling": 2})
    attempt.start("bash", {}, mark=0)
    assert attempt.call(SUBMIT_TOOL, {"score": 1}).reason is Denial.CEILING
