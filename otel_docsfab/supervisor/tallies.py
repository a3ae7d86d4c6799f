"""Counts that metrics are read from: plain integers, added up on the way and read at collection time."""

from __future__ import annotations

import threading
from collections.abc import Mapping

Key = tuple[str, tuple[str, ...]]


class Tallies:
    """Cumulative counts by metric name and label values, in the order of the catalogue's attributes."""

    __slots__ = ("_counts", "_lock")

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._counts: dict[Key, int] = {}

    def add(self, metric: str, labels: tuple[str, ...] = (), amount: int = 1) -> None:
        """Add to one count."""
        key = (metric, labels)
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def read(self) -> Mapping[Key, int]:
        """A copy of all counts."""
        with self._lock:
            return dict(self._counts)

    def forked(self) -> None:
        """Start over in a forked child: what the parent counted is the parent's to tell."""
        self._lock = threading.Lock()
        self._counts = {}
