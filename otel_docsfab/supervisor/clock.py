"""Time for attempts. The wall clock may step; only the monotonic one is measured with."""

from __future__ import annotations

import time
from typing import Protocol

from otel_docsfab.supervisor.scheduler import SCHEDULER, Alarm, Sleeper


class Clock(Protocol):
    """Two readings of time, and an alarm."""

    def monotonic_ms(self) -> int:
        """Ms since any fixed moment; never goes back."""
        ...

    def unix_ms(self) -> int:
        """Ms since the epoch, for records only."""
        ...

    def set_alarm(self, sleeper: Sleeper, at_ms: int) -> Alarm:
        """Wake a sleeper when ``monotonic_ms`` comes to ``at_ms``; it is not kept alive for that."""
        ...


class SystemClock:
    """The machine's clocks; alarms go off on the process's scheduler thread."""

    __slots__ = ()

    def monotonic_ms(self) -> int:
        """Ms of the monotonic clock."""
        return time.monotonic_ns() // 1_000_000

    def unix_ms(self) -> int:
        """Ms of the wall clock."""
        return time.time_ns() // 1_000_000

    def set_alarm(self, sleeper: Sleeper, at_ms: int) -> Alarm:
        """Wake a sleeper on the scheduler's thread, never before the whole time has passed.

        Readings are cut to whole ms, the one at which the time began too: one more makes sure of it.

        Raises:
            RuntimeError: No thread can be started any more.
        """
        return SCHEDULER.set(sleeper, at_ms + 1)
