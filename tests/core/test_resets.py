"""R10 to R13: resets, compactions, evictions."""

import pytest

from otel_docsfab.core import PROGRESS_TOOLS, Code, Progress
from tests.core.attempts import DELIVER, NOTICE_ONLY, WITH_NOTICE, Attempt, counts

SMALL = {"repeat_streak": 1, "re_reads": 2, "withheld": 2}


@pytest.mark.parametrize("tool", sorted(PROGRESS_TOOLS))
def test_r10_a_new_progress_call_sets_every_count_to_zero(tool):
    attempt = Attempt(limits=SMALL)
    attempt.reads("a", "a", "a", "a")
    assert attempt.call(tool, {"x": 1}).progress is Progress.PROGRESS_CALL
    assert counts(attempt.read("a")) == (WITH_NOTICE, 1, 1)  # what was seen stays known
    assert counts(attempt.read("a")) == (NOTICE_ONLY, 2, 2)
    attempt.read("a")
    attempt.turn()
    assert attempt.stops == 0
    attempt.read("a")
    attempt.turn()
    assert attempt.stop.observed == 3


def test_r10_the_first_turn_stays_after_a_reset():
    attempt = Attempt()
    attempt.reads("a", "b")
    attempt.edit()
    assert attempt.read("a").first_turn == 1


def test_r11_an_identical_progress_call_leaves_the_counts():
    attempt = Attempt(limits=SMALL)
    attempt.edit("one")
    attempt.reads("a", "a")
    again = attempt.edit("one")
    assert again.progress is None
    assert counts(attempt.read("a")) == (NOTICE_ONLY, 2, 2)
    assert attempt.edit("two").progress is Progress.PROGRESS_CALL


def test_r11_a_failed_one_leaves_them_too_and_its_first_success_is_new():
    attempt = Attempt(limits=SMALL)
    attempt.reads("a", "a")
    attempt.edit("one", ok=False)
    assert attempt.read("a").repeats == 2
    assert attempt.edit("one").progress is Progress.PROGRESS_CALL
    assert attempt.read("a").repeats == 1


def test_r11_progress_calls_past_the_table_count_as_new():
    attempt = Attempt(max_results=1)
    assert [attempt.edit(text).progress is not None for text in ("one", "two", "two", "one")] == [
        True,
        True,
        True,
        False,
    ]


def test_r12_the_first_read_of_an_epoch_is_free_and_its_turn_is_the_first():
    attempt = Attempt(limits=SMALL)
    attempt.reads("a", "b", "a", "a")
    attempt.compact()
    attempt.turn()
    assert counts(attempt.read("a")) == (DELIVER, None, None)
    again = attempt.read("a")
    assert counts(again) == (NOTICE_ONLY, 1, 3)  # repeat counts go to zero, the cross-result count is kept
    assert again.first_turn == 5
    assert attempt.read("b").progress is None
    assert attempt.read("c").progress is Progress.NEW_CONTENT


def test_r12_one_return_an_epoch_is_never_counted():
    attempt = Attempt()
    for _ in range(100):
        attempt.turn()
        assert attempt.read().repeats is None
        attempt.compact()
    assert attempt.stops == 0


def test_r12_two_returns_an_epoch_end_on_the_cross_result_code():
    attempt = Attempt()
    for _ in range(25):
        attempt.reads("a", "a")
        attempt.compact()
    attempt.turn()
    assert (attempt.stop.code, attempt.stop.observed) == (Code.UNCHANGED_RE_READS, 25)


def test_r12_a_compaction_keeps_what_r10_knows_and_the_notice_only_count():
    attempt = Attempt(limits=SMALL)
    attempt.edit("one")
    attempt.reads("a", "a", "a", "a")
    attempt.compact()
    assert attempt.edit("one").progress is None
    attempt.read("a")
    attempt.read("a")
    attempt.turn()
    assert attempt.stop.observed == 3


def test_r12a_a_result_leaves_when_every_call_that_delivered_it_is_evicted():
    attempt = Attempt(limits={"repeat_streak": 2})
    attempt.read(call_id="1")
    attempt.read(call_id="2")
    attempt.evict("1")
    assert counts(attempt.read(call_id="3")) == (WITH_NOTICE, 2, 2)
    attempt.turn()
    attempt.evict("2", "3")
    free = attempt.read(call_id="4")
    assert (counts(free), free.progress) == ((DELIVER, None, None), None)
    again = attempt.read(call_id="5")
    assert counts(again) == (WITH_NOTICE, 1, 3)
    assert again.first_turn == 2


