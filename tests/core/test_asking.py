"""R18 to R22: conclude now."""

import pytest

from otel_docsfab.core import (
    SUBMIT_TOOL,
    AnswerPath,
    AskForAnswer,
    Code,
    Denial,
    DenyCall,
    EvaluateAnswer,
    Outcome,
    Output,
    OutputStarted,
    RequestEnded,
    RetryOf,
    Step,
    StepKind,
    Trigger,
)
from tests.core.attempts import NOTICE_ONLY, READ_ONLY, Attempt, retry

LOOP = AskForAnswer(Trigger.READ_LOOP, 3)
STREAK_1 = {"repeat_streak": 1}
TIMER = 100_000  # ms; with the defaults asked at 45,000
ASK_AT = 45_000


@pytest.mark.parametrize("reason", RetryOf)
def test_r18_the_first_notice_only_read_of_a_retry_asks_after_its_turn(reason):
    attempt = retry(reason, limits=STREAK_1)
    attempt.reads("a", "a", "a")
    assert attempt.asks == []
    assert attempt.turn() == (LOOP,)
    assert attempt.record["concludeNow"] == {"trigger": "read-loop", "turn": 3}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"number": 2},
        {"step": Step("plan", StepKind.WRITE), "number": 2, "retry_of": RetryOf.NO_PROGRESS},
        {"step": Step("plan"), "number": 2, "retry_of": RetryOf.NO_PROGRESS},
    ],
)
def test_r18_nobody_else_is_asked(given):
    attempt = Attempt(limits=STREAK_1, **given)
    attempt.reads(*["a"] * 7)
    assert attempt.asks == []
    assert "concludeNow" not in attempt.record


def test_r18_a_reset_later_in_the_turn_does_not_withdraw_it():
    attempt = retry(limits=STREAK_1)
    attempt.reads("a", "a", "a")
    attempt.edit()
    assert attempt.turn() == (LOOP,)


def test_r18_when_the_turn_ends_in_a_stop_nothing_was_asked():
    attempt = retry(limits=STREAK_1 | {"withheld": 0})
    attempt.reads("a", "a", "a")
    attempt.turn()
    assert attempt.stop.turn == 3
    assert attempt.asks == []
    assert "concludeNow" not in attempt.record


def test_r18_an_answer_that_ends_the_turn_needs_no_ask():
    attempt = retry(limits=STREAK_1)
    attempt.reads("a", "a", "a")
    assert attempt.answer() == (EvaluateAnswer(3, None),)
    attempt.turn()
    assert attempt.asks == []


@pytest.mark.parametrize("path", [None, *AnswerPath])
def test_r19_every_later_call_is_denied_and_charged_until_the_stop(path):
    attempt = retry(step=Step("plan", StepKind.READ_ONLY, answer_path=path), limits=STREAK_1)
    attempt.reads("a", "a", "a")
    attempt.turn()
    for n, tool in enumerate(["read", "edit", "bash", SUBMIT_TOOL, "read", "read", "read"]):
        assert attempt.call(tool, {"n": n}) == DenyCall(4 + n, tool, 4 + n, Denial.READ_LOOP)
        attempt.turn()
    assert attempt.stops == 0
    attempt.read("new")
    attempt.turn()
    assert (attempt.stop.code, attempt.stop.observed) == (Code.WITHHELD_READS, 9)
    assert attempt.stop.retry_granted is False
    assert attempt.machine.outcome is Outcome.FAILED
    assert attempt.record["tools"]["readEvidence"]["readLoopWithheld"] == 9
    assert attempt.record["tools"]["denied"] == {"read-loop": 8}
    assert attempt.record["tools"]["stall"]["longestStretchCalls"] == 10


def test_r19_denials_are_charged_to_the_allowance_that_raised_the_ask():
    attempt = retry(limits={"re_reads": 2, "withheld": 2})
    attempt.reads("a", "b", "a", "b", "a")
    attempt.turn()
    assert attempt.asks
    attempt.read("c")
    attempt.read("c")
    attempt.turn()
    assert (attempt.stop.code, attempt.stop.observed) == (Code.UNCHANGED_RE_READS, 3)


def test_r19_the_first_notice_only_read_of_the_turn_says_which():
    attempt = retry(limits={"repeat_streak": 1, "re_reads": 2, "withheld": 4})
    attempt.reads("a", "b", "a", "b")
    attempt.turn()
    assert attempt.read("b").verdict is NOTICE_ONLY  # past its own
    attempt.read("d")
    attempt.read("d")  # past the cross-result allowance only
    attempt.turn()
    for _ in range(3):
        attempt.read("c")
    attempt.turn()
    assert (attempt.stop.code, attempt.stop.observed) == (Code.WITHHELD_READS, 5)


def test_r19_an_answer_after_the_ask_counts():
    attempt = retry(limits=STREAK_1)
    attempt.reads("a", "a", "a")
    attempt.turn()
    attempt.answer(valid=True)
    assert attempt.machine.outcome is Outcome.ANSWERED
    assert attempt.record["concludeNow"] == {"trigger": "read-loop", "turn": 3}


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


def test_r20_the_moment_is_not_lost_when_nobody_woke_the_machine():
    attempt = Attempt(timer_ms=TIMER)
    attempt.read()
    attempt.tell(OutputStarted(Output.OTHER))
    attempt.wait_until(TIMER)
    assert attempt.asks == [AskForAnswer(Trigger.ATTEMPT_DEADLINE, 1)]
    assert attempt.stop.code == Code.TIMEOUT  # R23: streaming after an ask


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


def test_r22_of_two_triggers_at_the_end_of_a_turn_read_loop_is_recorded():
    attempt = retry(limits=STREAK_1, timer_ms=TIMER)
    attempt.reads("a", "a", "a")
    assert attempt.wait_until(ASK_AT) == ()  # the turn's own ask is on its way
    assert attempt.turn() == (LOOP,)
    attempt.wait_until(ASK_AT + 1)
    attempt.turn()
    assert attempt.asks == [LOOP]


def test_r22_an_attempt_is_asked_once():
    attempt = retry(limits=STREAK_1, timer_ms=TIMER)
    running = [attempt.start("read", {"path": "a"}) for _ in range(4)]
    attempt.finish(running[0])
    attempt.finish(running[1])
    attempt.finish(running[2])
    attempt.turn()
    assert attempt.finish(running[3]).verdict is NOTICE_ONLY
    attempt.wait_until(ASK_AT)
    attempt.turn()
    assert attempt.asks == [AskForAnswer(Trigger.READ_LOOP, 1)]


def test_r22_the_default_step_of_these_tests_is_read_only():
    assert READ_ONLY.kind is StepKind.READ_ONLY
