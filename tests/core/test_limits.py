"""SPEC section 2: the limits' table, ranges and names."""

import pytest

from otel_docsfab.core import LIMITS, Limits
from otel_docsfab.core.limits import camel_case, limit_spec
from otel_docsfab.errors import LimitError


@pytest.mark.parametrize("spec", LIMITS, ids=lambda spec: spec.name)
def test_each_limit_takes_its_range_and_nothing_else(spec):
    for good in (spec.minimum, spec.default, min(spec.maximum, 10**9)):
        assert Limits.of({spec.name: good}).get(spec.name) == good
    for bad in (spec.minimum - 1, spec.maximum + 1, True, 1.0, "8", None):
        with pytest.raises(LimitError) as error:
            Limits.of({spec.name: bad})
        assert spec.name in str(error.value)
        assert repr(bad) in str(error.value)
        assert spec.unit in str(error.value)


def test_counts_latency_and_share_may_be_0_and_the_rest_may_not():
    assert {spec.name.rpartition(".")[2] for spec in LIMITS if spec.minimum == 0} == {
        "readLoopRepeatStreak",
        "readLoopUnchangedReReads",
        "readLoopWithheldReads",
        "maxNoProgressRetries",
        "answerNowTurnLatencyMs",
        "answerNowElapsedShareBasisPoints",
    }


def test_any_step_may_have_an_answer_plan():
    name = "compositionExecution.answerPlan.writeSummaryTokens"
    limits = Limits.of({name: 800})
    assert limits.get(name) == limits.planned_tokens("write-summary") == 800
    assert Limits().get(name) == Limits().planned_tokens("write-summary") == 4_000
    assert limits.planned_tokens("review-documentation") == 8_700
    assert limits.planned_tokens(None) == 4_000
    with pytest.raises(LimitError):
        Limits.of({name: 0})


def test_limits_build_on_a_base():
    base = Limits.of({"execution.readLoopRepeatStreak": 3, "compositionExecution.answerPlan.aTokens": 5})
    limits = Limits.of({"execution.toolCallCeiling": 7}, base)
    assert (limits.repeat_streak, limits.tool_call_ceiling, limits.planned_tokens("a")) == (3, 7, 5)
    assert base.tool_call_ceiling == 512


@pytest.mark.parametrize("name", ["readLoopRepeatStreak", "compositionExecution.answerPlan.XTokens", ""])
def test_a_name_that_is_no_limit_is_refused(name):
    assert limit_spec(name) is None
    with pytest.raises(LimitError):
        Limits.of({name: 1})
    with pytest.raises(KeyError):
        Limits().get(name)


@pytest.mark.parametrize("given", [{"repeat_streak": -1}, {"answer_tokens": {"a": 0}}, {"answer_tokens": {"Ä b": -1}}])
def test_values_in_code_are_checked_too(given):
    with pytest.raises(LimitError):
        Limits(**given)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("review-documentation", "reviewDocumentation"),
        ("evaluate-document-quality", "evaluateDocumentQuality"),
        ("Plan", "plan"),
        ("snake_case step", "snakeCaseStep"),
        ("alreadyCamel", "alreadyCamel"),
        ("-odd-", "odd"),
        ("", ""),
    ],
)
def test_a_step_in_camel_case(step, name):
    assert camel_case(step) == name


def test_a_long_value_is_shortened_in_the_error():
    with pytest.raises(LimitError) as error:
        Limits.of({"execution.toolCallCeiling": "9" * 500})
    assert len(str(error.value)) < 250
