"""Spans as the Python SDK's ``ReadableSpan.to_json`` writes them, on one line or many.

The SDK leaves the instrumentation scope out; captures that add it (``_scope`` or ``instrumentation_scope``) are read
with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from otel_docsfab.replay.readers.otlp_json import BrokenSpan, hex_id
from otel_docsfab.spans.view import EventView, RecordedSpan

_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")


def is_sdk_span(value: Any) -> bool:
    """Whether a JSON value is a span of ``to_json``."""
    if not isinstance(value, dict):
        return False
    context = value.get("context")
    return isinstance(context, dict) and "trace_id" in context and "span_id" in context and "name" in value


def sdk_span(value: Mapping[str, Any]) -> RecordedSpan:
    """The span of one JSON object.

    Raises:
        BrokenSpan: It does not follow the SDK's form.
    """
    try:
        return _span(value)
    except (AttributeError, TypeError, KeyError) as error:
        raise BrokenSpan("a span does not follow the SDK's form") from error


def _span(value: Mapping[str, Any]) -> RecordedSpan:
    context = value["context"]
    trace_id, span_id = hex_id(context["trace_id"], "trace"), hex_id(context["span_id"], "span")
    if trace_id is None or span_id is None:
        raise BrokenSpan("no trace id or span id")
    parent = hex_id(value.get("parent_id"), "span")
    status = value.get("status") or {}
    scope = value.get("instrumentation_scope") or value.get("_scope") or {}
    return RecordedSpan(
        name=str(value["name"]),
        scope=str(scope.get("name") or ""),
        attributes=_mapping(value.get("attributes")),
        events=tuple(
            EventView(str(event["name"]), _mapping(event.get("attributes")), _unix_ns(event.get("timestamp")))
            for event in value.get("events") or ()
        ),
        error=status.get("status_code") == "ERROR",
        status_description=str(status.get("description") or ""),
        is_root=parent is None,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent,
        explicit_ok=status.get("status_code") == "OK",
        start_unix_ns=_unix_ns(value.get("start_time")),
        end_unix_ns=_unix_ns(value.get("end_time")),
        resource=_mapping((value.get("resource") or {}).get("attributes")),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BrokenSpan("attributes are no object")
    return value


def _unix_ns(text: Any) -> int:
    """Ns since the epoch of an ISO time in UTC; 0 when there is none."""
    if text is None:
        return 0
    match = _TIME.fullmatch(text)
    if match is None:
        raise BrokenSpan("a time is not in the SDK's form")
    try:
        seconds = int(datetime.fromisoformat(f"{match[1]}+00:00").timestamp())
    except ValueError as error:
        raise BrokenSpan("a time is not in the SDK's form") from error
    return seconds * 1_000_000_000 + int((match[2] or "0").ljust(9, "0"))
