"""R16, R17: answers after a stop, the retry, the ceiling."""

import pytest

from otel_docsfab.core import (
    Category,
    Code,
    Denial,
    DenyCall,
    EvaluateAnswer,
    Limits,
    Outcome,
    RetryOf,
    StopAttempt,
)
from otel_docsfab.core.retry import retry_granted
from tests.core.attempts import NOTICE_ONLY, WITH_NOTICE, Attempt, retry

QUICK = {"repeat_streak": 0, "re_reads": 100, "withheld": 1}


def test_r16_a_turn_without_calls_is_an_answer_even_after_the_bound_was_crossed():
    attempt = Attempt(limits=QUICK)
    attempt.reads(*["a"] * 3)
    attempt.turn()
    assert attempt.machine.outcome is Outcome.FAILED
    assert attempt.machine.code is Code.WITHHELD_READS
    assert attempt.answer() == (EvaluateAnswer(4, None),)
    assert (attempt.machine.outcome, attempt.machine.code) == (Outcome.ANSWERED, None)
    record = attempt.record
    assert record["outcome"] == "answered"
    assert record["stop"]["code"] == "execution-read-loop-withheld-reads-bound"
    assert record["stop"]["retryGranted"] is False  # no retry follows
    assert "code" not in record


def test_r16_answered_means_evaluated_and_the_host_may_reject():
    attempt = Attempt()
    attempt.turn()
    assert attempt.answer(valid=False) == (EvaluateAnswer(1, valid=False),)
    assert (attempt.machine.outcome, attempt.machine.code) == (Outcome.REJECTED, Code.ANSWER_REJECTED)
    assert attempt.record["category"] == "contract"
    attempt.answer(valid=True)
    assert attempt.machine.outcome is Outcome.ANSWERED


def test_r16_calls_after_a_stop_are_denied_and_counted_apart():
    attempt = Attempt(limits=QUICK)
    attempt.reads(*["a"] * 3)
    attempt.turn()
    before = attempt.record["tools"]
    denied = [attempt.call(tool, {"path": "a"}) for tool in ("read", "edit", "bash", "submit_quality_evaluation")]
    assert denied == [DenyCall(4 + n, d.tool, 4, Denial.STOPPED) for n, d in enumerate(denied)]
    after = attempt.record["tools"]
    assert after["callsAfterStop"] == 4
    assert after["readEvidence"] == before["readEvidence"]
    assert after["calls"] == before["calls"] == 3
    assert after["stall"] == before["stall"]


def test_r16_a_call_that_started_before_the_stop_still_gets_its_verdict():
    attempt = Attempt(limits=QUICK)
    late = attempt.start("read", {"path": "a"})
    attempt.reads(*["a"] * 3)
    mark = attempt.machine.mark
    attempt.turn()
    assert attempt.finish(late).verdict is NOTICE_ONLY
    assert attempt.call("read", {"path": "b"}, mark=mark).progress is not None
    assert attempt.call("read", {"path": "b"}, mark=attempt.machine.mark).reason is Denial.STOPPED


@pytest.mark.parametrize("code", [Code.WITHHELD_READS, Code.UNCHANGED_RE_READS])
def test_r17_one_retry_follows_a_read_loop_stop(code):
    assert retry_granted(code, 0, Limits()) is RetryOf.NO_PROGRESS
    assert retry_granted(code, 1, Limits()) is None
    assert retry_granted(code, 1, Limits(max_no_progress_retries=2)) is RetryOf.NO_PROGRESS
    assert retry_granted(code, 0, Limits(max_no_progress_retries=0)) is None


def test_r17_the_ceiling_has_the_same_budget_and_deadlines_have_none():
    assert retry_granted(Code.TOOL_CALL_CEILING, 0, Limits()) is RetryOf.TOOL_CALL_CEILING
    assert retry_granted(Code.TOOL_CALL_CEILING, 1, Limits()) is None
    rest = [Code.TIMEOUT, Code.DEADLINE_IN_TOOL_LOOP, Code.DEADLINE_AWAITING_PROVIDER, Code.ANSWER_REJECTED]
    assert [retry_granted(code, 0, Limits(max_no_progress_retries=9)) for code in rest] == [None] * 4


@pytest.mark.parametrize(
    ("given", "granted"),
    [
        ({}, True),
        ({"number": 3}, True),  # retries of another kind use no budget
        ({"number": 2, "retry_of": RetryOf.NO_PROGRESS}, False),
        ({"number": 2, "retry_of": RetryOf.TOOL_CALL_CEILING}, False),
        ({"number": 4, "retry_of": RetryOf.NO_PROGRESS, "retries_used": 0}, True),
        ({"retries_used": 1}, False),
    ],
)
def test_r17_the_machine_knows_what_is_left_of_the_budget(given, granted):
    attempt = Attempt(limits={"ceiling": 1}, **given)
    attempt.read()
    attempt.turn()
    assert attempt.stop.retry_granted is granted
    assert attempt.record["stop"]["retryGranted"] is granted


def test_r17_the_ceiling_counts_every_call_that_ran():
    attempt = Attempt(limits={"ceiling": 3})
    attempt.turn()
    attempt.read()
    attempt.edit()
    attempt.call("bash", {"x": 1}, ok=False)
    assert attempt.read("b") == DenyCall(4, "read", 1, Denial.CEILING)
    attempt.turn()
    assert attempt.stop == StopAttempt(
        Code.TOOL_CALL_CEILING,
        Category.NO_PROGRESS,
        "execution-tool-call-ceiling-bound: 3 reaches execution.toolCallCeiling = 3 count.",
        "Every tool call the step allows was used without an answer.",
        3,
        3,
        "execution.toolCallCeiling",
        1,
        retry_granted=True,
    )
    assert attempt.record["tools"]["denied"] == {"tool-call-ceiling": 1}


def test_r17_the_ceiling_is_reached_whether_or_not_a_call_was_denied():
    attempt = Attempt(limits={"ceiling": 2})
    attempt.reads("a", "a")
    attempt.turn()
    assert attempt.stop.observed == 2
    assert attempt.stop.detail.endswith(", most often read a.")


def test_r17_a_read_loop_stop_of_the_same_turn_wins():
    attempt = Attempt(limits=QUICK | {"ceiling": 3})
    for _ in range(4):
        attempt.read()
    attempt.turn()
    assert attempt.stop.code == Code.WITHHELD_READS


def test_r17_an_answer_at_the_ceiling_counts():
    attempt = Attempt(limits={"ceiling": 1})
    attempt.read()
    attempt.answer()
    assert attempt.stop.code == Code.TOOL_CALL_CEILING
    assert attempt.machine.outcome is Outcome.ANSWERED


def test_r17_a_retry_starts_from_nothing():
    attempt = retry()
    assert attempt.read().progress is not None
    assert attempt.read().verdict is WITH_NOTICE
