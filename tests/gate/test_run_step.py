"""A step, its retry of R17 and the evaluation of its answer (R16), sync and async from the same scripts."""

from __future__ import annotations

import asyncio

import pytest

from otel_docsfab import AttemptStopped, Code, LimitError, Outcome, RetryOf, Supervisor, Trigger
from otel_docsfab.core import Denial, wording
from otel_docsfab.testing import Answer, Call, MemorySink, ScriptedAgent, Turn

READ = Turn(Call("read", {"path": "a.md"}))
LOOP = [READ] * 30
TOOLS = {"read": lambda path: f"content of {path}", "bash": lambda command: "ok"}
WITHHELD, CEILING = Code.WITHHELD_READS, Code.TOOL_CALL_CEILING


class SyncRunner:
    """Runs steps with ``run_step``."""

    def __init__(self, **options):
        self.sink = MemorySink()
        self.supervisor = Supervisor(sinks=[self.sink], **{"mode": "enforce", **options})

    async def run(self, *agents, validate=None, step="plan", tools=TOOLS, **options):
        agents = iter(agents)
        return self.supervisor.run_step(
            step, lambda attempt: next(agents).run(attempt, tools), validate=validate, **options
        )


class AsyncRunner(SyncRunner):
    """Runs the same with ``arun_step``."""

    async def run(self, *agents, validate=None, step="plan", tools=TOOLS, **options):
        agents = iter(agents)
        return await self.supervisor.arun_step(
            step, lambda attempt: next(agents).arun(attempt, tools), validate=validate, **options
        )


@pytest.fixture(params=[SyncRunner, AsyncRunner], ids=["sync", "async"])
def runner_of(request):
    return request.param


@pytest.fixture
def runner(runner_of):
    return runner_of()


async def test_an_answer_at_once_is_one_attempt(runner):
    result = await runner.run(ScriptedAgent([READ, Answer("done")]))
    assert (result.answer, result.outcome, result.code, result.ok) == ("done", Outcome.ANSWERED, None, True)
    assert len(result.attempts) == 1
    assert result.attempts[0].attempt == 1
    assert runner.supervisor.live_attempts == 0


async def test_r17_a_read_loop_gets_one_retry_whose_prompt_says_why(runner):
    first, second = ScriptedAgent([*LOOP, Answer("late")]), ScriptedAgent([READ, Answer("done")])
    result = await runner.run(first, second, kind="read-only")
    assert len(first.results) == 18  # the next gated call ended the run
    assert first.prompts == []
    assert second.prompts == [wording.RETRY_PROMPTS[RetryOf.NO_PROGRESS]]
    assert (result.answer, result.ok) == ("done", True)
    stopped, retried = result.attempts
    assert (stopped.outcome, stopped.code, stopped.stop.retry_granted) == (Outcome.FAILED, WITHHELD, True)
    assert stopped.stop.message == f"{WITHHELD}: 9 exceeds execution.readLoopWithheldReads = 8 count."
    assert (retried.attempt, retried.retry_of) == (2, RetryOf.NO_PROGRESS)
    assert stopped.run_id == retried.run_id
    assert [record.run_id for record in runner.sink.records] == [stopped.run_id] * 2


async def test_r17_a_ceiling_gets_the_same_retry_and_other_words(runner_of):
    runner = runner_of(limits={"execution.toolCallCeiling": 3})
    calls = [Turn(Call("bash", {"command": str(n)})) for n in range(9)]
    second = ScriptedAgent([Answer("done")])
    result = await runner.run(ScriptedAgent(calls), second)
    assert second.prompts == [wording.RETRY_PROMPTS[RetryOf.TOOL_CALL_CEILING]]
    assert [record.code for record in result.attempts] == [CEILING, None]
    assert result.attempts[1].retry_of is RetryOf.TOOL_CALL_CEILING


async def test_r17_the_budget_is_one_for_both_reasons(runner_of):
    runner = runner_of(limits={"execution.toolCallCeiling": 20})
    calls = [Turn(Call("bash", {"command": str(n)})) for n in range(40)]
    result = await runner.run(ScriptedAgent(LOOP), ScriptedAgent(calls))
    assert [record.code for record in result.attempts] == [WITHHELD, CEILING]
    assert result.answer is None
    assert result.code is CEILING
    assert not result.attempts[1].stop.retry_granted


@pytest.mark.parametrize("retries", [0, 3])
async def test_r17_as_many_retries_as_the_limit_says(runner_of, retries):
    runner = runner_of(limits={"retry.maxNoProgressRetries": retries})
    result = await runner.run(*[ScriptedAgent(LOOP) for _ in range(retries + 1)])
    assert [record.attempt for record in result.attempts] == list(range(1, retries + 2))
    assert [record.stop.retry_granted for record in result.attempts] == [True] * retries + [False]
    assert (result.outcome, result.code) == (Outcome.FAILED, WITHHELD)


async def test_r18_a_retry_is_asked_at_its_first_notice_only_read_and_answers(runner):
    second = ScriptedAgent(LOOP, answer_when_asked="partial")
    result = await runner.run(ScriptedAgent(LOOP), second, kind="read-only")
    assert second.prompts[1:] == [wording.CONCLUDE_REQUEST]
    assert len(second.results) == 10  # new, eight told, one withheld
    assert (result.answer, result.ok) == ("partial", True)
    assert result.attempts[1].conclude_now.trigger is Trigger.READ_LOOP
    assert result.attempts[1].conclude_now.turn == 10


