"""R20, R21: when a step is asked, to the source's numbers."""

from dataclasses import replace

import pytest

from otel_docsfab.core import JUDGMENT_STEPS, AskTime, Limits, Step, StepKind, Trigger, ask_time, reserve_ms

DEADLINE, SHARE = Trigger.ATTEMPT_DEADLINE, Trigger.READING_BUDGET
REVIEW = Step("review-documentation", StepKind.READ_ONLY, judgment=True)
QUALITY = Step("evaluate-document-quality", StepKind.READ_ONLY, judgment=True)


@pytest.mark.parametrize(("step", "at_ms"), [(REVIEW, 181_250), (QUALITY, 102_500)])
def test_r20_the_sources_numbers_on_300000_ms(step, at_ms):
    assert ask_time(step, 300_000, Limits()) == AskTime(at_ms, DEADLINE)


@pytest.mark.parametrize("step", [REVIEW, QUALITY])
def test_r21_on_1800000_ms_the_reading_share_decides_for_both_judgment_steps(step):
    assert ask_time(step, 1_800_000, Limits()) == AskTime(1_260_000, SHARE)
    assert ask_time(replace(step, judgment=False), 1_800_000, Limits()).trigger is DEADLINE


def test_r21_the_judgment_steps_by_default():
    assert {"review-documentation", "evaluate-document-quality"} == JUDGMENT_STEPS


@pytest.mark.parametrize(
    ("tokens", "reserve"),
    [
        (4_000, 55_000),
        (8_192, 107_400),
        (8_193, 112_413),  # one continuation; 102,412.5 ms of decoding, rounded up
        (16_384, 214_800),
        (16_385, 219_813),
        (1, 5_013),
    ],
)
def test_r20_decoding_plus_a_latency_for_the_answer_and_each_continuation(tokens, reserve):
    assert reserve_ms(tokens, Limits()) == reserve


def test_r20_the_latency_may_be_0():
    assert reserve_ms(8_000, Limits(turn_latency_ms=0)) == 100_000


@pytest.mark.parametrize(
    ("step", "at_ms"),
    [
        (Step("plan", StepKind.READ_ONLY), 245_000),  # the default plan
        (Step(None, StepKind.READ_ONLY), 245_000),
        (Step("plan", StepKind.READ_ONLY, answer_tokens=8_000), 195_000),
        (Step("write-summary", StepKind.READ_ONLY), 285_000),
    ],
)
def test_r20_tokens_are_the_steps_own_else_its_plan_entry_else_the_default(step, at_ms):
    limits = Limits.of({"compositionExecution.answerPlan.writeSummaryTokens": 800})
    assert ask_time(step, 300_000, limits) == AskTime(at_ms, DEADLINE)


def test_r20_never_below_0():
    assert ask_time(QUALITY, 1_000, Limits()) == AskTime(0, DEADLINE)


def test_r21_a_share_is_rounded_up_and_must_be_strictly_earlier():
    step = Step("plan", StepKind.READ_ONLY, judgment=True)
    quick = Limits(decode_tokens_per_second=1_000, default_answer_tokens=1, turn_latency_ms=0, elapsed_share_bp=9_999)
    assert ask_time(step, 10_001, quick) == AskTime(10_000, DEADLINE)  # both at 10,000: 9,999.9999 rounded up
    assert ask_time(step, 20_000, quick) == AskTime(19_998, SHARE)
    assert ask_time(step, 20_000, replace(quick, elapsed_share_bp=0)) == AskTime(0, SHARE)
    assert ask_time(step, 20_000, replace(quick, elapsed_share_bp=10_000)) == AskTime(19_999, DEADLINE)


@pytest.mark.parametrize("step", [Step("plan"), Step("plan", StepKind.WRITE, judgment=True)])
def test_r20_r22_write_and_undeclared_steps_are_never_asked(step):
    assert ask_time(step, 300_000, Limits()) is None


def test_r20_nor_is_one_without_a_timer():
    assert ask_time(REVIEW, None, Limits()) is None
