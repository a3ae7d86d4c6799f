"""R18, R19: conclude now, in a retry."""

import pytest

from otel_docsfab.core import (
    SUBMIT_TOOL,
    AnswerPath,
    AskForAnswer,
    CloseAttempt,
    Code,
    Denial,
    DenyCall,
    EvaluateAnswer,
    Outcome,
    RetryOf,
    Step,
    StepKind,
    Trigger,
)
from tests.core.attempts import NOTICE_ONLY, Attempt, retry

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


def test_r18_an_attempt_that_ends_is_not_asked_any_more():
    attempt = retry(limits=STREAK_1)
    attempt.reads("a", "a", "a")
    assert attempt.end() == (CloseAttempt(Outcome.CANCELLED, None),)


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
