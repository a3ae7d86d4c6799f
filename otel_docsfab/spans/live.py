"""A live SDK span as dialects see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from otel_docsfab.spans.view import EventView


class LiveSpan:
    """A live SDK span, for as long as one callback of the processor takes.

    What nearly every span is asked for is read once. The SDK's own mapping is looked through to the dict inside where
    there is one: a key that is missing costs an exception otherwise, and a dialect asks for many.

    Attributes:
        name: Span name.
        scope: Instrumentation scope name.
        attributes: Attributes so far.
    """

    __slots__ = ("_bounded", "_events", "_span", "attributes", "name", "scope")

    def __init__(self, span: ReadableSpan) -> None:
        """Look at this span."""
        scope = span.instrumentation_scope
        self._bounded = getattr(span, "_attributes", None)
        inner = getattr(self._bounded, "_dict", None)
        self._span = span
        self._events: Sequence[EventView] | None = None
        self.name: str = span.name
        self.scope: str = scope.name if scope is not None else ""
        self.attributes: Mapping[str, Any] = inner if type(inner) is dict else span.attributes or {}

    @property
    def events(self) -> Sequence[EventView]:
        """Events so far."""
        if self._events is None:
            some = getattr(self._span, "_events", True)  # to show its list the SDK copies it
            events = self._span.events if some else ()
            self._events = [EventView(event.name, event.attributes or {}, event.timestamp) for event in events]
        return self._events

    @property
    def error(self) -> bool:
        """Whether the status is ERROR."""
        return self._span.status.status_code is StatusCode.ERROR

    @property
    def status_description(self) -> str:
        """Text of the status."""
        return self._span.status.description or ""

    @property
    def explicit_ok(self) -> bool:
        """Whether the status is OK, set on purpose."""
        return self._span.status.status_code is StatusCode.OK

    @property
    def is_root(self) -> bool:
        """Whether it has no parent in this process."""
        parent = self._span.parent
        return parent is None or parent.is_remote

    @property
    def value_length_limit(self) -> int | None:
        """Length at which the SDK cuts attribute values; a value that long is unknown.

        Only the SDK's own mapping knows it: an ended span no longer holds its limits.
        """
        limit = getattr(self._bounded, "max_value_len", None)
        return limit if isinstance(limit, int) else None
