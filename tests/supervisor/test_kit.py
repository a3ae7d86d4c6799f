"""The public test kit does what its page says."""

from __future__ import annotations

import pytest

from otel_docsfab import Supervisor
from otel_docsfab.core import wording
from otel_docsfab.testing import Answer, Call, ManualClock, MemorySink, ScriptedAgent, Turn

READ = Turn(Call("read", {"path": "a.md"}))


def read_file(path):
    return f"content of {path}"


async def async_read_file(path):
    return f"content of {path}"


def test_the_example_of_the_module_runs():
    clock, sink = ManualClock(), MemorySink()
    supervisor = Supervisor(clock=clock, sinks=[sink])
    agent = ScriptedAgent([READ, READ, Answer("done")])
    with supervisor.attempt(kind="read-only") as attempt:
        attempt.answered(valid=agent.run(attempt, {"read": read_file}) == "done")
    assert sink.verdicts == ["deliver", "deliver-with-notice"]
    assert sink.records[0].outcome == "answered"
    assert agent.results[0] == "content of a.md"


def test_the_clock_moves_only_when_told():
    clock = ManualClock()
    assert (clock.monotonic_ms(), clock.unix_ms()) == (0, 1_700_000_000_000)
    clock.advance(7)
    assert (clock.monotonic_ms(), clock.unix_ms()) == (7, 1_700_000_000_007)


@pytest.mark.parametrize("function", [read_file, async_read_file])
async def test_an_agent_on_the_event_loop_calls_sync_and_async_tools(function):
    agent = ScriptedAgent([Turn(Call("read", {"path": "a"}), Call("read", {"path": "b"})), Answer(7)])
    async with Supervisor().attempt() as attempt:
        assert await agent.arun(attempt, {"read": function}) == 7
    assert agent.results == ["content of a", "content of b"]
    assert attempt.record().turns == 1


async def test_an_agent_goes_on_after_a_failed_tool_and_a_script_may_end_without_answer():
    def fail(**_):
        raise OSError

    async def fail_later(**_):
        raise OSError

    for run in ("run", "arun"):
        agent = ScriptedAgent([READ, READ])
        with Supervisor().attempt() as attempt:
            if run == "run":
                assert agent.run(attempt, {"read": fail}) is None
            else:
                assert await agent.arun(attempt, {"read": fail_later}) is None
        assert [type(result) for result in agent.results] == [OSError, OSError]


@pytest.mark.parametrize("obeys", [True, False])
def test_an_agent_that_is_asked_answers_unless_it_is_stubborn(obeys):
    supervisor = Supervisor(limits={"execution.readLoopRepeatStreak": 0})
    agent = ScriptedAgent([READ] * 4, answer_when_asked="partial" if obeys else None)
    with supervisor.attempt("plan", 2, kind="read-only", retry_of="no-progress") as attempt:
        assert agent.run(attempt, {"read": read_file}) == ("partial" if obeys else None)
    assert agent.prompts == [attempt.retry_prompt, wording.CONCLUDE_REQUEST]
    assert len(agent.results) == (2 if obeys else 4)
