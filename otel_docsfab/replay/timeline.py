"""One trace's spans as starts, events and ends in the order in which they happened.

Parents start before and, as far as their own times say, end after their children; spans of another host, whose clock
says something impossible, are moved into their parent. Among equal times, what ended comes before what starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from otel_docsfab.spans.view import EventView, RecordedSpan

_HOSTS: Final = ("host.id", "host.name", "k8s.node.name", "k8s.pod.uid", "service.instance.id", "service.name")
_OWN_EVENTS: Final = "docsfab."


class What(IntEnum):
    """What happens at a moment."""

    START = 0
    EVENT = 1
    END = 2


class Moment(NamedTuple):
    """One moment of a trace.

    Attributes:
        what: What happens.
        span: The span.
        parent_id: Its parent, when that is in the trace; else None.
        at_ns: When, ns since the epoch, on the trace's own clock.
        event: For events: the event, in that time.
    """

    what: What
    span: RecordedSpan
    parent_id: str | None
    at_ns: int
    event: EventView | None = None


def timeline(spans: Iterable[RecordedSpan]) -> Iterator[Moment]:
    """The moments of one trace.

    Args:
        spans: Its spans in any order. Of a span told twice the first counts; one whose parent is not among them, or is
            below itself, is topmost.

    Yields:
        For each span a start and an end, its own events (``docsfab.*``) between.
    """
    tree = _Tree(list({span.span_id: span for span in reversed(list(spans))}.values())[::-1])
    spans, parents = tree.spans, tree.parent
    for at_ns, _, _, index, _, what, event in sorted(tree.moments()):
        parent = parents[index]
        yield Moment(what, spans[index], None if parent is None else spans[parent].span_id, at_ns, event)


class _Tree:
    """Parents, depths and corrected times by index."""

    def __init__(self, spans: Sequence[RecordedSpan]) -> None:
        by_id = {span.span_id: index for index, span in enumerate(spans)}
        self.parent = [by_id.get(span.parent_id) if span.parent_id else None for span in spans]
        self.depth = self._depths(spans)
        self.spans = [
            span._replace(is_root=True) if self.parent[index] is None and not span.is_root else span
            for index, span in enumerate(spans)
        ]
        self.start = [span.start_unix_ns for span in spans]
        self.end = [max(span.start_unix_ns, span.end_unix_ns) for span in spans]
        self.offset = [0] * len(spans)
        downward = sorted(range(len(spans)), key=self.depth.__getitem__)
        hosts = [_host(span.resource) for span in spans]
        for index in downward:
            self._place(index, hosts)
        self._cover(reversed(downward))

    def _depths(self, spans: Sequence[RecordedSpan]) -> list[int]:
        """Distance from the topmost span; a circle of parents is opened at its earliest span."""
        depths = [-1] * len(spans)
        for index in range(len(spans)):
            path: list[int] = []
            passed: set[int] = set()
            at: int | None = index
            while at is not None and depths[at] < 0 and at not in passed:
                path.append(at)
                passed.add(at)
                at = self.parent[at]
            if at in passed:
                circle = path[path.index(at) :]
                first = min(circle, key=lambda step: (spans[step].start_unix_ns, spans[step].span_id))
                turned = circle.index(first) + 1
                path[-len(circle) :] = circle[turned:] + circle[:turned]
                self.parent[first] = at = None
            below = -1 if at is None else depths[at]
            for step in reversed(path):
                below += 1
                depths[step] = below
        return depths

    def _place(self, index: int, hosts: Sequence[tuple[str, Any] | None]) -> None:
        """Correct one span's clock against its parent's, and start it no earlier than its parent."""
        parent = self.parent[index]
        if parent is None:
            return
        if hosts[index] == hosts[parent] or hosts[index] is None or hosts[parent] is None:
            offset = self.offset[parent]
        else:
            offset = self._skew(index, parent)
        self.offset[index] = offset
        self.start[index] = max(self.start[index] + offset, self.start[parent])
        self.end[index] = max(self.end[index] + offset, self.start[index])

    def _skew(self, index: int, parent: int) -> int:
        start, end, first, last = self.start[index], self.end[index], self.start[parent], self.end[parent]
        if first <= start <= last:
            return 0
        spare = (last - first) - (end - start)
        return first + max(0, spare) // 2 - start

    def _cover(self, upward: Iterable[int]) -> None:
        """Let a span last until what only started after its end is over: its own end came early."""
        ends = list(self.end)  # the latest of each subtree, as are the starts; what lasts starts after an equal end
        starts = [start + (end > start) for start, end in zip(self.start, self.end, strict=True)]
        for index in upward:
            parent = self.parent[index]
            if starts[index] > self.end[index]:
                self.end[index] = max(self.end[index], ends[index])
            if parent is not None:
                starts[parent] = max(starts[parent], starts[index])
                ends[parent] = max(ends[parent], ends[index], self.end[index])

    def moments(self) -> Iterator[tuple[int, int, float, int, int, What, EventView | None]]:
        """(time, phase, place, index, number, what, event), to be sorted; no two are alike up to the number.

        The phases of one time: ends, starts, ends of what took no time.
        """
        for index, span in enumerate(self.spans):
            start, end, depth, parent = self.start[index], self.end[index], self.depth[index], self.parent[index]
            at_end = parent is not None and start == end == self.end[parent] != self.start[parent]
            if at_end:
                yield (start, 0, -depth, index, 0, What.START, None)
            else:
                yield (start, 1, depth, index, 0, What.START, None)
            yield (end, 2 if start == end and not at_end else 0, -depth, index, 1 + len(span.events), What.END, None)
            for number, event in enumerate(span.events, 1):
                if event.name.startswith(_OWN_EVENTS):
                    at_ns = min(max(event.time_unix_ns + self.offset[index], start), end)
                    moved = event._replace(time_unix_ns=at_ns)
                    phase, place = (0, -depth - 0.5) if at_ns == end != start else (1, depth + 0.5)
                    yield (at_ns, phase, place, index, number, What.EVENT, moved)


def _host(resource: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Whose clock a span was timed by: the most telling name the resource has."""
    for key in _HOSTS:
        value = resource.get(key)
        if isinstance(value, str) and value:
            return key, value
    return None
