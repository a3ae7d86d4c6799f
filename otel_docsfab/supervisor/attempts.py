"""The table of live attempts: bounded, and empty after a fork."""

from __future__ import annotations

import threading
from collections import OrderedDict

from otel_docsfab.supervisor.attempt import Attempt

_LOOKS = 8
"""How many attempts one newcomer looks at: the price of opening an attempt does not grow with the table."""


class Attempts:
    """Live attempts in the order in which they were last looked at.

    The longest unseen one gives way at the cap. One that was active since it was last looked at gets a second chance,
    so that the hot path never touches this table.
    """

    def __init__(self, cap: int, idle_ms: int) -> None:
        """Start empty.

        Args:
            cap: Attempts at most.
            idle_ms: Attempts without an event for this long are given up, ms.
        """
        self._cap = cap
        self._idle_ms = idle_ms
        self._lock = threading.Lock()
        self._live: OrderedDict[int, tuple[Attempt, int]] = OrderedDict()

    def add(self, attempt: Attempt, now_ms: int) -> list[tuple[Attempt, str]]:
        """Take an attempt in.

        Returns:
            Attempts to be given up for it, each with the reason ``idle`` or ``cap``; the caller closes them.
        """
        given_up: list[tuple[Attempt, str]] = []
        with self._lock:
            self._live[id(attempt)] = (attempt, now_ms)
            looks = min(_LOOKS, len(self._live) - 1)  # each of the others once at most
            for look in range(1, looks + 1):
                oldest, seen_ms = next(iter(self._live.values()))
                over = len(self._live) > self._cap
                if now_ms - oldest.active_ms >= self._idle_ms:
                    reason = "idle"
                elif oldest.active_ms > seen_ms and not (over and look == looks):
                    self._live[id(oldest)] = (oldest, oldest.active_ms)
                    self._live.move_to_end(id(oldest))
                    continue
                elif over:
                    reason = "cap"
                else:
                    break
                del self._live[id(oldest)]
                given_up.append((oldest, reason))
        return given_up

    def remove(self, attempt: Attempt) -> None:
        """Forget an attempt; unknown ones do no harm."""
        with self._lock:
            self._live.pop(id(attempt), None)

    def all(self) -> list[Attempt]:
        """The live attempts now."""
        with self._lock:
            return [attempt for attempt, _ in self._live.values()]

    def __len__(self) -> int:
        """How many are live."""
        return len(self._live)

    def forked(self) -> list[Attempt]:
        """In a forked child: drop what is the parent's; returns it."""
        self._lock = threading.Lock()
        dropped = [attempt for attempt, _ in self._live.values()]
        self._live = OrderedDict()
        return dropped
