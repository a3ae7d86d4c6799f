"""R6, R15, R17: what is said to a model or a person."""

import pytest

from otel_docsfab.core import READ_TOOLS, AnswerPath, Code, Denial, RetryOf, Step, StepKind
from otel_docsfab.core.wording import (
    CONCLUDE_REQUEST,
    NOTICE_MARK,
    RETRY_PROMPTS,
    bound_message,
    denial,
    is_own_notice,
    notice,
    stop_detail,
)
from tests.core.attempts import Attempt

PATH = "docs/a/long/way/down/ü.md"


def test_r06_a_notice_names_tool_path_and_first_turn_and_says_that_nothing_is_lost():
    text = notice("read", PATH, 3)
    assert text.startswith(f"{NOTICE_MARK} read {PATH} ")
    assert "turn 3" in text
    assert "current" in text
    assert text.count("Next:") == 1
    assert "\n" not in text


@pytest.mark.parametrize("tool", [*sorted(READ_TOOLS), "m" * 64])
def test_r06_a_notice_is_under_200_bytes_plus_the_path(tool):
    for turn in (1, 999_999):
        assert len(notice(tool, PATH, turn).encode()) - len(PATH.encode()) < 200


def test_r06_a_notice_is_the_same_for_every_repeat():
    attempt = Attempt()
    texts = set()
    for effect in attempt.reads(*["a"] * 17)[1:]:
        texts.add(notice(effect.tool, effect.subject, effect.first_turn))
    assert len(texts) == 1


def test_r06_a_subject_that_is_unknown_leaves_no_gap():
    assert notice("ls", "", 1).startswith(f"{NOTICE_MARK} ls is unchanged")


def test_r06_own_words_are_known_by_making_them_again_never_by_likeness():
    own = notice("read", PATH, 12)
    assert is_own_notice(own, "read", PATH)
    for reason in Denial:
        assert is_own_notice(denial("read", reason), "read", PATH)
    for text in (
        own + " ",
        own.replace("turn 12", "turn twelve"),
        own.replace("Next:", "next:"),
        own[len(NOTICE_MARK) :],
        f"{NOTICE_MARK} about {PATH}",
        NOTICE_MARK + "x" * 3_000,
        own.encode(),
        None,
    ):
        assert not is_own_notice(text, "read", PATH)
    assert not is_own_notice(own, "read", "docs/other.md")
    assert not is_own_notice(own, "grep", PATH)


def test_r15_r17_messages_to_the_letter():
    name = "execution.readLoopWithheldReads"
    assert bound_message(Code.WITHHELD_READS, 9, name, 8) == (
        "execution-read-loop-withheld-reads-bound: 9 exceeds execution.readLoopWithheldReads = 8 count."
    )
    name = "execution.readLoopUnchangedReReads"
    assert bound_message(Code.UNCHANGED_RE_READS, 25, name, 16) == (
        "execution-read-loop-unchanged-re-reads-bound: 25 exceeds execution.readLoopUnchangedReReads = 16 count."
    )
    assert bound_message(Code.TOOL_CALL_CEILING, 512, "execution.toolCallCeiling", 512) == (
        "execution-tool-call-ceiling-bound: 512 reaches execution.toolCallCeiling = 512 count."
    )


def test_r15_the_sentence_for_people_names_tool_and_path():
    assert stop_detail(Code.WITHHELD_READS, ("read", PATH)).endswith(f"most often read {PATH}.")
    assert stop_detail(Code.TOOL_CALL_CEILING, None) == "Every tool call the step allows was used without an answer."


def test_r17_each_retry_prompt_says_what_the_attempt_before_did():
    assert "kept re-reading content it already had" in RETRY_PROMPTS[RetryOf.NO_PROGRESS]
    assert "used every tool call the step allows without answering" in RETRY_PROMPTS[RetryOf.TOOL_CALL_CEILING]
    assert RETRY_PROMPTS.keys() == set(RetryOf)


def test_r18_the_ask_withdraws_the_tools_and_wants_the_answer():
    assert "Tools are withdrawn" in CONCLUDE_REQUEST
    assert "answer from what you have already read" in CONCLUDE_REQUEST


@pytest.mark.parametrize("reason", Denial)
def test_r19_a_denial_says_that_the_call_was_not_run(reason):
    assert denial("read", reason).startswith(f"{NOTICE_MARK} read was not run.")


def test_r27_the_message_holds_no_path_and_the_detail_does():
    step = Step("plan", StepKind.READ_ONLY, answer_path=AnswerPath.TEXT_FINAL)
    attempt = Attempt(step, limits={"repeat_streak": 0, "withheld": 0})
    attempt.reads(PATH, PATH)
    attempt.turn()
    assert PATH in attempt.stop.detail
    assert PATH not in attempt.stop.message
    assert PATH not in str(attempt.record)
