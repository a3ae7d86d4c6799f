"""Span events of our own: compactions, evictions and where a model request is (DESIGN section 4).

Some runtimes have stream events of their own (``llm.content.completion.chunk``, ``First Token Stream Event``): they
say that output came and not of which kind. That is ``streaming``, and so is an open model span without them.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from typing import Any, Final

from opentelemetry.sdk.util import BoundedList

from otel_docsfab.core import Compacted, Event, Evicted, Output, OutputStarted, RequestEnded, RequestSent
from otel_docsfab.spans import attributes as names
from otel_docsfab.spans.view import EventView
from otel_docsfab.supervisor.timing import News

_REQUESTS: Final = (RequestSent, OutputStarted, RequestEnded)


def compaction_of(call_ids: tuple[str, ...]) -> Event:
    """A compaction of everything, or the eviction of some calls' results (R12, R12a)."""
    return Evicted(call_ids) if call_ids else Compacted()


def machine_event(event: EventView) -> Event | None:
    """The machine's event for a span event; None for foreign ones."""
    if event.name == names.COMPACTION:
        ids = event.attributes.get(names.EVICTED_CALL_IDS)
        return compaction_of(_texts(ids))
    if event.name == names.REQUEST_SENT:
        return RequestSent(output_visible=True)
    if event.name == names.OUTPUT_STARTED:
        kind = event.attributes.get(names.OUTPUT_KIND)
        return OutputStarted(Output(kind) if isinstance(kind, str) and kind in list(Output) else Output.OTHER)
    if event.name == names.REQUEST_ENDED:
        return RequestEnded()
    return None


def news_of(events: Iterable[EventView], *, requests: bool) -> list[News]:
    """The machine's events among span events, in order.

    Args:
        events: Span events.
        requests: Whether those about model requests are wanted: not when the host reports its requests itself.
    """
    found = []
    for event in events:
        told = machine_event(event)
        if told is not None and (requests or not isinstance(told, _REQUESTS)):
            found.append(News(told, event.time_unix_ns // 1_000_000))
    return found


class OpenSpans:
    """Live spans of one attempt whose events are read before they end; each event once."""

    __slots__ = ("_lock", "_spans")

    def __init__(self) -> None:
        """Hold none."""
        self._lock = threading.Lock()
        self._spans: dict[Hashable, tuple[Any, int]] = {}  # the span, and how many of its events were read

    def hold(self, key: Hashable, span: Any) -> None:
        """Look at this span from now on."""
        with self._lock:
            self._spans[key] = (span, 0)

    def release(self, key: Hashable) -> bool:
        """Look at it no more. False when it was not held."""
        with self._lock:
            return self._spans.pop(key, None) is not None

    def fresh(self, *, requests: bool) -> list[News]:
        """What was added to the spans since the last look, oldest first; those of one span in their own order.

        Args:
            requests: As for ``news_of``.
        """
        fresh: list[tuple[int, EventView]] = []
        with self._lock:
            changed = [(key, *held) for key, held in self._spans.items() if _has_news(*held)]
            for key, span, seen in changed:
                events = span.events
                dropped = getattr(span, "dropped_events", 0)
                if dropped + len(events) > seen:
                    newest = 0  # the wall clock may have stepped back between two of them
                    for event in events[max(0, seen - dropped) :]:
                        newest = max(newest, event.timestamp)
                        fresh.append((newest, EventView(event.name, event.attributes or {}, event.timestamp)))
                    self._spans[key] = (span, dropped + len(events))
        if not fresh:
            return []
        fresh.sort(key=lambda entry: entry[0])
        return news_of((event for _, event in fresh), requests=requests)

    def __len__(self) -> int:
        """How many are held."""
        return len(self._spans)


def _has_news(span: Any, seen: int) -> bool:
    """Whether a live span may have more events than were read; the SDK's own list tells without being copied."""
    log = getattr(span, "_events", None)
    return not isinstance(log, BoundedList) or len(log) + log.dropped != seen


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, (list, tuple)) else ()
