"""Span events of our own: compactions, evictions and where a model request is (DESIGN section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otel_docsfab.core import Compacted, Event, Evicted, Output, OutputStarted, RequestSent
from otel_docsfab.spans import attributes as names
from otel_docsfab.spans.view import EventView


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
    return None


def machine_events(events: Iterable[Any]) -> list[Event]:
    """The machine's events among span events of the SDK or of a recording, in order."""
    found = []
    for event in events:
        if isinstance(event.name, str) and event.name.startswith("docsfab."):
            told = machine_event(EventView(event.name, event.attributes or {}))
            if told is not None:
                found.append(told)
    return found


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, (list, tuple)) else ()