async def test_r19_a_retry_that_ignores_the_ask_ends_with_a_read_loop_code(runner):
    stubborn = ScriptedAgent(LOOP)
    result = await runner.run(ScriptedAgent(LOOP), stubborn, kind="read-only")
    assert stubborn.prompts[1:] == [wording.CONCLUDE_REQUEST]  # told once
    assert stubborn.results[10:] == [wording.denial("read", Denial.READ_LOOP)] * 8
    assert (result.outcome, result.code) == (Outcome.FAILED, WITHHELD)
    assert result.attempts[1].conclude_now is not None


async def test_r20_a_step_that_nobody_declared_is_never_asked(runner):
    second = ScriptedAgent(LOOP)
    result = await runner.run(ScriptedAgent(LOOP), second)
    assert wording.CONCLUDE_REQUEST not in second.prompts
    assert result.attempts[1].conclude_now is None


@pytest.mark.parametrize(
    ("accepted", "outcome", "code"), [(True, "answered", None), (False, "rejected", "answer-rejected")]
)
async def test_r16_an_answer_is_evaluated_by_the_host(runner, accepted, outcome, code):
    seen = []
    result = await runner.run(
        ScriptedAgent([Answer({"score": 7})]), validate=lambda answer: seen.append(answer) or accepted
    )
    assert seen == [{"score": 7}]
    assert (result.answer, result.outcome, result.code, result.ok) == ({"score": 7}, outcome, code, accepted)
    assert len(result.attempts) == 1  # what becomes of a rejected answer is the host's business


async def test_r16_an_answer_after_the_stop_counts_and_gets_no_retry(runner):
    result = await runner.run(ScriptedAgent([*[READ] * 18, Answer("late")]))
    assert (result.answer, result.outcome, result.code) == ("late", Outcome.ANSWERED, None)
    (record,) = result.attempts
    assert record.stop.code is WITHHELD
    assert not record.stop.retry_granted


async def test_an_asked_answer_may_be_rejected(runner):
    agents = ScriptedAgent(LOOP), ScriptedAgent(LOOP, answer_when_asked="poor")
    result = await runner.run(*agents, kind="read-only", validate=lambda _: False)
    assert (result.outcome, result.code) == (Outcome.REJECTED, Code.ANSWER_REJECTED)
    assert result.attempts[1].conclude_now is not None


async def test_no_answer_and_no_stop_is_cancelled(runner):
    result = await runner.run(ScriptedAgent([READ]))
    assert (result.answer, result.outcome, result.code, result.ok) == (None, Outcome.CANCELLED, None, False)


class OutOfTokensError(Exception):
    """What a provider may raise."""


async def test_what_the_agent_raises_goes_through_and_cancels_the_attempt(runner):
    class Broken(ScriptedAgent):
        def _turns(self, attempt):
            raise OutOfTokensError

    with pytest.raises(OutOfTokensError):
        await runner.run(Broken([]))
    assert [record.outcome for record in runner.sink.records] == [Outcome.CANCELLED]
    assert runner.supervisor.live_attempts == 0


async def test_what_validate_raises_goes_through_and_cancels_the_attempt(runner):
    def validate(_):
        raise OutOfTokensError

    with pytest.raises(OutOfTokensError):
        await runner.run(ScriptedAgent([Answer("x")]), validate=validate)
    assert [record.outcome for record in runner.sink.records] == [Outcome.CANCELLED]


async def test_a_host_may_choose_texts_over_an_exception(runner):
    agent = ScriptedAgent([*LOOP, Answer("at last")])
    result = await runner.run(agent, on_stop="return")
    assert agent.results[18:] == [wording.denial("read", Denial.STOPPED)] * 12
    assert result.ok
    assert result.attempts[0].calls_after_stop == 12


async def test_r30_an_observed_step_is_neither_stopped_nor_retried(runner_of):
    runner = runner_of(mode="observe")
    result = await runner.run(ScriptedAgent(LOOP), kind="read-only")
    assert len(result.attempts) == 1
    assert result.attempts[0].stop.code is WITHHELD
    assert not result.attempts[0].enforced


async def test_options_reach_the_attempts(runner):
    result = await runner.run(
        ScriptedAgent(LOOP),
        ScriptedAgent([Answer("x")]),
        step="review-documentation",
        run_id="run-1",
        agent_name="reader",
        model="m-1",
        timeout_ms=1_000_000,
    )
    for record in result.attempts:
        assert (record.run_id, record.step_id, record.agent_name, record.model) == (
            "run-1",
            "review-documentation",
            "reader",
            "m-1",
        )
        assert record.step_kind == "read-only"


async def test_an_async_check_is_awaited():
    runner = AsyncRunner()

    async def validate(answer):
        await asyncio.sleep(0)
        return answer == "good"

    assert (await runner.run(ScriptedAgent([Answer("good")]), validate=validate)).ok
    assert (await runner.run(ScriptedAgent([Answer("bad")]), validate=validate)).outcome is Outcome.REJECTED


async def test_a_cancelled_step_cancels_its_attempt():
    runner, started = AsyncRunner(), asyncio.Event()

    async def hang(path):
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(runner.run(ScriptedAgent([READ]), tools={"read": hang}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [record.outcome for record in runner.sink.records] == [Outcome.CANCELLED]


def test_a_stop_raised_by_the_run_itself_is_an_attempt_without_answer():
    runner = SyncRunner()

    def run(attempt):
        raise AttemptStopped("timeout", "the host's own")

    assert runner.supervisor.run_step("plan", run).outcome is Outcome.CANCELLED


def test_a_wrong_limit_is_refused_before_anything_runs():
    with pytest.raises(LimitError):
        SyncRunner(limits={"retry.maxNoProgressRetries": -1})
