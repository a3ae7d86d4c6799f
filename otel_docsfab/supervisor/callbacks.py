"""Running a host's callback: outside every lock, and never in a way that hurts the host."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Awaitable, Coroutine
from typing import Any

from otel_docsfab.supervisor.decisions import Decision, OnDecision
from otel_docsfab.supervisor.faults import Faults, Site
from otel_docsfab.supervisor.scheduler import SCHEDULER


class Callbacks:
    """Calls one callback and looks after the tasks of an async one.

    What the scheduler's thread decides is told by a thread of its own, which is there as long as something waits to be
    told: a callback that takes its time delays other callbacks, and nobody's ask.
    """

    def __init__(self, on_decision: OnDecision | None, faults: Faults, max_queued: int = 1_024) -> None:
        """Remember the callback.

        Args:
            on_decision: A plain or async callable, or None.
            faults: Counts what it raises, and decisions that were not told.
            max_queued: Timed decisions that wait at most; those past it are not told.
        """
        self._on_decision = on_decision
        self._is_async = inspect.iscoroutinefunction(on_decision)
        self._faults = faults
        self._max_queued = max_queued
        self._tasks: set[asyncio.Task[None]] = set()
        self.forked()

    def forked(self) -> None:
        """In a forked child: what waits, and who tells it, are the parent's."""
        self._lock = threading.Lock()
        self._queue: deque[tuple[Decision, asyncio.AbstractEventLoop | None]] = deque()
        self._telling = False

    def call(self, decision: Decision, loop: asyncio.AbstractEventLoop | None) -> None:
        """Tell the host; what the callback raises is counted.

        Args:
            decision: What was decided.
            loop: The attempt's event loop; an async callback runs there.
        """
        if self._on_decision is None:
            return
        if SCHEDULER.is_here and not self._is_async:
            self._enqueue(decision, loop)
        else:
            self._call(self._on_decision, decision, loop)

    def _call(self, on_decision: OnDecision, decision: Decision, loop: asyncio.AbstractEventLoop | None) -> None:
        try:
            outcome = on_decision(decision)
            if inspect.isawaitable(outcome):
                self._schedule(outcome, loop)
        except Exception as error:  # noqa: BLE001 - a host's callback may raise anything
            self._faults.count(Site.CALLBACK, error, "The on_decision callback raised.")

    def _enqueue(self, decision: Decision, loop: asyncio.AbstractEventLoop | None) -> None:
        with self._lock:
            full = len(self._queue) >= self._max_queued
            if not full:
                self._queue.append((decision, loop))
            begin = not full and not self._telling
            self._telling = self._telling or begin
        if full:
            hint = "The on_decision callback is too slow for the decisions that time makes; some were not told."
            self._faults.count(Site.SCHEDULER, None, hint)
        elif begin:
            self._begin()

    def _begin(self) -> None:
        try:
            threading.Thread(target=self._tell_queued, name="otel-docsfab-callbacks", daemon=True).start()
        except RuntimeError as error:  # the interpreter is ending, or the system has no thread left
            with self._lock:
                self._telling = False
                self._queue.clear()
            self._faults.count(Site.SCHEDULER, error, "No thread can be started to tell a decision.")

    def _tell_queued(self) -> None:
        while True:
            with self._lock:
                if not self._queue or self._on_decision is None:
                    self._telling = False
                    return
                decision, loop = self._queue.popleft()
            self._call(self._on_decision, decision, loop)

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
