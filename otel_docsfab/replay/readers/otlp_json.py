"""OTLP in JSON, as the collector's file exporter and its relatives write it.

Old and new spellings are read: scope or instrumentation library, camelCase or snake_case at the top, hex or base64 ids,
64-bit numbers as text or number, enums as name or number.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.problems import Problems
from otel_docsfab.spans.view import EventView, RecordedSpan

MAX_DEPTH: Final = 100
"""Attribute values nested deeper than this are not read."""
_OTHER_SIGNALS: Final = ("resourceLogs", "resourceMetrics", "resourceProfiles", "resource_logs", "resource_metrics")
_ID_CHARS: Final = {"trace": 32, "span": 16}
_HEX: Final = {kind: re.compile(f"[0-9a-f]{{{size}}}") for kind, size in _ID_CHARS.items()}
_ID_CHARS_BASE64: Final = {"trace": 24, "span": 12}
_OK: Final = frozenset({1, "1", "STATUS_CODE_OK", "OK", "Ok"})
_ERROR: Final = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR", "Error"})


class BrokenSpan(ValueError):  # noqa: N818 - a finding, not a fault
    """A span cannot be read."""


def is_otlp(value: Any) -> bool:
    """Whether a JSON value is an OTLP message of any signal."""
    return isinstance(value, dict) and (
        "resourceSpans" in value or "resource_spans" in value or any(key in value for key in _OTHER_SIGNALS)
    )


def otlp_spans(record: Record, problems: Problems, name: str) -> Iterator[RecordedSpan]:
    """Spans of one OTLP message, or of one of its ``resourceSpans``; messages of other signals have none.

    Args:
        record: The message.
        problems: Takes spans that cannot be read; the others are.
        name: File name for problems.
    """
    value = record.value
    if record.key:
        groups: Any = [value] if record.key in ("resourceSpans", "resource_spans") else []
    else:
        groups = value.get("resourceSpans") or value.get("resource_spans") or []
    if not isinstance(groups, list):
        problems.broke(name, record.line, "resourceSpans is no list")
        return
    for group in groups:
        try:
            yield from _group(group, record.line, problems, name)
        except (BrokenSpan, AttributeError, TypeError, ValueError) as error:
            problems.broke(name, record.line, _reason("resourceSpans", error))


def _group(group: Any, line: int, problems: Problems, name: str) -> Iterator[RecordedSpan]:
    resource = attributes((group.get("resource") or {}).get("attributes"))
    scopes = group.get("scopeSpans") or group.get("scope_spans") or group.get("instrumentationLibrarySpans") or []
    ids = _Ids()
    for scope_spans in scopes:
        scope = scope_spans.get("scope") or scope_spans.get("instrumentationLibrary") or {}
        scope_name = str(scope.get("name") or "")
        for span in scope_spans.get("spans") or []:
            try:
                yield _span(span, scope_name, resource, ids)
            except (BrokenSpan, AttributeError, TypeError, ValueError, KeyError) as error:
                problems.broke(name, line, _reason("a span", error))


class _Ids(dict[Any, str | None]):
    """Span ids by how they are written: most come twice, as a span's and as a parent's."""

    def __missing__(self, value: Any) -> str | None:
        found = self[value] = hex_id(value, "span")
        return found


def _reason(what: str, error: Exception) -> str:
    return f"{what}: {error}" if isinstance(error, BrokenSpan) else f"{what} does not follow OTLP"


def _span(span: Any, scope: str, resource: Mapping[str, Any], ids: _Ids) -> RecordedSpan:
    get = span.get
    trace_id, span_id, parent = hex_id(get("traceId"), "trace"), ids[get("spanId")], ids[get("parentSpanId")]
    if trace_id is None or span_id is None:
        raise BrokenSpan("no trace id or span id")
    status, events = get("status") or {}, get("events")
    return RecordedSpan(
        name=str(get("name") or ""),
        scope=scope,
        attributes=attributes(get("attributes")),
        events=tuple(map(_event, events)) if events else (),
        error=status.get("code") in _ERROR,
        status_description=str(status.get("message") or ""),
        is_root=parent is None,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent,
        explicit_ok=status.get("code") in _OK,
        start_unix_ns=int(get("startTimeUnixNano") or 0),
        end_unix_ns=int(get("endTimeUnixNano") or 0),
        resource=resource,
    )


def _event(event: Any) -> EventView:
    return EventView(
        str(event.get("name") or ""), attributes(event.get("attributes")), int(event.get("timeUnixNano") or 0)
    )


def hex_id(value: Any, kind: str) -> str | None:
    """An id as lower-case hex digits.

    Args:
        value: Hex, ``0x`` hex, or base64 as old writers have it; empty or all zero for none.
        kind: ``trace`` (16 bytes) or ``span`` (8 bytes).

    Raises:
        BrokenSpan: It is neither.
    """
    if not value:
        return None
    if not isinstance(value, str):
        raise BrokenSpan(f"a {kind} id is no text")
    if _HEX[kind].fullmatch(value):
        return value if value.strip("0") else None
    text = value[2:] if value[:2] == "0x" else value
    size = _ID_CHARS[kind]
    if len(text) == _ID_CHARS_BASE64[kind]:
        try:
            text = base64.b64decode(text, validate=True).hex()
        except binascii.Error as error:
            raise BrokenSpan(f"a {kind} id is neither hex nor base64") from error
    text = text.lower()
    if len(text) != size or text.strip("0123456789abcdef"):
        raise BrokenSpan(f"a {kind} id is neither hex nor base64")
    return text if text.strip("0") else None


def attributes(pairs: Any, depth: int = 0) -> dict[str, Any]:
    """Key-value pairs as a mapping; of equal keys the last wins.

    Raises:
        BrokenSpan: Nested too deeply.
    """
    found: dict[str, Any] = {}
    for pair in pairs or ():
        value = pair.get("value")
        text = value.get("stringValue") if value else None
        found[pair["key"]] = text if type(text) is str else any_value(value, depth)
    return found


def any_value(value: Any, depth: int = 0) -> Any:
    """The plain value of an ``AnyValue``: text, bool, int, float, bytes, list, mapping, or None when it is empty.

    Raises:
        BrokenSpan: Nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise BrokenSpan("a value is nested too deeply")
    for kind, inner in (value or {}).items():
        reader = _KINDS.get(kind)
        if reader is not None and inner is not None:
            return reader(inner, depth)
    return None


_KINDS: Final[dict[str, Callable[[Any, int], Any]]] = {
    "stringValue": lambda inner, _: str(inner),
    "boolValue": lambda inner, _: inner if isinstance(inner, bool) else str(inner).lower() == "true",
    "intValue": lambda inner, _: int(inner),
    "doubleValue": lambda inner, _: float(inner),
    "bytesValue": lambda inner, _: base64.b64decode(inner),
    "arrayValue": lambda inner, depth: [any_value(item, depth + 1) for item in inner.get("values") or ()],
    "kvlistValue": lambda inner, depth: attributes(inner.get("values"), depth + 1),
}
