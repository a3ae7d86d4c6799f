"""R1 to R9: judging a read."""

import pytest

from otel_docsfab.core import LIMITS, PROGRESS_TOOLS, READ_TOOLS, Limits, Progress, ToolClass, Verdict
from otel_docsfab.core.tools import DOCSFAB_TOOLS
from tests.core.attempts import DELIVER, NOTICE_ONLY, WITH_NOTICE, Attempt, counts


def test_r00_the_source_names_its_tools():
    assert len(READ_TOOLS) == 14
    assert len(PROGRESS_TOOLS) == 6
    assert {DOCSFAB_TOOLS.classify(tool).tool_class for tool in READ_TOOLS} == {ToolClass.READ}
    assert {DOCSFAB_TOOLS.classify(tool).tool_class for tool in PROGRESS_TOOLS} == {ToolClass.PROGRESS}
    neutral = DOCSFAB_TOOLS.classify("bash", {"command": "ls"})
    assert (neutral.tool_class, neutral.arguments) == (ToolClass.NEUTRAL, {"command": "ls"})


def test_r00_the_source_gives_its_limits():
    given = {spec.name: spec.default for spec in LIMITS}
    assert given["execution.readLoopRepeatStreak"] == 8
    assert given["execution.readLoopUnchangedReReads"] == 16
    assert given["execution.readLoopWithheldReads"] == 8
    assert given["retry.maxNoProgressRetries"] == 1
    assert given["compositionExecution.timeoutMs"] == 300_000
    assert all(Limits().get(name) == value for name, value in given.items())


@pytest.mark.parametrize("tool", sorted(READ_TOOLS))
def test_r01_the_same_identity_again_is_an_unchanged_re_read(tool):
    attempt = Attempt()
    first = attempt.call(tool, {"path": "a"}, "A")
    again = attempt.call(tool, {"path": "a"}, "A")
    assert counts(first) == (DELIVER, None, None)
    assert counts(again) == (WITH_NOTICE, 1, 1)


def test_r01_the_call_id_is_no_part_of_the_identity():
    attempt = Attempt()
    attempt.read(call_id="one")
    assert counts(attempt.read(call_id="two")) == (WITH_NOTICE, 1, 1)
    assert counts(attempt.read(call_id="one")) == (WITH_NOTICE, 2, 2)
    assert counts(attempt.read()) == (WITH_NOTICE, 3, 3)


def test_r01_a_runtime_that_reuses_its_call_ids_is_judged_all_the_same():
    attempt = Attempt()
    for _ in range(60):  # a model that alternates; every turn's only call is "call_0"
        for path in ("a", "b"):
            attempt.turn()
            last = attempt.read(path, call_id="call_0")
    attempt.turn()
    assert attempt.stop.observed == 9
    assert last.call == 120


def test_r01_an_empty_result_is_content():
    attempt = Attempt()
    assert attempt.read(content="").progress is Progress.NEW_CONTENT
    assert counts(attempt.read(content="")) == (WITH_NOTICE, 1, 1)


@pytest.mark.parametrize(
    ("tool", "arguments", "content"),
    [
        ("read", {"path": "docs/a.md"}, "B"),
        ("read", {"path": "docs/a.md", "offset": 10}, "A"),
        ("read", {"path": "docs/b.md"}, "A"),
        ("get_section", {"path": "docs/a.md"}, "A"),
        ("ls", {"path": "docs"}, "A"),
    ],
)
def test_r02_new_content_is_delivered_and_not_counted(tool, arguments, content):
    attempt = Attempt(limits={"repeat_streak": 0, "re_reads": 0, "withheld": 100})
    attempt.read()
    assert counts(attempt.read()) == (NOTICE_ONLY, 1, 1)
    new = attempt.call(tool, arguments, content)
    assert counts(new) == (DELIVER, None, None)
    assert new.progress is Progress.NEW_CONTENT
    assert counts(attempt.read()) == (NOTICE_ONLY, 2, 2)


def test_r03_each_re_read_counts_once_for_its_result_and_once_for_all():
    attempt = Attempt()
    seen = [counts(effect) for effect in attempt.reads("a", "b", "a", "b", "a")]
    assert seen == [
        (DELIVER, None, None),
        (DELIVER, None, None),
        (WITH_NOTICE, 1, 1),
        (WITH_NOTICE, 1, 2),
        (WITH_NOTICE, 2, 3),
    ]


def test_r03_content_that_comes_back_under_one_call_is_an_unchanged_re_read():
    attempt = Attempt()
    assert attempt.read(content="A").verdict is DELIVER
    assert attempt.read(content="B").verdict is DELIVER
    assert counts(attempt.read(content="A")) == (WITH_NOTICE, 1, 1)


