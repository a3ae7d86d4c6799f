"""R24, R25, R27 to R30: what an attempt leaves behind."""

from __future__ import annotations

import json

import pytest

from otel_docsfab.core import (
    FINDINGS,
    AttemptRecord,
    Category,
    Code,
    EvaluateAnswer,
    Outcome,
    Progress,
    RetryOf,
    Step,
    StepKind,
    Unjudged,
)
from otel_docsfab.core.codes import RETRIED
from tests.core.attempts import Attempt, retry


def test_r24_an_attempt_that_re_read_nothing_unchanged_has_no_evidence():
    attempt = Attempt()
    attempt.reads("a", "b")
    attempt.compact()
    attempt.reads("a", "b")
    assert "readEvidence" not in attempt.record["tools"]
    assert attempt.machine.record().read_evidence is None


def test_r24_the_four_counts():
    attempt = Attempt(limits={"repeat_streak": 1, "re_reads": 3})
    attempt.reads("a", "b", "a", "a", "b", "b", "a")
    assert attempt.record["tools"]["readEvidence"] == {
        "unchangedReReads": 5,
        "readLoopWithheld": 3,
        "maxRepeatsOfOneResult": 3,
        "maxUnchangedReReadsAcrossResults": 5,
    }


def test_r24_the_longest_stretch_without_progress_in_calls_and_turns():
    attempt = Attempt()
    attempt.reads("a", "a", "a", "b", *["b"] * 4)
    attempt.turn()
    attempt.call("bash", {}, ok=False)
    attempt.turn()
    assert attempt.record["tools"]["stall"] == {
        "longestStretchCalls": 5,
        "longestStretchTurns": 5,
        "maxRepeatedFailedReads": 0,
        "maxRepeatedProgressCalls": 0,
    }


@pytest.mark.parametrize(
    ("last", "progress"),
    [
        (lambda a: a.read("new"), True),
        (lambda a: a.edit("new"), True),
        (lambda a: a.call("bash", {}), True),
        (lambda a: a.read("a"), False),
        (lambda a: a.edit("one"), False),
        (lambda a: a.call("bash", {}, ok=False), False),
        (lambda a: a.read("new", None), False),
    ],
)
def test_r24_a_stretch_ends_with_progress(last, progress):
    attempt = Attempt()
    attempt.read("a")
    attempt.edit("one")
    attempt.read("a")
    last(attempt)
    attempt.read("a")
    assert attempt.record["tools"]["stall"]["longestStretchCalls"] == (1 if progress else 3)


def test_r24_nothing_happened_is_no_stretch_and_calls_before_the_first_progress_count():
    attempt = Attempt()
    assert set(attempt.record["tools"]["stall"].values()) == {0}
    attempt.read(ok=False)
    attempt.read(ok=False)
    assert attempt.record["tools"]["stall"]["longestStretchCalls"] == 2


def test_r24_turns_before_the_first_progress_count_and_those_after_a_stop_do_not():
    attempt = Attempt(limits={"repeat_streak": 0, "withheld": 0})
    for _ in range(3):
        attempt.turn()
        attempt.read(ok=False)
    attempt.turn()
    assert attempt.record["tools"]["stall"]["longestStretchTurns"] == 3
    attempt.reads("a", "a")
    for _ in range(9):
        attempt.turn()
    assert attempt.stops == 1
    assert attempt.record["tools"]["stall"]["longestStretchTurns"] == 4  # turn 4 was without calls


def test_r25_the_ask_is_recorded_with_trigger_and_turn():
    attempt = retry(limits={"repeat_streak": 0})
    attempt.reads("a", "a")
    assert "concludeNow" not in attempt.record
    attempt.turn()
    assert attempt.record["concludeNow"] == {"trigger": "read-loop", "turn": 2}
    assert attempt.machine.asked == attempt.machine.record().conclude_now


