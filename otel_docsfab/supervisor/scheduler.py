"""Waking attempts when their time comes: one thread a process, however many attempts there are.

The thread starts with the first attempt that has a timer, never at import, and again in a forked child when that opens
one of its own. Nobody's callback runs on it: what is decided there is told elsewhere.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import os
import threading
import time
import weakref
from typing import Final, Protocol

_log = logging.getLogger("otel_docsfab")

MAX_WAIT_S: Final = 1.0
"""Longest wait without a look at the clock: some platforms measure waits with the wall clock, which may step."""
_AT_ONCE: Final = 64
"""Sleepers taken from the alarms in one go, so that nobody who sets an alarm waits for a crowd to be sorted out."""
_MIN_UNSET: Final = 64


class Sleeper(Protocol):
    """Who can be woken."""

    def wake(self) -> None:
        """The time has come. Must not block, and raises nothing."""


class Alarm:
    """One time at which one sleeper is to be woken; ``unset`` it when that is no longer wanted."""

    __slots__ = ("_alarms", "_sleeper")

    def __init__(self, alarms: Alarms, sleeper: Sleeper) -> None:
        """Belong to these alarms; the sleeper is not kept alive."""
        self._alarms = alarms
        self._sleeper: weakref.ref[Sleeper] | None = weakref.ref(sleeper)

    def unset(self) -> None:
        """Wake nobody; after the alarm went off it does nothing."""
        self._alarms.unset(self)

    def take(self) -> weakref.ref[Sleeper] | None:
        """Whom to wake, once."""
        sleeper, self._sleeper = self._sleeper, None
        return sleeper


class Alarms:
    """Times and sleepers, soonest first; safe to use from any thread."""

    def __init__(self) -> None:
        """No alarm is set."""
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._heap: list[tuple[int, int, Alarm]] = []
        self._unset = 0  # of those in the heap

    def set(self, sleeper: Sleeper, at_ms: int) -> tuple[Alarm, bool]:
        """Set an alarm.

        Args:
            sleeper: Whom to wake; it is not kept alive.
            at_ms: When, ms of the clock that the alarms go by.

        Returns:
            The alarm, and whether it is now the soonest.
        """
        alarm = Alarm(self, sleeper)
        with self._lock:
            heapq.heappush(self._heap, (at_ms, next(self._numbers), alarm))
            return alarm, self._heap[0][2] is alarm

    def unset(self, alarm: Alarm) -> None:
        """Forget an alarm. The heap holds on to at most as many unset ones as it has others."""
        with self._lock:
            if alarm.take() is None:
                return
            self._unset += 1
            if self._unset > max(_MIN_UNSET, len(self._heap) // 2):
                self._heap = [entry for entry in self._heap if entry[2]._sleeper is not None]  # noqa: SLF001 - its own
                heapq.heapify(self._heap)
                self._unset = 0

    def due(self, now_ms: int, at_most: int = _AT_ONCE) -> list[Sleeper]:
        """Take out those whose time has come, soonest first, ``at_most`` so many."""
        woken: list[Sleeper] = []
        with self._lock:
            while self._heap and self._heap[0][0] <= now_ms and len(woken) < at_most:
                reference = heapq.heappop(self._heap)[2].take()
                if reference is None:
                    self._unset -= 1
                    continue
                sleeper = reference()
                if sleeper is not None:
                    woken.append(sleeper)
        return woken

    def next_ms(self) -> int | None:
        """When the soonest is due; None when none is set."""
        with self._lock:
            return self._heap[0][0] if self._heap else None

    def __len__(self) -> int:
        """Alarms in the heap, unset ones included."""
        return len(self._heap)


class Scheduler:
    """Alarms by the system's monotonic clock, and the thread that looks after them."""

    def __init__(self) -> None:
        """Start no thread."""
        self.forked()

    def forked(self) -> None:
        """In a forked child: the alarms are the parent's, and so is the thread."""
        self.alarms = Alarms()
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None

    def set(self, sleeper: Sleeper, at_ms: int) -> Alarm:
        """Wake a sleeper at a time, or as soon after it as the machine allows.

        Args:
            sleeper: Whom to wake.
            at_ms: When, ms of the monotonic clock.

        Raises:
            RuntimeError: The thread is not there and cannot be started.
        """
        alarm, soonest = self.alarms.set(sleeper, at_ms)
        if soonest:
            self._changed.set()
        if self._thread is None:
            self._start()
        return alarm

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name="otel-docsfab-scheduler", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None
                raise

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on the scheduler's thread."""
        return threading.current_thread() is self._thread

    @property
    def running(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def _run(self) -> None:
        changed = self._changed
        while True:
            changed.clear()  # before the look: what is set after it is not missed
            for sleeper in self.alarms.due(_now_ms()):
                _wake(sleeper)
            next_ms = self.alarms.next_ms()
            if next_ms is None:
                changed.wait()
            else:
                changed.wait(min(MAX_WAIT_S, max(0.0, (next_ms - _now_ms()) / 1000)))


def _wake(sleeper: Sleeper) -> None:
    try:
        sleeper.wake()
    except Exception as error:  # noqa: BLE001 - one sleeper's fault must not keep the others asleep
        _log.warning("otel-docsfab: %s when an attempt was woken", type(error).__name__)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


SCHEDULER: Final = Scheduler()
"""The process's own."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SCHEDULER.forked)
