"""R17 and R23 in the runner: a run that is ended when its timer fires, and a retry that starts a timer of its own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_docsfab import AttemptStopped, Code, Supervisor, Trigger
from otel_docsfab.core import wording
from otel_docsfab.testing import Answer, Call, ManualClock, MemorySink, ScriptedAgent, Turn

TIMER_MS = 100_000
READ = Turn(Call("read", {"path": "a.md"}))
TOOLS = {"read": lambda path: f"content of {path}"}


def supervised(**options):
    sink, clock = MemorySink(), ManualClock()
    return Supervisor(sinks=[sink], clock=clock, **{"mode": "enforce", **options}), sink, clock


async def until(waiting):
    """Let the event loop run until the attempt waits for something."""
    await asyncio.wait_for(waiting.wait(), 60)


class Waits:
    """A run that waits for a model that never answers."""

    def __init__(self, attempt, waiting):
        self.attempt, self.waiting = attempt, waiting
        self.cancelled = 0

    async def __call__(self):
        self.attempt.request_sent()
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def test_r23_the_run_is_cancelled_and_nothing_around_it():
    supervisor, sink, clock = supervised()
    waiting, runs = asyncio.Event(), []

    async def run_attempt(attempt):
        runs.append(Waits(attempt, waiting))
        await runs[0]()

    async def host():
        result = await supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
        await asyncio.sleep(0)  # a cancellation that was left behind would come out here
        assert asyncio.current_task().cancelling() == 0
        return result

    task = asyncio.create_task(host())
    await until(waiting)
    clock.advance(TIMER_MS)
    result = await asyncio.wait_for(task, 60)
    assert (result.answer, result.outcome, result.code) == (None, "failed", Code.DEADLINE_AWAITING_PROVIDER)
    assert [record.deadline_turn for record in result.attempts] == ["awaiting-first-byte"]
    assert [run.cancelled for run in runs] == [1]
    assert [decision.action for decision in sink.decisions] == ["stop"]
    assert supervisor.live_attempts == 0


async def test_r23_by_the_system_s_clock_from_the_scheduler_s_thread():
    supervisor = Supervisor(mode="enforce")

    async def run_attempt(attempt):
        await Waits(attempt, asyncio.Event())()

    work = supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=50)
    result = await asyncio.wait_for(work, 60)
    assert (result.outcome, result.code) == ("failed", Code.DEADLINE_AWAITING_PROVIDER)


async def test_r23_a_timer_that_fired_before_the_run_began_ends_it():
    class Hasty(ManualClock):
        """Its alarms go off while they are set."""

        def set_alarm(self, sleeper, at_ms):
            alarm = super().set_alarm(sleeper, at_ms)
            self.advance(at_ms - self.now_ms)
            return alarm

    supervisor = Supervisor(clock=Hasty(), mode="enforce")
    reached = []

    async def run_attempt(attempt):
        assert attempt.stopped
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        reached.append(True)

    result = await supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert (result.outcome, result.code, reached) == ("failed", Code.TIMEOUT, [])


async def test_r16_an_answer_from_a_run_that_was_cancelled_is_evaluated():
    supervisor, _, clock = supervised()
    waiting = asyncio.Event()

    async def run_attempt(attempt):
        try:
            await Waits(attempt, waiting)()
        except asyncio.CancelledError:
            return "what there is"

    work = supervisor.arun_step(
        "some-step", run_attempt, kind="write", timeout_ms=TIMER_MS, validate=lambda answer: answer == "what there is"
    )
    task = asyncio.create_task(work)
    await until(waiting)
    clock.advance(TIMER_MS)
    result = await task
    assert (result.answer, result.outcome) == ("what there is", "answered")
    assert result.attempts[0].stop.code == Code.DEADLINE_AWAITING_PROVIDER  # the record keeps it


async def test_r16_the_timer_leaves_the_validation_of_an_answer_alone():
    supervisor, _, clock = supervised()
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def run_attempt(attempt):
        return "answer"

    async def validate(answer):
        waiting.set()
        await go_on.wait()
        return True

    work = supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS, validate=validate)
    task = asyncio.create_task(work)
    await until(waiting)
    clock.advance(TIMER_MS)
    go_on.set()
    assert (await task).outcome == "answered"


async def test_the_host_s_own_cancellation_goes_through():
    supervisor, sink, clock = supervised()
    waiting = asyncio.Event()

    async def run_attempt(attempt):
        await Waits(attempt, waiting)()

    task = asyncio.create_task(supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS))
    await until(waiting)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    clock.advance(TIMER_MS)
    assert sink.records[0].outcome == "cancelled"
    assert sink.decisions == []


async def test_both_at_once_the_host_s_cancellation_wins():
    supervisor, _, clock = supervised()
    waiting = asyncio.Event()

    async def run_attempt(attempt):
        await Waits(attempt, waiting)()

    task = asyncio.create_task(supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS))
    await until(waiting)
    clock.advance(TIMER_MS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_a_run_raises_goes_through_its_own_timeouts_included():
    supervisor, sink, _ = supervised()

    async def run_attempt(attempt):
        async with asyncio.timeout(0):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert sink.records[0].outcome == "cancelled"


async def test_r30_an_attempt_that_is_only_observed_runs_on():
    supervisor, sink, clock = supervised(mode="observe")
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def run_attempt(attempt):
        waiting.set()
        await go_on.wait()
        return "late"

    task = asyncio.create_task(supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS))
    await until(waiting)
    clock.advance(TIMER_MS)
    assert [(decision.action, decision.enforced) for decision in sink.decisions] == [("stop", False)]
    go_on.set()
    assert (await task).answer == "late"


async def test_one_attempt_s_timer_ends_no_other_run_of_the_loop():
    supervisor, _, clock = supervised()
    waiting = [asyncio.Event(), asyncio.Event()]
    go_on = asyncio.Event()

    async def stalls(attempt):
        await Waits(attempt, waiting[0])()

    async def answers(attempt):
        waiting[1].set()
        await go_on.wait()
        return "fine"

    short = asyncio.create_task(supervisor.arun_step("a", stalls, kind="write", timeout_ms=TIMER_MS))
    long = asyncio.create_task(supervisor.arun_step("b", answers, kind="write", timeout_ms=2 * TIMER_MS))
    for event in waiting:
        await until(event)
    clock.advance(TIMER_MS)
    assert (await short).outcome == "failed"
    go_on.set()
    assert (await long).answer == "fine"


# A plain function cannot be ended from outside


def test_r23_in_a_plain_function_the_next_gated_call_raises():
    supervisor, _, clock = supervised()
    ran = []

    def touch(path):
        ran.append(path)

    def run_attempt(attempt):
        read = attempt.gate(touch, tool="read")
        read(path="a.md")
        clock.advance(TIMER_MS)
        try:
            read(path="b.md")
        except Exception:  # noqa: BLE001 - agent loops swallow what tools raise; the stop is none of it
            ran.append("swallowed")
        return "never"

    result = supervisor.run_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert (result.answer, result.outcome, ran) == (None, "failed", ["a.md"])


def test_r23_a_plain_function_that_waits_can_look():
    supervisor, _, clock = supervised()
    looked = []

    def run_attempt(attempt):
        for _ in range(5):
            looked.append(attempt.stopped)
            if attempt.stopped:
                return
            clock.advance(TIMER_MS // 2)

    result = supervisor.run_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert looked == [False, False, True]
    assert (result.outcome, result.code) == ("failed", Code.TIMEOUT)


def test_r23_with_on_stop_return_the_next_call_is_denied():
    supervisor, sink, clock = supervised()
    said = []

    def run_attempt(attempt):
        read = attempt.gate(lambda path: "content", tool="read")
        clock.advance(TIMER_MS)
        said.append(read(path="b.md"))

    supervisor.run_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS, on_stop="return")
    assert said == [wording.denial("read", "stopped")]
    assert sink.records[0].calls_after_stop == 1


def test_r23_a_call_that_runs_when_the_timer_fires_is_delivered_and_the_next_is_not_made():
    supervisor, sink, clock = supervised()

    def slow(path):
        clock.advance(TIMER_MS)
        return "content"

    with supervisor.attempt("some-step", kind="write", timeout_ms=TIMER_MS, on_stop="raise") as attempt:
        read = attempt.gate(slow, tool="read")
        assert read(path="a") == "content"
        with pytest.raises(AttemptStopped) as stop:
            read(path="b")
    assert stop.value.code == Code.DEADLINE_IN_TOOL_LOOP
    assert sink.records[0].deadline_turn == "between-requests"


def test_r16_an_answer_after_the_timer_is_evaluated():
    supervisor, _, clock = supervised()

    def run_attempt(attempt):
        clock.advance(TIMER_MS)
        return "late"

    result = supervisor.run_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert (result.answer, result.outcome, result.code) == ("late", "answered", None)


# Retries


@pytest.mark.parametrize("code", [Code.TIMEOUT, Code.DEADLINE_IN_TOOL_LOOP, Code.DEADLINE_AWAITING_PROVIDER])
def test_r17_no_deadline_is_retried(code):
    supervisor, sink, clock = supervised(limits={"retry.maxNoProgressRetries": 5})
    attempts = []

    def run_attempt(attempt):
        attempts.append(attempt.machine.number)
        if code is Code.DEADLINE_IN_TOOL_LOOP:
            attempt.gate(lambda path: "x", tool="read")(path="a")
            attempt.request_sent()
            attempt.request_ended()
        elif code is Code.DEADLINE_AWAITING_PROVIDER:
            attempt.request_sent()
        clock.advance(TIMER_MS)

    result = supervisor.run_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert (result.code, attempts) == (code, [1])
    assert not sink.decisions[0].retry_granted


def test_r17_a_retry_has_a_timer_of_its_own_and_starts_clean():
    """The first attempt loops shortly before its ask; the second is asked at its own 45 seconds, and answers."""
    supervisor, sink, clock = supervised()
    began, agents = [], []

    def run_attempt(attempt):
        began.append(clock.now_ms)
        if attempt.machine.number == 1:
            clock.advance(40_000)
            agent = ScriptedAgent([READ] * 30)
        else:
            assert attempt.retry_prompt == wording.RETRY_PROMPTS["no-progress"]
            assert attempt.conclude_request is None
            agent = ScriptedAgent([READ, Turn(Call("wait"))] + [READ] * 20, answer_when_asked="done")
        agents.append(agent)
        return agent.run(attempt, TOOLS | {"wait": lambda: clock.advance(45_000)})

    result = supervisor.run_step("some-step", run_attempt, kind="read-only", timeout_ms=TIMER_MS)
    assert (result.answer, result.outcome, began) == ("done", "answered", [0, 40_000])
    first, second = result.attempts
    assert (first.code, first.conclude_now, first.duration_ms) == (Code.WITHHELD_READS, None, 40_000)
    assert (second.attempt, second.retry_of, second.duration_ms) == (2, "no-progress", 45_000)
    assert second.conclude_now.trigger is Trigger.ATTEMPT_DEADLINE
    assert second.read_evidence is None
    assert agents[1].prompts == [wording.RETRY_PROMPTS["no-progress"], wording.CONCLUDE_REQUEST]
    assert [decision.action for decision in sink.decisions] == ["stop", "conclude"]


def test_r17_the_ceiling_s_retry_shares_the_budget_and_its_deadline_is_final():
    supervisor, sink, clock = supervised(limits={"execution.toolCallCeiling": 2})
    prompts = []

    def run_attempt(attempt):
        prompts.append(attempt.retry_prompt)
        agent = ScriptedAgent([READ, READ, READ, Answer("never")])
        if attempt.machine.number == 2:
            clock.advance(TIMER_MS)
        return agent.run(attempt, TOOLS)

    result = supervisor.run_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
    assert [record.code for record in result.attempts] == [Code.TOOL_CALL_CEILING, Code.TIMEOUT]
    assert prompts == [None, wording.RETRY_PROMPTS["tool-call-ceiling"]]
    assert [decision.retry_granted for decision in sink.decisions] == [True, False]


def test_a_run_in_a_thread_of_its_own_is_ended_too():
    """A loop elsewhere: the timer fires in this thread, the run lives in another."""
    supervisor, _, clock = supervised()
    waiting, results = threading.Event(), []

    class Both:
        def set(self):
            waiting.set()

    async def run_attempt(attempt):
        await Waits(attempt, Both())()

    def run():
        work = supervisor.arun_step("some-step", run_attempt, kind="write", timeout_ms=TIMER_MS)
        results.append(asyncio.run(work))

    thread = threading.Thread(target=run)
    thread.start()
    assert waiting.wait(60)
    clock.advance(TIMER_MS)
    thread.join(60)
    assert [result.code for result in results] == [Code.DEADLINE_AWAITING_PROVIDER]


def test_a_run_whose_event_loop_is_gone_has_nothing_to_end():
    supervisor, sink, clock = supervised()
    attempt = supervisor.attempt("some-step", kind="write", timeout_ms=TIMER_MS)
    loop = asyncio.new_event_loop()
    attempt.when_timer_fires = lambda: loop.call_soon_threadsafe(print)
    loop.close()
    clock.advance(TIMER_MS)
    assert [decision.action for decision in sink.decisions] == ["stop"]
    assert sum(supervisor.faults.counts().values()) == 0
