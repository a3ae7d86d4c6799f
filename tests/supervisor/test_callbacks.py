"""A callback may raise, block or call back; neither the host nor another attempt is the worse for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_docsfab import Outcome, Supervisor
from otel_docsfab.core import wording
from otel_docsfab.testing import MemorySink

PATIENCE_S = 30


def loop_until_stopped(attempt):
    """Read one file until the attempt is stopped."""
    read = attempt.gate(lambda path: "same", tool="read")
    with attempt.turn():
        for _ in range(18):
            read(path="docs/a.md")


def faults(supervisor):
    return {site: count for site, count in supervisor.faults.counts().items() if count}


def test_a_callback_hears_of_a_stop_with_tool_path_and_attempt():
    heard = []
    supervisor = Supervisor(on_decision=heard.append, mode="enforce")
    with supervisor.attempt("plan", 1, run_id="run-1", agent_name="reader") as attempt:
        loop_until_stopped(attempt)
        (decision,) = heard
        assert attempt.decision == decision
    assert (decision.action, decision.enforced, decision.turn, decision.retry_granted) == ("stop", True, 1, True)
    assert decision.message.startswith(
        "execution-read-loop-withheld-reads-bound: 9 exceeds execution.readLoopWithheldReads = 8 count. "
    )
    assert "read docs/a.md" in decision.message
    assert (decision.observed, decision.limit, decision.limit_name) == (9, 8, "execution.readLoopWithheldReads")
    assert (decision.code, decision.category) == ("execution-read-loop-withheld-reads-bound", "no-progress")
    assert (decision.attempt.run_id, decision.attempt.step_id, decision.attempt.agent_name) == (
        "run-1",
        "plan",
        "reader",
    )


def test_a_callback_hears_of_an_ask():
    heard = []
    supervisor = Supervisor(on_decision=heard.append, mode="enforce")
    attempt = supervisor.attempt("plan", 2, kind="read-only", retry_of="no-progress")
    read = attempt.gate(lambda path: "same", tool="read")
    for _ in range(10):
        with attempt.turn():
            read(path="a")
    (decision,) = heard
    assert (decision.action, decision.trigger, decision.turn, decision.code) == ("conclude", "read-loop", 10, None)
    assert decision.message == wording.CONCLUDE_REQUEST


def test_a_callback_that_raises_is_counted_and_the_stop_holds():
    def refuse(_):
        raise RuntimeError

    supervisor = Supervisor(on_decision=refuse, mode="enforce")
    with supervisor.attempt() as attempt:
        loop_until_stopped(attempt)
    assert attempt.record().outcome is Outcome.FAILED
    assert faults(supervisor) == {"callback": 1}


def test_a_callback_that_blocks_holds_up_its_own_attempt_only():
    entered, release, ended = threading.Event(), threading.Event(), threading.Event()

    def block(decision):
        if decision.attempt.run_id == "blocked":
            entered.set()
            assert release.wait(PATIENCE_S)

    supervisor = Supervisor(on_decision=block, mode="enforce")
    blocked = supervisor.attempt(run_id="blocked")

    def run():
        loop_until_stopped(blocked)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert entered.wait(PATIENCE_S)
    with supervisor.attempt(run_id="other") as other:
        loop_until_stopped(other)
        assert other.decision is not None
    assert blocked.record().stop is not None  # even the blocked one can be asked
    assert not ended.is_set()
    release.set()
    thread.join(PATIENCE_S)
    assert ended.is_set()
    assert faults(supervisor) == {}


def test_a_callback_may_call_back_in_every_way():
    seen = {}

    def call_back(decision):
        seen["record"] = attempt.record().stop.code
        attempt.answered(valid=True)
        attempt.compacted()
        attempt.evicted(["c1"])
        seen["denied"] = read(path="docs/b.md")
        with supervisor.attempt() as another:
            seen["another"] = another.gate(lambda path: "x", tool="read")(path="y")
        seen["live"] = supervisor.live_attempts
        attempt.close()
        seen["flushed"] = supervisor.flush()

    supervisor = Supervisor(on_decision=call_back, sinks=[MemorySink()], mode="enforce")
    attempt = supervisor.attempt()
    read = attempt.gate(lambda path: "same", tool="read")
    loop_until_stopped(attempt)
    assert seen == {
        "record": "execution-read-loop-withheld-reads-bound",
        "denied": wording.denial("read", "stopped"),
        "another": "x",
        "live": 1,
        "flushed": True,
    }
    assert attempt.record().outcome is Outcome.ANSWERED
    assert faults(supervisor) == {}


async def test_an_async_callback_runs_on_the_attempts_loop():
    heard = asyncio.Queue()

    async def hear(decision):
        await heard.put((decision.action, asyncio.get_running_loop()))

    supervisor = Supervisor(on_decision=hear, mode="enforce")
    async with supervisor.attempt() as attempt:
        loop_until_stopped(attempt)
        assert await asyncio.wait_for(heard.get(), PATIENCE_S) == ("stop", asyncio.get_running_loop())


async def test_an_async_callback_runs_on_the_attempts_loop_when_a_worker_thread_ends_the_turn():
    heard = asyncio.Queue()

    async def hear(decision):
        await heard.put((asyncio.get_running_loop(), threading.get_ident()))

    supervisor = Supervisor(on_decision=hear, mode="enforce")
    async with supervisor.attempt() as attempt:
        await asyncio.to_thread(loop_until_stopped, attempt)
        where = await asyncio.wait_for(heard.get(), PATIENCE_S)
    assert where == (asyncio.get_running_loop(), threading.get_ident())
    assert faults(supervisor) == {}


async def test_the_loop_of_async_with_is_the_attempts_loop():
    """Opened where no loop runs, entered where one does."""
    heard = asyncio.Event()

    async def hear(_):
        heard.set()

    supervisor = Supervisor(on_decision=hear, mode="enforce")
    attempt = await asyncio.to_thread(supervisor.attempt)
    assert attempt.loop is None
    async with attempt:
        await asyncio.to_thread(loop_until_stopped, attempt)
        await asyncio.wait_for(heard.wait(), PATIENCE_S)


async def test_an_async_callback_that_raises_is_counted():
    async def refuse(_):
        raise RuntimeError

    supervisor = Supervisor(on_decision=refuse, mode="enforce")
    async with supervisor.attempt() as attempt:
        loop_until_stopped(attempt)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks)
    assert len(tasks) == 1
    assert faults(supervisor) == {"callback": 1}


async def test_a_callback_that_hands_out_a_future_is_awaited():
    future = asyncio.get_running_loop().create_future()
    supervisor = Supervisor(on_decision=lambda _: future, mode="enforce")
    async with supervisor.attempt() as attempt:
        loop_until_stopped(attempt)
        (task,) = asyncio.all_tasks() - {asyncio.current_task()}
        future.set_exception(RuntimeError())
        await task
    assert faults(supervisor) == {"callback": 1}


@pytest.mark.parametrize("begun_on_a_loop", [False, True], ids=["never had a loop", "its loop is closed"])
def test_an_async_callback_without_a_running_loop_is_counted_and_not_left_behind(begun_on_a_loop):
    ran = []

    async def hear(decision):
        ran.append(decision)

    supervisor = Supervisor(on_decision=hear, mode="enforce")

    async def begin():
        return supervisor.attempt()

    attempt = asyncio.run(begin()) if begun_on_a_loop else supervisor.attempt()
    loop_until_stopped(attempt)
    assert attempt.decision.action == "stop"
    assert ran == []
    assert faults(supervisor) == {"callback": 1}


def test_without_a_callback_decisions_are_kept_all_the_same():
    supervisor = Supervisor(mode="enforce")
    with supervisor.attempt() as attempt:
        assert attempt.decision is None
        loop_until_stopped(attempt)
        assert attempt.decision.action == "stop"
