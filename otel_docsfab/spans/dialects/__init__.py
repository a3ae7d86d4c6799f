"""Dialects: what ONE span of any runtime means. Trees, folding and turns are the tracker's business.

``role_at_start`` and ``start_tool`` read what is there when a span starts, ``observe`` reads an ended span. None of
them raises, keeps content or takes a lock; a span that stands for nothing costs next to nothing.
"""

from __future__ import annotations

from typing import Final

from otel_docsfab.spans.attributes import COMPACTION, EVICTED_CALL_IDS
from otel_docsfab.spans.dialects.family import Dialect, Family
from otel_docsfab.spans.dialects.registry import ENTRY_POINT_GROUP, Registry
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.dialects.values import result_text, text_of
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.view import SpanView

__all__ = [
    "ENTRY_POINT_GROUP",
    "REGISTRY",
    "Dialect",
    "Family",
    "Registry",
    "Source",
    "compactions",
    "observe",
    "register_dialect",
    "result_text",
    "role_at_start",
    "start_tool",
]

REGISTRY: Final = Registry()
"""The dialects that everything in this process reads with."""


def register_dialect(dialect: Dialect, before: str | None = None) -> None:
    """Teach this process another runtime's spans.

    Args:
        dialect: A stateless object with ``name``, ``scopes``, ``matches``, ``role_at_start``, ``start_tool`` and
            ``observe``; a subclass of ``Family`` as a rule. One of a known name takes that one's place.
        before: Name of the dialect to ask after it; it is asked last when None.

    Raises:
        ValueError: No dialect is called ``before``.
    """
    REGISTRY.register(dialect, before)


def role_at_start(view: SpanView) -> Role | None:
    """What a span stands for, as far as its start tells.

    Several runtimes set attributes late: a None here may still become a role in ``observe``, and a root chain that
    starts as an agent may end as a tool or a model request.
    """
    try:
        if view.name == COMPACTION:
            return Role.COMPACTION
        dialect = REGISTRY.find(view)
        return None if dialect is None else dialect.role_at_start(view)
    except Exception as error:  # noqa: BLE001 - telemetry never hurts the host
        REGISTRY.report(_name_of(view), error)
        return None


def start_tool(view: SpanView) -> tuple[str | None, str | None]:
    """Tool name and call id of a starting tool span, each as far as it is there."""
    try:
        dialect = REGISTRY.find(view)
        return (None, None) if dialect is None else dialect.start_tool(view)
    except Exception as error:  # noqa: BLE001 - telemetry never hurts the host
        REGISTRY.report(_name_of(view), error)
        return None, None


def observe(view: SpanView) -> Observation | None:
    """Read an ended span.

    Returns:
        What it means; None for a span that stands for nothing or cannot be read.
    """
    try:
        if view.name == COMPACTION:
            return Observation(Role.COMPACTION, "docsfab", evicted=_evicted(view.attributes.get(EVICTED_CALL_IDS)))
        dialect = REGISTRY.find(view)
        return None if dialect is None else dialect.observe(view)
    except Exception as error:  # noqa: BLE001 - telemetry never hurts the host
        REGISTRY.report(_name_of(view), error)
        return None


def compactions(view: SpanView) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Compactions told as events of a span.

    Returns:
        Time (ns since the epoch) and evicted call ids (empty for a whole compaction) of each, in order.
    """
    events = view.events
    if not events:
        return ()
    try:
        return tuple(
            (event.time_unix_ns, _evicted(event.attributes.get(EVICTED_CALL_IDS)))
            for event in events
            if text_of(event.name) == COMPACTION
        )
    except Exception as error:  # noqa: BLE001 - telemetry never hurts the host
        REGISTRY.report("docsfab", error)
        return ()


def _evicted(value: object) -> tuple[str, ...]:
    text = text_of(value)
    if text is not None:
        return (text,) if text else ()
    if not issubclass(type(value), (list, tuple)):
        return ()
    ids = [text_of(item) for item in value]  # type: ignore[attr-defined]  # a list or tuple by the line above
    return tuple(call_id for call_id in ids if call_id)


def _name_of(view: SpanView) -> str:
    """The dialect at fault, by its scope, for a report."""
    try:
        dialect = REGISTRY.find(view)
    except Exception:  # noqa: BLE001 - the fault may be in finding it
        return "unknown"
    return "unknown" if dialect is None else dialect.name
