"""A span as dialects see it: the same shape for live spans and for recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol


class EventView(NamedTuple):
    """One span event.

    Attributes:
        name: Event name.
        attributes: Its attributes.
        time_unix_ns: When, ns since the epoch.
    """

    name: str
    attributes: Mapping[str, Any]
    time_unix_ns: int = 0


class SpanView(Protocol):
    """What a dialect may ask of a span. At the start of a live span events and status are empty.

    Attributes:
        name: Span name.
        scope: Instrumentation scope name; empty when unknown.
        attributes: Attributes, of any type a runtime dares to set.
        events: Events in order.
        error: Whether the status is ERROR.
        explicit_ok: Whether the status was set to OK; False for one that was never set.
        status_description: Text of the status; empty when there is none.
        is_root: Whether it has no parent in this process or file.
        value_length_limit: Attribute length limit of the SDK that wrote it, when known: a value that long is unknown.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def scope(self) -> str: ...  # noqa: D102
    @property
    def attributes(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def events(self) -> Sequence[EventView]: ...  # noqa: D102
    @property
    def error(self) -> bool: ...  # noqa: D102
    @property
    def explicit_ok(self) -> bool: ...  # noqa: D102
    @property
    def status_description(self) -> str: ...  # noqa: D102
    @property
    def is_root(self) -> bool: ...  # noqa: D102
    @property
    def value_length_limit(self) -> int | None: ...  # noqa: D102


class RecordedSpan(NamedTuple):
    """A plain ``SpanView``, for replay and tests."""

    name: str
    scope: str = ""
    attributes: Mapping[str, Any] = {}
    events: Sequence[EventView] = ()
    error: bool = False
    status_description: str = ""
    is_root: bool = False
    value_length_limit: int | None = None
    trace_id: str = ""
    span_id: str = ""
    parent_id: str | None = None
    explicit_ok: bool = False
    start_unix_ns: int = 0
    end_unix_ns: int = 0
    resource: Mapping[str, Any] = {}
