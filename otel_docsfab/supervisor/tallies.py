"""Counts that metrics are read from: plain integers, added up on the way and read at collection time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from otel_docsfab.catalogue.attributes import MAX_LABEL_LENGTH, UNJUDGED
from otel_docsfab.catalogue.words import OTHER
from otel_docsfab.core import DeliverResult, DenyCall, Progress, ToolClass, Unjudged, Verdict
from otel_docsfab.core.codes import Denial

Key = tuple[str, tuple[str, ...]]
Kind = tuple[str | None, Verdict, Unjudged | None, Progress | None, bool]
"""What results are counted by: the tool of a successful read, verdict, reason, progress, whether enforced."""

_READ = ToolClass.READ
_FLAGS = {True: "true", False: "false"}


class Tallies:
    """Cumulative counts by metric name and label values, in the order of the catalogue's attributes."""

    __slots__ = ("_counts", "_lock", "_max_tools", "_results", "_tools")

    def __init__(self, max_tools: int = 64) -> None:
        """Start empty; tools past ``max_tools`` count as ``other``, so that no runtime can fill the memory."""
        self._lock = threading.Lock()
        self._counts: dict[Key, int] = {}
        self._results: dict[Kind, list[int]] = {}  # their number and bytes: one look-up a call, told apart when read
        self._max_tools = max_tools
        self._tools: set[str] = set()

    def add(self, metric: str, labels: tuple[str, ...] = (), amount: int = 1) -> None:
        """Add to one count."""
        key = (metric, labels)
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def add_result(self, effect: DeliverResult, size: int, *, enforced: bool) -> None:
        """Count a result: a successful read by its verdict, and progress by its kind.

        Args:
            effect: The result's judgement.
            size: Bytes of a known result, else 0; those of a notice-only one are saved, or could have been.
            enforced: Whether the verdict takes effect.
        """
        read = effect.tool_class is _READ and effect.ok
        kind = (effect.tool if read else None, effect.verdict, effect.unjudged, effect.progress, enforced)
        with self._lock:
            tally = self._results.get(kind)
            if tally is None:
                if read and not self._is_known(effect.tool):
                    kind = (OTHER, *kind[1:])
                tally = self._results.setdefault(kind, [0, 0])
            tally[0] += 1
            tally[1] += size

    def add_denial(self, effect: DenyCall, *, enforced: bool) -> None:
        """Count a denied call; calls after a stop are counted apart, by the sinks (R16)."""
        if effect.reason is not Denial.STOPPED:
            self.add("docsfab.tool_calls.denied", (effect.reason.value, _FLAGS[enforced]))

    def read(self) -> Mapping[Key, int]:
        """A copy of all counts."""
        with self._lock:
            counts = dict(self._counts)
            results = [(kind, tally[0], tally[1]) for kind, tally in self._results.items()]
        for kind, number, size in results:
            for key, amount in _metrics_of(kind, number, size):
                if amount:
                    counts[key] = counts.get(key, 0) + amount
        return counts

    def forked(self) -> None:
        """Start over in a forked child: what the parent counted is the parent's to tell."""
        self._lock = threading.Lock()
        self._counts = {}
        self._results = {}

    def _is_known(self, tool: str) -> bool:
        """Whether a tool has a label of its own, given to it now if there is room."""
        if tool in self._tools:
            return True
        if len(self._tools) >= self._max_tools or len(tool) > MAX_LABEL_LENGTH:
            return False
        self._tools.add(tool)
        return True


def _metrics_of(kind: Kind, number: int, size: int) -> Iterator[tuple[Key, int]]:
    """What results of one kind add to which metric."""
    tool, verdict, unjudged, progress, enforced = kind
    if tool is not None:
        said, flag = UNJUDGED if unjudged else verdict.value, _FLAGS[enforced]
        yield ("docsfab.read.results", (tool, said, flag)), number
        yield ("docsfab.read.bytes", (said, flag)), size
        if unjudged:
            yield ("docsfab.read.unjudged", (unjudged.value,)), number
    if progress is not None:
        yield ("docsfab.lease.progress", (progress.value,)), number