def test_r12a_other_results_stay():
    attempt = Attempt()
    attempt.read("a", call_id="1")
    attempt.read("b", call_id="2")
    attempt.evict("1")
    assert attempt.read("b").repeats == 1
    assert attempt.read("a").verdict is DELIVER


def test_r12a_evicting_a_notice_only_or_unknown_call_changes_nothing():
    attempt = Attempt(limits={"repeat_streak": 0})
    attempt.read(call_id="1")
    attempt.read(call_id="2")
    attempt.evict("2", "nobody")
    assert counts(attempt.read(call_id="3")) == (NOTICE_ONLY, 2, 2)


def test_r12a_by_tool_and_arguments_every_delivery_is_gone():
    attempt = Attempt()
    attempt.read("a", "A", call_id="1")
    attempt.read("a", "A")
    attempt.read("a", "B")
    attempt.read("b", "A")
    attempt.evict_calls(("read", {"path": "a"}), ("read", {"path": "never"}))
    assert attempt.read("a", "A").verdict is DELIVER
    assert attempt.read("a", "B").verdict is DELIVER
    assert attempt.read("b", "A").verdict is WITH_NOTICE
    assert attempt.read("a", "A").verdict is WITH_NOTICE


def test_r12a_by_tool_and_arguments_again_and_after_a_compaction():
    attempt = Attempt()
    a = ("read", {"path": "a"})
    attempt.read("a", call_id="1")
    for _ in range(3):
        attempt.evict_calls(a)
        attempt.evict_calls(a)
        assert attempt.read("a").verdict is DELIVER
        assert attempt.read("a").verdict is WITH_NOTICE
    attempt.compact()
    attempt.evict_calls(a)
    assert attempt.read("a").verdict is DELIVER
    assert attempt.read("a").verdict is WITH_NOTICE
    attempt.evict_calls(a)
    assert attempt.read("a").verdict is DELIVER


def test_r12a_a_call_whose_result_is_gone_already_cannot_evict_a_newer_delivery():
    attempt = Attempt()
    attempt.read(call_id="1")
    attempt.evict_calls(("read", {"path": "docs/a.md"}))
    assert attempt.read(call_id="2").verdict is DELIVER
    attempt.evict("1")
    assert counts(attempt.read(call_id="3")) == (WITH_NOTICE, 1, 1)


def test_r12a_calls_of_an_earlier_epoch_are_gone_already():
    attempt = Attempt()
    attempt.read(call_id="1")
    attempt.compact()
    attempt.read(call_id="2")
    attempt.evict("1")
    assert attempt.read().verdict is WITH_NOTICE


def test_r12a_an_id_that_was_used_twice_evicts_both():
    attempt = Attempt()
    attempt.read("a", call_id="0")
    attempt.read("b", call_id="0")
    attempt.read("a", call_id="0")
    assert attempt.read("a", call_id="1").repeats == 2
    attempt.evict("0")
    assert attempt.read("b").verdict is DELIVER
    assert attempt.read("a").verdict is WITH_NOTICE  # call 1 delivered it too
    attempt.evict("1")
    attempt.evict("0")
    assert attempt.read("b").verdict is WITH_NOTICE


def test_r12a_a_delivery_that_no_eviction_could_name_does_not_count_as_in_context():
    attempt = Attempt(max_results=2)  # so many deliveries by id are told apart: twice this and one
    for n in range(5):
        attempt.read("a", call_id=str(n))
    assert attempt.read("b", call_id="past the table").progress is Progress.NEW_CONTENT
    assert attempt.read("b", call_id="past it too").verdict is DELIVER


def test_r13_maxima_and_totals_survive_resets_and_compactions():
    attempt = Attempt(limits=SMALL)
    attempt.reads("a", "a", "a", "b", "b")
    attempt.edit()
    attempt.compact()
    attempt.reads("a", "a")
    assert attempt.record["tools"]["readEvidence"] == {
        "unchangedReReads": 4,
        "readLoopWithheld": 2,
        "maxRepeatsOfOneResult": 2,
        "maxUnchangedReReadsAcrossResults": 3,
    }
