"""Stretches without progress, and repeats that stop nothing (R8, R24: beyond the source)."""

from __future__ import annotations

from otel_docsfab.core.record import Stall


class StallMeter:
    """Counts of one attempt; constant time and bounded memory."""

    __slots__ = (
        "_calls",
        "_failed",
        "_longest_calls",
        "_longest_turns",
        "_max_failed",
        "_max_keys",
        "_max_progress",
        "_progress_calls",
        "_progress_turn",
    )

    def __init__(self, max_keys: int) -> None:
        """Start empty; at most ``max_keys`` failed reads and progress calls are told apart."""
        self._max_keys = max_keys
        self._calls = 0
        self._progress_turn = 0
        self._longest_calls = 0
        self._longest_turns = 0
        self._failed: dict[bytes, int] = {}
        self._progress_calls: dict[bytes, int] = {}
        self._max_failed = 0
        self._max_progress = 0

    def no_progress(self) -> None:
        """One call ended, or was denied, without progress."""
        self._calls += 1
        self._longest_calls = max(self._longest_calls, self._calls)

    def progressed(self, turn: int) -> None:
        """There was progress of R28 in this turn."""
        self._calls = 0
        self._progress_turn = turn

    def turn_ended(self, turn: int) -> None:
        """A turn ended."""
        if turn - self._progress_turn > self._longest_turns:  # noqa: PLR1730 - each turn; max() takes longer
            self._longest_turns = turn - self._progress_turn

    def repeated(self, key: bytes, *, failed_read: bool) -> None:
        """A read failed, or a progress-class call ran, under this tool and arguments."""
        seen = self._failed if failed_read else self._progress_calls
        count = seen.get(key, -1) + 1
        if count == 0 and len(seen) >= self._max_keys:
            return
        seen[key] = count
        if failed_read:
            self._max_failed = max(self._max_failed, count)
        else:
            self._max_progress = max(self._max_progress, count)

    def stall(self) -> Stall:
        """The counts so far."""
        return Stall(self._longest_calls, self._longest_turns, self._max_failed, self._max_progress)
