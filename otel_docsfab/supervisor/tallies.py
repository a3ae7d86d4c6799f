"""Counts that metrics are read from: plain integers, added up on the way and read at collection time."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from otel_docsfab.catalogue.attributes import MAX_LABEL_LENGTH, UNJUDGED
from otel_docsfab.catalogue.words import OTHER
from otel_docsfab.core import DeliverResult, DenyCall, ToolClass
from otel_docsfab.core.codes import Denial

Key = tuple[str, tuple[str, ...]]


class Tallies:
    """Cumulative counts by metric name and label values, in the order of the catalogue's attributes."""

    __slots__ = ("_counts", "_lock", "_max_tools", "_tools")

    def __init__(self, max_tools: int = 64) -> None:
        """Start empty; tools past ``max_tools`` count as ``other``, so that no runtime can fill the memory."""
        self._lock = threading.Lock()
        self._counts: dict[Key, int] = {}
        self._max_tools = max_tools
        self._tools: set[str] = set()

    def add(self, metric: str, labels: tuple[str, ...] = (), amount: int = 1) -> None:
        """Add to one count."""
        key = (metric, labels)
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def add_result(self, effect: DeliverResult, *, enforced: bool) -> None:
        """Count a successful read by its verdict; other results have no count."""
        if effect.tool_class is not ToolClass.READ or not effect.ok:
            return
        self.add("docsfab.read.results", (self._tool(effect.tool), _verdict(effect), _flag(value=enforced)))
        if effect.unjudged:
            self.add("docsfab.read.unjudged", (effect.unjudged.value,))

    def add_bytes(self, effect: DeliverResult, size: int, *, enforced: bool) -> None:
        """Count the bytes of a read whose result is known; those of a notice-only one are saved, or could have been."""
        if effect.tool_class is ToolClass.READ and effect.ok and size:
            self.add("docsfab.read.bytes", (_verdict(effect), _flag(value=enforced)), size)

    def add_denial(self, effect: DenyCall, *, enforced: bool) -> None:
        """Count a denied call; calls after a stop are counted apart, by the sinks (R16)."""
        if effect.reason is not Denial.STOPPED:
            self.add("docsfab.tool_calls.denied", (effect.reason.value, _flag(value=enforced)))

    def read(self) -> Mapping[Key, int]:
        """A copy of all counts."""
        with self._lock:
            return dict(self._counts)

    def forked(self) -> None:
        """Start over in a forked child: what the parent counted is the parent's to tell."""
        self._lock = threading.Lock()
        self._counts = {}

    def _tool(self, name: str) -> str:
        if name in self._tools:
            return name
        with self._lock:
            if len(self._tools) >= self._max_tools or len(name) > MAX_LABEL_LENGTH:
                return OTHER
            self._tools.add(name)
        return name


def _verdict(effect: DeliverResult) -> str:
    return UNJUDGED if effect.unjudged else effect.verdict.value


def _flag(*, value: bool) -> str:
    return "true" if value else "false"
