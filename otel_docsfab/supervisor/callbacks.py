"""Running a host's callback: outside every lock, and never in a way that hurts the host."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine
from typing import Any

from otel_docsfab.supervisor.decisions import Decision, OnDecision
from otel_docsfab.supervisor.faults import Faults, Site


class Callbacks:
    """Calls one callback and looks after the tasks of an async one."""

    def __init__(self, on_decision: OnDecision | None, faults: Faults) -> None:
        """Remember the callback.

        Args:
            on_decision: A plain or async callable, or None.
            faults: Counts what it raises.
        """
        self._on_decision = on_decision
        self._faults = faults
        self._tasks: set[asyncio.Task[None]] = set()

    def call(self, decision: Decision, loop: asyncio.AbstractEventLoop | None) -> None:
        """Tell the host; what the callback raises is counted.

        Args:
            decision: What was decided.
            loop: The attempt's event loop; an async callback runs there.
        """
        if self._on_decision is None:
            return
        try:
            outcome = self._on_decision(decision)
            if inspect.isawaitable(outcome):
                self._schedule(outcome, loop)
        except Exception as error:  # noqa: BLE001 - a host's callback may raise anything
            self._faults.count(Site.CALLBACK, error, "The on_decision callback raised.")

    def _schedule(self, outcome: Awaitable[None], loop: asyncio.AbstractEventLoop | None) -> None:
        async def run() -> None:
            try:
                await outcome
            except Exception as error:  # noqa: BLE001 - as above
                self._faults.count(Site.CALLBACK, error, "The async on_decision callback raised.")

        work = run()
        try:
            if loop is None:
                raise RuntimeError("no event loop")  # noqa: TRY301 - the same as one that is closed
            if _running_loop() is loop:
                self._start(work, loop)
            else:
                loop.call_soon_threadsafe(self._start, work, loop)
        except RuntimeError as error:  # there is none, or it is closed
            work.close()
            if isinstance(outcome, Coroutine):
                outcome.close()
            hint = "An async on_decision callback needs an attempt that was begun on an event loop that still runs."
            self._faults.count(Site.CALLBACK, error, hint)

    def _start(self, work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> None:
        task = loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
