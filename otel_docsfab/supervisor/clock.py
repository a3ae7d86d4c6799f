"""Time for attempts. The wall clock may step; only the monotonic one is measured with."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings of time."""

    def monotonic_ms(self) -> int:
        """Ms since any fixed moment; never goes back."""
        ...

    def unix_ms(self) -> int:
        """Ms since the epoch, for records only."""
        ...


class SystemClock:
    """The machine's clocks."""

    __slots__ = ()

    def monotonic_ms(self) -> int:
        """Ms of the monotonic clock."""
        return time.monotonic_ns() // 1_000_000

    def unix_ms(self) -> int:
        """Ms of the wall clock."""
        return time.time_ns() // 1_000_000
