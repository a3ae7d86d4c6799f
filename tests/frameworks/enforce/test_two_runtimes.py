from __future__ import annotations

import pytest

from tests.frameworks.enforce.bars import LOOPED, NOTICE, STOPPED, facts_of

pytestmark = pytest.mark.framework


@pytest.fixture
def facts():
    return facts_of("two_runtimes", "two_runtimes_stories")


@pytest.mark.parametrize("way", ["async", "threads"])
def test_agents_of_two_runtimes_at_once_do_not_mix(facts, way):
    told = facts[way]
    assert len(told["attempts"]) == 8
    assert {attempt["message"] for attempt in told["attempts"]} == {STOPPED}
    assert {attempt["turns"] for attempt in told["attempts"]} == {18}
    counts = {"deliver": 1, "deliver-with-notice": 8, "notice-only": 9}
    assert all(attempt["verdicts"] == counts for attempt in told["attempts"])
    assert len({attempt["run"] for attempt in told["attempts"]}) == 8
    assert told["more"]["stops"] == [STOPPED] * 8
    assert told["more"]["requests"] == [18] * 8
    assert sorted(told["verdicts"]) == sorted(LOOPED * 8)


def test_an_agent_of_one_as_a_tool_of_the_other_is_an_attempt_of_its_own(facts):
    inner, outer = facts["inside"]["attempts"]
    assert inner["run"] == outer["run"]
    assert (inner["calls"], outer["calls"]) == (2, 3)
    assert inner["verdicts"] == outer["verdicts"] == {"deliver": 1, "deliver-with-notice": 1}
    assert facts["inside"]["requests"][-1]["users"][-1] == NOTICE


def test_instrument_picks_the_adapters_of_what_is_there_and_takes_them_away(facts):
    told = facts["instrumented"]
    assert told["verdicts"] == ["deliver", "deliver-with-notice"] * 2
    assert len(told["attempts"]) == 2
    assert not told["more"]["wrapped"]
