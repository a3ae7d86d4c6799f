"""What must hold in every runtime; each has a test class that inherits this."""

from __future__ import annotations

import functools
import json
from typing import Any, ClassVar

import pytest

from otel_docsfab.core import RetryOf, wording
from otel_docsfab.core.codes import Denial
from tests.frameworks.environments import run_in

CONTENT = "alpha alpha\nsecond line"
NOTICE = wording.notice("read", "a.md", 1)
LOOPED = ["deliver"] + ["deliver-with-notice"] * 8 + ["notice-only"] * 9
STOPPED = "execution-read-loop-withheld-reads-bound: 9 exceeds execution.readLoopWithheldReads = 8 count."


@functools.cache
def facts_of(environment: str, module: str) -> dict[str, dict[str, Any]]:
    """The facts of every story, played once."""
    told: dict[str, dict[str, Any]] = json.loads(
        run_in(environment, f"tests.frameworks.enforce.{module}").splitlines()[-1]
    )
    return told


class Bars:
    """Common bars.

    Attributes:
        environment: Name of the framework's environment.
        module: Module of its stories.
        beside: Whether the notice stands among the user parts, not among the parts of the tool's result.
    """

    environment: ClassVar[str]
    module: ClassVar[str]
    beside: ClassVar[bool] = False
    modes: ClassVar[tuple[str, ...]] = ("sync", "async", "stream")

    @pytest.fixture
    def facts(self) -> dict[str, dict[str, Any]]:
        return facts_of(self.environment, self.module)

    def received(self, request: dict[str, Any], number: int) -> list[str]:
        """Parts that the model got of its call number ``number``."""
        return list(request["results"][f"call_{number}_0"])

    def notices(self, request: dict[str, Any], number: int) -> list[str]:
        """Parts in which a notice of that call can stand."""
        return list(request["users"][-1:]) if self.beside else self.received(request, number)[1:]

    def test_notices_begin_with_the_second_of_identical_reads(self, facts, mode):
        requests = facts[f"loop-{mode}"]["requests"]
        assert len(requests) == 18
        assert self.received(requests[1], 1) == [CONTENT]
        assert NOTICE not in requests[1]["users"]
        for number in range(2, 10):
            assert self.received(requests[number], number)[0] == CONTENT
            assert self.notices(requests[number], number) == [NOTICE]

    def test_the_tenth_and_later_reads_are_the_notice_only(self, facts, mode):
        requests = facts[f"loop-{mode}"]["requests"]
        for number in range(10, 18):
            assert self.received(requests[number], number) == [NOTICE]

    def test_content_delivered_before_stays_as_it_was(self, facts, mode):
        last = facts[f"loop-{mode}"]["requests"][-1]
        assert [self.received(last, number)[0] for number in range(1, 10)] == [CONTENT] * 9

    def test_the_run_ends_after_the_eighteenth_read_with_the_exact_message(self, facts, mode):
        told = facts[f"loop-{mode}"]
        assert told["stop"] == STOPPED
        assert told["ran"]["read"] == 18
        assert told["verdicts"] == LOOPED
        [attempt] = told["attempts"]
        assert (attempt["outcome"], attempt["message"], attempt["turns"]) == ("failed", STOPPED, 18)
        assert attempt["enforced"]

    def test_observed_only_nothing_changes_and_the_counts_are_the_same(self, facts, mode):
        told, enforced = facts[f"loop-observed-{mode}"], facts[f"loop-{mode}"]
        assert told["answer"] == "the answer"
        assert told["verdicts"][:18] == enforced["verdicts"]
        assert told["decisions"] == enforced["decisions"]
        assert told["attempts"][0]["evidence"] == enforced["attempts"][0]["evidence"]
        last = told["requests"][-1]
        assert [self.received(last, number) for number in range(1, 21)] == [[CONTENT]] * 20
        assert last["users"] == told["requests"][0]["users"]

    def test_a_hook_that_fails_is_counted_and_the_run_is_as_without_it(self, facts, mode):
        told = facts[f"failing-{mode}"]
        assert told["faults"] == {"hook": 7}
        assert told["answer"] == "the answer"
        assert self.received(told["requests"][-1], 3) == [CONTENT]

    def test_r17_the_retry_says_why_and_its_first_withheld_read_asks(self, facts, waiting):
        told = facts[f"retry-{waiting}"]
        prompts = [request["users"] for request in told["requests"]]
        reason = wording.RETRY_PROMPTS[RetryOf.NO_PROGRESS]
        assert not any(reason in text for text in prompts[17])
        assert any(reason in text for text in prompts[18])
        first, second = told["attempts"]
        assert (first["attempt"], first["asked"], second["attempt"], second["asked"]) == (1, None, 2, ["read-loop", 10])
        assert first["run"] == second["run"]

    def test_r18_the_ask_withdraws_the_tools_and_is_in_the_next_request(self, facts, waiting):
        told = facts[f"retry-{waiting}"]
        before, after = told["requests"][27], told["requests"][28]
        assert set(before["tools"]) >= {"read", "edit"}
        assert wording.CONCLUDE_REQUEST not in before["users"]
        assert after["tools"] == []
        assert after["users"][-1] == wording.CONCLUDE_REQUEST

    def test_r19_calls_after_the_ask_are_denied_until_the_stop(self, facts, waiting):
        told = facts[f"retry-{waiting}"]
        assert told["ran"]["read"] == 28
        assert told["attempts"][1]["denied"] == {"read-loop": 8}
        assert told["more"] == {
            "outcome": "failed",
            "code": "execution-read-loop-withheld-reads-bound",
            "attempts": 2,
        }
        last = told["requests"][-1]
        assert self.received(last, 29) == [wording.denial("read", Denial.READ_LOOP)]
        assert [user for user in last["users"] if user == wording.CONCLUDE_REQUEST] == [wording.CONCLUDE_REQUEST]

    def test_an_answer_to_the_ask_is_the_answer(self, facts, waiting):
        told = facts[f"retry-heeded-{waiting}"]
        assert told["answer"] == "answered"
        assert told["more"]["outcome"] == "answered"
        assert told["attempts"][1]["asked"] == ["read-loop", 10]

    def test_r20_an_undeclared_step_is_never_asked(self, facts):
        told = facts["undeclared"]
        assert [attempt["asked"] for attempt in told["attempts"]] == [None, None]
        assert all(request["tools"] for request in told["requests"])

    def test_r22_the_submit_tool_stays_and_its_first_call_of_a_turn_runs(self, facts):
        told = facts["submits"]
        [attempt] = told["attempts"]
        assert attempt["asked"] == ["attempt-deadline", 1]
        assert attempt["denied"] == {"attempt-deadline": 2}
        assert [request["tools"] for request in told["requests"][1:]] == [["submit_quality_evaluation"]] * 3
        assert told["ran"] == {"read": 1, "edit": 0, "submit": 2}
        assert told["requests"][1]["users"][-1] == wording.CONCLUDE_REQUEST
        results = told["requests"][2]["results"]
        assert results["call_2_0"] == [wording.denial("read", Denial.ATTEMPT_DEADLINE)]
        assert results["call_2_1"] == ["submitted good"]

    def test_r10_an_edit_in_between_resets_the_counts(self, facts):
        told = facts["reset"]
        assert told["verdicts"] == ["deliver"] + ["deliver-with-notice"] * 8 + [
            "notice-only",
            "deliver",
            "deliver-with-notice",
        ]
        last = told["requests"][-1]
        assert self.received(last, 10) == [NOTICE]
        assert self.received(last, 12)[0] == CONTENT
        assert self.notices(last, 12) == [NOTICE]

    def test_parallel_calls_of_a_turn_are_judged_one_by_one(self, facts):
        told = facts["parallel"]
        assert told["ran"]["read"] == 6
        [attempt] = told["attempts"]
        assert attempt["turns"] == 3
        assert attempt["verdicts"] == {"deliver": 2, "deliver-with-notice": 3}
        assert attempt["evidence"]["max_repeats_of_one_result"] == 3
        assert set(told["requests"][1]["results"]) == {f"call_1_{place}" for place in range(5)}
        contents = [told["requests"][1]["results"][f"call_1_{place}"][0] for place in (0, 1, 4, 2)]
        assert contents == [CONTENT] * 3 + ["beta beta"]

    def test_the_hosts_attempt_is_used_and_left_open(self, facts):
        [attempt] = facts["host"]["attempts"]
        assert (attempt["run"], attempt["outcome"], attempt["agent"]) == ("of-the-host", "answered", "agent")
        assert attempt["verdicts"] == {"deliver": 1, "deliver-with-notice": 1}

    def test_runs_one_after_the_other_are_attempts_of_their_own(self, facts):
        told = facts["several"]
        assert [attempt["verdicts"] for attempt in told["attempts"]] == [{"deliver": 1}] * 2
        assert len({attempt["run"] for attempt in told["attempts"]}) == 2

    def test_a_subagent_is_an_attempt_of_its_own(self, facts):
        inner, outer = facts["subagent"]["attempts"]
        assert (inner["agent"], outer["agent"]) == ("sub", "agent")
        assert inner["verdicts"] == {"deliver": 1, "deliver-with-notice": 1}
        assert outer["calls"] == 3

    def test_a_subagents_stop_ends_the_subagent_and_not_the_run_around_it(self, facts):
        told = facts["subagent-loops"]
        inner, outer = told["attempts"]
        assert (inner["agent"], inner["outcome"], inner["message"]) == ("sub", "failed", STOPPED)
        assert (outer["agent"], outer["outcome"]) == ("agent", "answered")
        assert told["answer"] == "the answer"
        assert STOPPED in self.received(told["requests"][2], 2)[0]

    def test_r12a_what_left_the_context_is_given_again(self, facts):
        told = facts["eviction"]
        assert told["stop"] is None
        withheld = told["verdicts"].index("notice-only")
        assert told["verdicts"][withheld + 1] == "deliver"

    def test_every_call_has_a_result_when_the_attempt_is_stopped(self, facts):
        told = facts["pending"]
        assert told["stop"].startswith("execution-tool-call-ceiling-bound: 2 reaches")
        assert set(told["more"]["called"]) == set(told["more"]["returned"])
        assert len(told["more"]["called"]) == 4
        denied = wording.denial("read", Denial.CEILING)
        assert sum(denied in str(result) for result in told["more"]["returned"].values()) == 2

    def test_installing_gives_hooks_to_agents_made_or_run_afterwards(self, facts):
        assert facts["installed"]["verdicts"] == ["deliver", "deliver-with-notice"]
        assert self.notices(facts["installed"]["requests"][-1], 2) == [NOTICE]

    def test_beside_the_span_processor_each_call_is_judged_once(self, facts):
        told = facts["beside-processor"]
        assert told["verdicts"] == ["deliver"] + ["deliver-with-notice"] * 8 + ["notice-only"] * 3
        assert len(told["attempts"]) == 1
        assert told["more"]["spans"].get("judged", 0) == 0

    def test_spans_alone_give_the_same_verdicts(self, facts):
        alone, hooked = facts["processor-only"], facts["beside-processor"]
        assert alone["verdicts"] == hooked["verdicts"]
        assert alone["attempts"][0]["evidence"] == hooked["attempts"][0]["evidence"]
