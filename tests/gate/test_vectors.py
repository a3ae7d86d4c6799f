"""Every conformance vector through the sync gate (a thread a call) and through the async one (a task a call)."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any

import pytest

from otel_docsfab import Supervisor, Verdict
from otel_docsfab.core import DenyCall, TimePassed, wording
from otel_docsfab.core.identity import NotJson, parse_arguments
from otel_docsfab.testing import ManualClock, MemorySink
from tests.vectors import cases

PATIENCE_S = 30


class ToolFailedError(Exception):
    """What a failing tool raises."""


class Running:
    """One call in flight; ``settled`` once it runs or was denied."""

    def __init__(self, call: cases.Tool, event: Any):
        self.call = call
        self.settled, self.release = event(), event()
        self.ran = False
        self.returned: Any = None

    def returns(self) -> Any:
        """What the tool gives; an object without text form stands for what is not known (R29)."""
        if not self.call.ok:
            raise ToolFailedError
        return object() if self.call.result is None else self.call.result

    def keywords(self) -> dict[str, Any]:
        """The call's arguments as a runtime hands them to a callable: the members of an object, else one text."""
        arguments = self.call.arguments
        if arguments is None:
            return {"input": object()}
        if isinstance(arguments, str):
            try:
                parsed = parse_arguments(arguments)
            except NotJson:
                parsed = None
            arguments = parsed if isinstance(parsed, dict) else {"input": arguments}
        return arguments


running: ContextVar[Running] = ContextVar("running")


def tool(**_: Any) -> Any:
    this = running.get()
    this.ran = True
    this.settled.set()
    assert this.release.wait(PATIENCE_S)
    return this.returns()


async def async_tool(**_: Any) -> Any:
    this = running.get()
    this.ran = True
    this.settled.set()
    await this.release.wait()
    return this.returns()


class Drive:
    """One case through one attempt; subclasses say how a call runs."""

    def __init__(self, case: cases.Case):
        given = case.settings
        self.case, self.clock, self.sink = case, ManualClock(), MemorySink()
        supervisor = Supervisor(limits=given.limits, sinks=[self.sink], clock=self.clock, mode="enforce")
        self.attempt = supervisor.attempt(
            given.step, given.number, retry_of=given.retry_of, timeout_ms=given.timer_ms, timer=False
        )
        self.gates = {
            name: self.attempt.gate(self.function, tool=name, call_id=lambda **_: str(running.get().call.position))
            for name in {call.tool for call in case.calls}
        }
        self.calls: dict[int, Running] = {}
        self.turn = ExitStack()

    function: Any = None

    def tell(self, event: cases.CaseEvent) -> None:
        """Everything but calls."""
        match event:
            case cases.Turn(_, answers):
                self.turn.close()
                self.turn.enter_context(self.attempt.turn())
                if answers:
                    self.attempt.output_started("answer")
            case cases.Compaction():
                self.attempt.compacted()
            case cases.Evicted(positions):
                self.attempt.evicted(map(str, positions))
            case cases.Ask():
                self.attempt.tell(TimePassed())
            case cases.Answer():
                self.attempt.answered()

    def finish(self) -> cases.Observed:
        self.clock.now_ms = self.case.end_ms
        self.turn.close()
        observed = cases.Observed()
        for _, effect, enforced in self.sink.judgements:
            assert enforced
            observed.take(effect.call - 1, effect)  # type: ignore[operator]  # calls start in order, keys count from 1
            self.check_delivery(self.calls[effect.call - 1], effect)  # type: ignore[operator]
        return observed.finish(self.attempt.record())

    def check_delivery(self, this: Running, effect: Any) -> None:
        """The verdict took effect: what the model got is what the verdict says."""
        if isinstance(effect, DenyCall):
            assert not this.ran
            assert this.returned == wording.denial(effect.tool, effect.reason)
            return
        assert this.ran
        if not this.call.ok:
            assert isinstance(this.returned, ToolFailedError)
        elif effect.verdict is Verdict.DELIVER:
            assert this.call.result in (None, this.returned)
        else:
            notice = wording.notice(effect.tool, effect.subject, effect.first_turn)
            content = f"{this.call.result}\n\n" if effect.verdict is Verdict.DELIVER_WITH_NOTICE else ""
            assert this.returned == (content if this.call.result else "") + notice


class InThreads(Drive):
    function = staticmethod(tool)

    def run(self, pool: ThreadPoolExecutor) -> cases.Observed:
        futures: dict[int, Future[None]] = {}
        for _, event, at_ms in self.case.timeline():
            self.clock.now_ms = at_ms
            self.tell(event)
            if isinstance(event, cases.Turn):
                for call in event.calls:
                    this = self.calls[call.position] = Running(call, threading.Event)
                    futures[call.position] = pool.submit(self.call, this)
                    assert this.settled.wait(PATIENCE_S)
            elif isinstance(event, cases.Tool):
                self.calls[event.position].release.set()
                futures[event.position].result(PATIENCE_S)
        return self.finish()

    def call(self, this: Running) -> None:
        running.set(this)
        try:
            this.returned = self.gates[this.call.tool](**this.keywords())
        except ToolFailedError as error:
            this.returned = error
        finally:
            this.settled.set()


class InTasks(Drive):
    function = staticmethod(async_tool)

    async def run(self) -> cases.Observed:
        tasks: dict[int, asyncio.Task[None]] = {}
        for _, event, at_ms in self.case.timeline():
            self.clock.now_ms = at_ms
            self.tell(event)
            if isinstance(event, cases.Turn):
                for call in event.calls:
                    this = self.calls[call.position] = Running(call, asyncio.Event)
                    tasks[call.position] = asyncio.create_task(self.call(this))
                    await this.settled.wait()
            elif isinstance(event, cases.Tool):
                self.calls[event.position].release.set()
                await tasks[event.position]
        return self.finish()

    async def call(self, this: Running) -> None:
        running.set(this)
        try:
            this.returned = await self.gates[this.call.tool](**this.keywords())
        except ToolFailedError as error:
            this.returned = error
        finally:
            this.settled.set()


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(32) as threads:
        yield threads


@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_vector_through_the_sync_gate(case, pool):
    assert cases.compare(case, InThreads(case).run(pool)) == []


@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
async def test_vector_through_the_async_gate(case):
    assert cases.compare(case, await InTasks(case).run()) == []