# what: progress of R28
PROGRESS = [
    ("new content read", lambda a: a.read("new"), Progress.NEW_CONTENT),
    ("new bytes of a known file", lambda a: a.read("a", "B"), Progress.NEW_CONTENT),
    ("a new progress-class call", lambda a: a.edit("two"), Progress.PROGRESS_CALL),
    ("a neutral tool's result", lambda a: a.call("bash", {}), Progress.NEUTRAL_RESULT),
    ("an unchanged re-read", lambda a: a.read("a"), None),
    ("one under another call id", lambda a: a.read("a", call_id="else"), None),
    ("a repeated progress-class call", lambda a: a.edit("one"), None),
    ("a failed read", lambda a: a.read("new", ok=False), None),
    ("a failed progress-class call", lambda a: a.edit("two", ok=False), None),
    ("a failed neutral call", lambda a: a.call("bash", {}, ok=False), None),
    ("an unjudged read", lambda a: a.read("new", None), None),
    ("an own notice", lambda a: a.finish(a.start("read", {"path": "x"}), "…", own_notice=True), None),
    ("an own notice of a neutral tool", lambda a: a.finish(a.start("bash", {}), "…", own_notice=True), None),
    ("a progress-class call with unknown arguments", lambda a: a.call("edit", None), None),
    ("the free first return of an epoch", lambda a: (a.compact(), a.read("a"))[1], None),
]


@pytest.mark.parametrize(("do", "progress"), [row[1:] for row in PROGRESS], ids=[row[0] for row in PROGRESS])
def test_r28_progress(do, progress):
    attempt = Attempt()
    attempt.read("a")
    attempt.edit("one")
    before = sum(attempt.record["tools"]["progress"].values())
    assert do(attempt).progress is progress
    assert sum(attempt.record["tools"]["progress"].values()) - before == (progress is not None)


def test_r28_an_answer_is_progress_and_a_denied_call_is_none():
    attempt = Attempt(limits={"ceiling": 1})
    attempt.read()
    attempt.read("b")
    (answer,) = [effect for effect in attempt.answer() if isinstance(effect, EvaluateAnswer)]
    assert answer.progress is Progress.ANSWER
    assert attempt.record["tools"]["progress"] == {"new-content": 1, "answer": 1}


RESULT_REASONS = [reason for reason in Unjudged if reason.value.startswith("result")]
ARGUMENT_REASONS = [reason for reason in Unjudged if reason.value.startswith("arguments")]


@pytest.mark.parametrize("reason", RESULT_REASONS)
def test_r29_a_read_whose_result_is_unknown_is_unjudged(reason):
    attempt = Attempt(limits={"repeat_streak": 0, "re_reads": 0})
    attempt.read("a", "A")
    for _ in range(3):
        effect = attempt.finish(attempt.start("read", {"path": "a"}), None, result_reason=reason)
        assert (effect.unjudged, effect.verdict, effect.repeats) == (reason, "deliver", None)
    assert attempt.record["tools"]["unjudged"] == {reason.value: 3}
    assert attempt.record["tools"]["verdicts"] == {"deliver": 1}
    assert attempt.read("a", "A").repeats == 1


@pytest.mark.parametrize("reason", [*ARGUMENT_REASONS, Unjudged.AGENTS_MIXED])
def test_r29_so_is_one_whose_arguments_are_unknown(reason):
    attempt = Attempt()
    for _ in range(2):
        effect = attempt.finish(attempt.start("read", None, arguments_reason=reason))
        assert (effect.unjudged, effect.verdict, effect.progress) == (reason, "deliver", None)


def test_r29_an_unknown_failed_read_is_just_failed():
    attempt = Attempt()
    assert attempt.call("read", None, None, ok=False).unjudged is None
    assert attempt.record["tools"]["unjudged"] == {}


def test_r29_neutral_and_progress_calls_are_judged_by_their_status_alone():
    attempt = Attempt()
    assert attempt.call("bash", None, None).progress is Progress.NEUTRAL_RESULT
    assert attempt.call("edit", {"a": 1}, None).progress is Progress.PROGRESS_CALL
    assert attempt.call("edit", {"a": 1}, None).progress is None


