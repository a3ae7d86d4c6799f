"""Spans in any order to whole traces, in memory bounded by the traces that are open.

A file holds spans as they ended, batch by batch, from several hosts and often from several files. A trace is handed
out when its root was seen and no span of it came for a while, counted in spans of other traces; the rest at the end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from otel_docsfab.spans.view import RecordedSpan

WINDOW: Final = 10_000
"""A trace with its root is waited for through this many spans of other traces."""
_ROOTLESS_WINDOWS: Final = 5
MAX_HELD: Final = 500_000
"""Spans held at most; past it the longest unseen trace is handed out as it is."""
_REMEMBERED: Final = 100_000


class _Trace:
    __slots__ = ("newest", "rooted", "spans")

    def __init__(self) -> None:
        self.spans: list[RecordedSpan] = []
        self.rooted = False
        self.newest = 0


class Assembler:
    """Collects spans by trace.

    Args:
        window: Spans of other traces through which a trace is waited for.
        max_held: Spans held at most.

    Attributes:
        late: Spans that came when their trace was already handed out; they are left out.
        cut: Traces handed out early because too many spans were held.
    """

    def __init__(self, window: int = WINDOW, max_held: int = MAX_HELD) -> None:
        """Hold nothing yet."""
        self.late = 0
        self.cut = 0
        self._window = window
        self._max_held = max_held
        self._seen = 0
        self._held = 0
        self._rooted: OrderedDict[str, _Trace] = OrderedDict()  # the longest unseen first
        self._rootless: OrderedDict[str, _Trace] = OrderedDict()
        self._done: OrderedDict[str, None] = OrderedDict()

    def add(self, span: RecordedSpan) -> Iterator[list[RecordedSpan]]:
        """Take a span; yields traces that are complete by now."""
        self._seen += 1
        trace_id = span.trace_id
        if trace_id in self._done:
            self.late += 1
            return
        trace = self._rooted.pop(trace_id, None) or self._rootless.pop(trace_id, None) or _Trace()
        trace.spans.append(span)
        trace.rooted = trace.rooted or span.parent_id is None
        trace.newest = self._seen
        (self._rooted if trace.rooted else self._rootless)[trace_id] = trace
        self._held += 1
        yield from self._ripe()

    def rest(self) -> Iterator[list[RecordedSpan]]:
        """The traces that are left, the longest unseen first."""
        while self._rooted or self._rootless:
            yield self._hand_out(self._rooted or self._rootless)

    def _ripe(self) -> Iterator[list[RecordedSpan]]:
        for traces, window in ((self._rooted, self._window), (self._rootless, self._window * _ROOTLESS_WINDOWS)):
            while traces and self._seen - next(iter(traces.values())).newest > window:
                yield self._hand_out(traces)
        while self._held > self._max_held:
            self.cut += 1
            yield self._hand_out(self._rooted or self._rootless)

    def _hand_out(self, traces: OrderedDict[str, _Trace]) -> list[RecordedSpan]:
        trace_id, trace = traces.popitem(last=False)
        self._held -= len(trace.spans)
        self._done[trace_id] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        return trace.spans
