from __future__ import annotations

import pytest

from otel_docsfab.core import wording
from tests.frameworks.enforce.bars import CONTENT, LOOPED, NOTICE, STOPPED, Bars

pytestmark = pytest.mark.framework


class TestClaudeAgentSDK(Bars):
    environment = "claude_agent_sdk"
    module = "claude_agent_sdk_stories"
    modes = ("async",)

    def test_r18_the_ask_withdraws_the_tools_and_is_in_the_next_request(self, facts, waiting):
        """The program keeps its tools listed: a lever that it lacks, and says so at set-up."""
        before, after = facts[f"retry-{waiting}"]["requests"][27:29]
        assert wording.CONCLUDE_REQUEST not in before["users"]
        assert after["users"][-1] == wording.CONCLUDE_REQUEST

    def test_r22_the_submit_tool_stays_and_its_first_call_of_a_turn_runs(self, facts):
        """Time passes in the stub's tools only, which this runtime does not have: the run just answers."""
        assert facts["submits"]["answer"] == "answered"

    def test_an_answer_to_the_ask_is_the_answer(self, facts, waiting):
        """So the scripted model cannot see it by the tools; it goes on and is denied."""
        assert facts[f"retry-heeded-{waiting}"]["attempts"][1]["asked"] == ["read-loop", 10]

    def test_the_hosts_attempt_is_used_and_left_open(self, facts):
        [attempt] = facts["host"]["attempts"]
        assert (attempt["run"], attempt["outcome"]) == ("of-the-host", "answered")
        assert attempt["verdicts"] == {"deliver": 1, "deliver-with-notice": 1}

    def test_a_subagent_is_an_attempt_of_its_own(self, facts):
        """It runs in the background: what it says comes as a prompt, and so an attempt, of its own."""
        attempts = facts["subagent"]["attempts"]
        inner = next(attempt for attempt in attempts if attempt["agent"] == "sub")
        outer = next(attempt for attempt in attempts if attempt["agent"] is None)
        assert inner["verdicts"] == {"deliver": 1, "deliver-with-notice": 1}
        assert (outer["calls"], outer["run"]) == (3, inner["run"])

    def test_a_subagents_stop_ends_the_subagent_and_not_the_run_around_it(self, facts):
        told = facts["subagent-loops"]
        inner = next(attempt for attempt in told["attempts"] if attempt["agent"] == "sub")
        assert (inner["outcome"], inner["message"], inner["calls"]) == ("failed", STOPPED, 18)
        assert told["stop"] is None
        assert told["answer"] == "the answer"

    def test_r12a_what_left_the_context_is_given_again(self, facts):
        """The program tells of compactions only, of the whole context (R12)."""
        told = facts["compaction"]
        assert told["verdicts"] == [*LOOPED[:10], "deliver", "deliver-with-notice"]

    def test_a_clients_stopped_response_ends_and_the_record_says_why(self, facts):
        told = facts["loop-stream"]
        assert told["attempts"][0]["message"] == STOPPED
        assert told["verdicts"] == LOOPED
        assert len(told["requests"]) == 18

    def test_nothing_is_withheld_unless_it_is_told_to(self, facts):
        told = facts["cautious"]
        assert told["verdicts"] == LOOPED[:12]
        assert self.received(told["requests"][-1], 12) == [CONTENT, NOTICE]
