"""R14, R15: the bounds and their messages."""

import pytest

from otel_docsfab.core import (
    Category,
    Code,
    StopAttempt,
)
from tests.core.attempts import Attempt

QUICK = {"repeat_streak": 0, "re_reads": 100, "withheld": 1}


def test_r14_the_stop_comes_when_the_turn_ends_and_only_once():
    attempt = Attempt(limits=QUICK)
    attempt.turn()
    for _ in range(6):
        attempt.read()
    assert attempt.stops == 0
    attempt.turn()
    assert (attempt.stop.turn, attempt.stop.observed) == (1, 5)
    attempt.turn()
    attempt.turn_ends()
    attempt.end()
    assert attempt.stops == 1


@pytest.mark.parametrize("ending", ["turn", "turn_ends", "answer", "end"])
def test_r14_a_turn_ends_in_four_ways(ending):
    attempt = Attempt(limits=QUICK)
    for _ in range(3):
        attempt.read()
    getattr(attempt, ending)()
    assert attempt.stop.turn == 1


def test_r14_the_bound_is_exceeded_not_reached():
    attempt = Attempt(limits=QUICK)
    attempt.read()
    attempt.read()
    attempt.turn()
    assert attempt.stops == 0


def test_r14_a_reset_later_in_the_turn_prevents_the_stop():
    attempt = Attempt(limits=QUICK)
    for _ in range(6):
        attempt.read()
    attempt.edit()
    attempt.turn()
    assert attempt.stops == 0


def test_r14_a_call_without_an_open_turn_begins_one():
    attempt = Attempt()
    attempt.read()
    assert attempt.machine.turn == 1
    attempt.turn_ends()
    attempt.turn_ends()
    attempt.read()
    assert attempt.machine.turn == 2


def test_r14_a_late_result_is_looked_at_when_the_next_turn_ends():
    attempt = Attempt(limits=QUICK)
    for _ in range(3):
        attempt.turn()
        call = attempt.start("read", {"path": "a"})
        attempt.turn_ends()
        attempt.finish(call)
    assert attempt.stops == 0
    attempt.turn()
    assert attempt.stop.observed == 2


def test_r15_one_result_read_18_times():
    attempt = Attempt()
    attempt.reads(*["docs/a.md"] * 17)
    attempt.turn()
    assert attempt.stops == 0
    attempt.read("docs/a.md")
    attempt.turn_ends()
    assert attempt.stop == StopAttempt(
        Code.WITHHELD_READS,
        Category.NO_PROGRESS,
        "execution-read-loop-withheld-reads-bound: 9 exceeds execution.readLoopWithheldReads = 8 count.",
        "The model kept re-reading content it already had, most often read docs/a.md.",
        9,
        8,
        "execution.readLoopWithheldReads",
        18,
        retry_granted=True,
    )


def test_r15_two_results_alternating_keep_the_first_code():
    attempt = Attempt()
    while not attempt.stops:
        attempt.reads("a", "b")
    assert (attempt.stop.code, attempt.stop.observed, attempt.stop.limit) == (Code.WITHHELD_READS, 9, 8)


@pytest.mark.parametrize("results", [3, 4, 7, 16, 30])
def test_r15_a_cycle_through_three_or_more_stops_across_results(results):
    attempt = Attempt()
    while not attempt.stops:
        for n in range(results):
            attempt.reads(f"docs/{n}.md")
    assert attempt.stop.message == (
        "execution-read-loop-unchanged-re-reads-bound: 25 exceeds execution.readLoopUnchangedReReads = 16 count."
    )
    assert (attempt.stop.code, attempt.stop.category) == (Code.UNCHANGED_RE_READS, Category.NO_PROGRESS)
    assert (attempt.stop.observed, attempt.stop.limit) == (25, 16)
    assert attempt.stop.limit_name == "execution.readLoopUnchangedReReads"


CROSS = {"repeat_streak": 100, "re_reads": 1, "withheld": 1}


def test_r15_one_result_only_keeps_the_first_code_even_when_the_other_allowance_withheld():
    attempt = Attempt(limits=CROSS)
    attempt.reads(*["a"] * 4)
    attempt.turn()
    assert (attempt.stop.code, attempt.stop.observed) == (Code.WITHHELD_READS, 2)


@pytest.mark.parametrize("leave", [lambda a: a.compact(), lambda a: a.evict("1"), lambda a: a.evict_calls(READ_A)])
def test_r15_unless_a_result_left_the_context(leave):
    attempt = Attempt(limits=CROSS)
    attempt.read("a", call_id="1")
    leave(attempt)
    attempt.reads(*["a"] * 4)
    attempt.turn()
    assert (attempt.stop.code, attempt.stop.observed) == (Code.UNCHANGED_RE_READS, 3)


READ_A = ("read", {"path": "a"})


def test_r15_a_reset_forgets_what_was_re_read_and_what_left_before():
    attempt = Attempt(limits=CROSS)
    attempt.reads("a", "b", "b")
    attempt.compact()
    attempt.edit()
    attempt.reads(*["a"] * 5)
    attempt.turn()
    assert attempt.stop.code == Code.WITHHELD_READS


def test_r15_a_tie_of_the_allowances_keeps_the_first_code():
    attempt = Attempt(limits={"repeat_streak": 1, "re_reads": 2, "withheld": 1})
    attempt.reads("a", "b", "a", "a", "b")
    attempt.turn()
    assert attempt.stop.code == Code.WITHHELD_READS


def test_r15_the_sentence_names_the_read_that_came_most_and_of_equals_the_earliest():
    attempt = Attempt(limits={"withheld": 0})
    attempt.reads("a", "b", "b", "b", "a", "a", "c", *["c"] * 9)
    attempt.turn()
    assert attempt.stop.detail == "The model kept re-reading content it already had, most often read c."
    attempt = Attempt(limits={"re_reads": 3, "withheld": 0})
    attempt.reads("a", "b", "b", "b", "a", "a")
    attempt.turn()
    assert attempt.stop.detail.endswith("most often read a.")


def test_r16_a_stop_that_an_answer_comes_with_grants_no_retry():
    attempt = Attempt(limits=QUICK)
    attempt.turn()
    for _ in range(6):
        attempt.read()
    attempt.answer()
    assert (attempt.stop.retry_granted, attempt.machine.outcome) == (False, "answered")