def test_r29_a_progress_call_with_unknown_arguments_resets_each_time():
    attempt = Attempt()
    attempt.reads("a", "a")
    for _ in range(2):
        assert attempt.call("edit", None).progress is None
        assert attempt.read("a").repeats == 1
    attempt.call("edit", None, ok=False)
    assert attempt.read("a").repeats == 2


def full_record() -> AttemptRecord:
    attempt = Attempt(
        Step("plan", StepKind.READ_ONLY),
        limits={"repeat_streak": 0},
        number=2,
        retry_of=RetryOf.NO_PROGRESS,
        timer_ms=100_000,
    )
    attempt.reads("a", "a")
    attempt.turn()
    attempt.wait_until(100_000)
    return attempt.machine.record()


def test_the_record_in_the_sources_words():
    assert full_record().as_dict() == {
        "stepId": "plan",
        "stepKind": "read-only",
        "attempt": 2,
        "retryOf": "no-progress",
        "enforced": False,
        "durationMs": 100_000,
        "turns": 3,
        "outcome": "failed",
        "code": "attempt-deadline-in-tool-loop",
        "category": "no-progress",
        "stop": {
            "code": "attempt-deadline-in-tool-loop",
            "category": "no-progress",
            "message": "attempt-deadline-in-tool-loop: the attempt timer compositionExecution.timeoutMs"
            " = 100000 ms ran out.",
            "observed": 100_000,
            "limit": 100_000,
            "limitName": "compositionExecution.timeoutMs",
            "turn": 3,
            "retryGranted": False,
        },
        "concludeNow": {"trigger": "read-loop", "turn": 2},
        "deadlineTurn": "between-requests",
        "tools": {
            "calls": 2,
            "denied": {},
            "callsAfterStop": 0,
            "verdicts": {"deliver": 1, "notice-only": 1},
            "unjudged": {},
            "progress": {"new-content": 1},
            "stall": {
                "longestStretchCalls": 1,
                "longestStretchTurns": 1,
                "maxRepeatedFailedReads": 0,
                "maxRepeatedProgressCalls": 0,
            },
            "readEvidence": {
                "unchangedReReads": 1,
                "readLoopWithheld": 1,
                "maxRepeatsOfOneResult": 1,
                "maxUnchangedReReadsAcrossResults": 1,
            },
        },
    }


def test_the_record_is_json_as_it_is_and_absent_facts_are_left_out():
    assert json.loads(json.dumps(full_record().as_dict())) == full_record().as_dict()
    assert set(Attempt(Step()).record) == {"attempt", "enforced", "durationMs", "turns", "outcome", "tools"}


def test_r30_a_record_says_whether_verdicts_took_effect():
    assert full_record().as_dict()["enforced"] is False  # the supervisor sets it


def test_closed_lists_of_codes_and_outcomes():
    assert {code.value: (f.category.value, f.owner, f.cause) for code, f in FINDINGS.items()} == {
        "execution-read-loop-withheld-reads-bound": ("no-progress", "model-progress", "read-loop-stopped"),
        "execution-read-loop-unchanged-re-reads-bound": ("no-progress", "model-progress", "read-loop-stopped"),
        "execution-tool-call-ceiling-bound": ("no-progress", "model-progress", "tool-call-ceiling-reached"),
        "attempt-deadline-in-tool-loop": ("no-progress", "model-progress", "deadline-in-tool-loop"),
        "attempt-deadline-awaiting-provider": ("provider-stall", "provider", "provider-stalled"),
        "timeout": ("timeout", "budget", "attempt-timed-out"),
        "answer-rejected": ("contract", "model-answer", "answer-rejected"),
    }
    assert FINDINGS.keys() == set(Code)
    assert {finding.category for finding in FINDINGS.values()} == set(Category)
    assert RETRIED.keys() == {Code.WITHHELD_READS, Code.UNCHANGED_RE_READS, Code.TOOL_CALL_CEILING}
    assert set(Outcome) == {"answered", "rejected", "failed", "cancelled", "abandoned", "open"}


def test_the_category_of_a_record_is_its_codes():
    assert full_record().category is Category.NO_PROGRESS
    assert Attempt().machine.record().category is None