def test_r04_eight_re_reads_of_one_result_are_delivered_and_the_ninth_is_not():
    effects = Attempt().reads(*["a"] * 10)
    assert [effect.verdict for effect in effects] == [DELIVER, *[WITH_NOTICE] * 8, NOTICE_ONLY]


def test_r04_a_verification_pass_over_16_files_is_delivered_in_full():
    files = [f"docs/{n}.md" for n in range(16)]
    attempt = Attempt()
    effects = attempt.reads(*files, *files)
    assert {effect.verdict for effect in effects[16:]} == {WITH_NOTICE}
    assert effects[-1].cross_result == 16
    assert attempt.read(files[0]).verdict is NOTICE_ONLY


@pytest.mark.parametrize(
    ("streak", "re_reads", "verdict"),
    [(1, 1, WITH_NOTICE), (0, 1, NOTICE_ONLY), (1, 0, NOTICE_ONLY), (0, 0, NOTICE_ONLY)],
)
def test_r05_past_either_allowance_the_notice_replaces_the_result(streak, re_reads, verdict):
    attempt = Attempt(limits={"repeat_streak": streak, "re_reads": re_reads})
    attempt.read()
    assert attempt.read().verdict is verdict


def test_r06_the_effect_names_tool_path_and_first_turn():
    attempt = Attempt()
    attempt.turn()
    attempt.turn()
    attempt.read("docs/guide.md")
    for _ in range(10):
        attempt.turn()
        effect = attempt.read("docs/guide.md")
        assert (effect.tool, effect.subject, effect.first_turn) == ("read", "docs/guide.md", 2)
        assert effect.turn == attempt.machine.turn


def test_r06_an_own_notice_is_not_counted_not_remembered_and_no_progress():
    attempt = Attempt()
    for _ in range(3):
        effect = attempt.finish(attempt.start("read", {"path": "a"}), "[docsfab] …", own_notice=True)
        assert (effect.verdict, effect.repeats, effect.progress, effect.ok) == (DELIVER, None, None, True)
    assert attempt.read("a", "[docsfab] …").progress is Progress.NEW_CONTENT
    assert attempt.record["tools"]["verdicts"] == {"deliver": 1}
    assert attempt.record["tools"]["stall"]["longestStretchCalls"] == 0


def test_r07_a_notice_only_read_past_both_allowances_is_charged_to_its_own_result():
    attempt = Attempt(limits={"repeat_streak": 1, "re_reads": 1, "withheld": 1})
    attempt.reads("a", "b", "a", "a", "b")  # a past both; b past the cross-result allowance only
    attempt.turn()
    assert attempt.stop.code == "execution-read-loop-withheld-reads-bound"  # one each: a tie


@pytest.mark.parametrize("tool", ["read", "bash", "edit"])
def test_r08_a_failed_call_changes_nothing(tool):
    attempt = Attempt(limits={"repeat_streak": 1, "re_reads": 1})
    attempt.read()
    attempt.read()
    for _ in range(3):
        failed = attempt.call(tool, {"path": "docs/a.md"}, "A", ok=False)
        assert (failed.verdict, failed.repeats, failed.progress, failed.ok) == (DELIVER, None, None, False)
    assert counts(attempt.read()) == (NOTICE_ONLY, 2, 2)


def test_r08_a_failed_read_is_not_remembered_as_content():
    attempt = Attempt()
    attempt.read(ok=False)
    assert attempt.read().progress is Progress.NEW_CONTENT


def test_r08_repeats_of_a_failed_read_and_of_a_progress_call_are_recorded():
    attempt = Attempt(max_results=2)
    for _ in range(4):
        attempt.read(ok=False)
    attempt.edit("one", ok=False)
    attempt.edit("one")
    attempt.edit("one")
    attempt.read("b", ok=False)
    for _ in range(9):
        attempt.read("a third that no row is left for", ok=False)
    attempt.read(ok=False)  # a known one still counts
    attempt.call("read", None, ok=False)
    attempt.call("bash", {"command": "x"}, ok=False)
    stall = attempt.record["tools"]["stall"]
    assert (stall["maxRepeatedFailedReads"], stall["maxRepeatedProgressCalls"]) == (4, 2)
    assert attempt.stops == 0


@pytest.mark.parametrize("tool", ["bash", "submit_quality_evaluation", "edit", "canon_propose_claim"])
def test_r09_results_of_other_tools_are_delivered_and_never_counted(tool):
    attempt = Attempt(limits={"repeat_streak": 0, "re_reads": 0})
    for _ in range(30):
        assert counts(attempt.call(tool, {"x": 1})) == (DELIVER, None, None)
    assert "readEvidence" not in attempt.record["tools"]
    assert Verdict.DELIVER not in attempt.record["tools"]["verdicts"]
