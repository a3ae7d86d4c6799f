"""Spans of real runs, as their start and their end showed them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from otel_docsfab.spans.view import EventView, RecordedSpan

CAPTURES = Path(__file__).parents[2] / "captures"


class Captured(NamedTuple):
    start: RecordedSpan
    end: RecordedSpan


def capture(name: str) -> list[Captured]:
    """One capture, in the order in which its spans ended."""
    if name.endswith("_otlp"):
        return list(_otlp(name))
    rows = [json.loads(line) for line in (CAPTURES / f"{name}.jsonl").read_text().splitlines()]
    return [_sdk(row) for row in rows]


def tool_spans(name: str) -> list[RecordedSpan]:
    return [captured.end for captured in capture(name)]


def _sdk(row: dict[str, Any]) -> Captured:
    start = RecordedSpan(
        row["name"],
        row["_scope"]["name"],
        row["_on_start_attributes"] or {},
        is_root=row["parent_id"] is None,
        trace_id=row["context"]["trace_id"],
        span_id=row["context"]["span_id"],
        parent_id=row["parent_id"],
    )
    end = start._replace(
        attributes=row["attributes"],
        events=tuple(EventView(event["name"], event["attributes"]) for event in row["events"]),
        error=row["status"]["status_code"] == "ERROR",
        explicit_ok=row["status"]["status_code"] == "OK",
        status_description=row["status"].get("description") or "",
    )
    return Captured(start, end)


def _otlp(name: str) -> Iterator[Captured]:
    for line in (CAPTURES / f"{name}.jsonl").read_text().splitlines():
        for resource in json.loads(line).get("resourceSpans", []):
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    view = RecordedSpan(
                        span["name"],
                        scope["scope"]["name"],
                        _attributes(span),
                        tuple(EventView(event["name"], _attributes(event)) for event in span.get("events", [])),
                        error=span.get("status", {}).get("code") == 2,
                        trace_id=span["traceId"],
                        span_id=span["spanId"],
                        parent_id=span.get("parentSpanId"),
                    )
                    yield Captured(view._replace(events=(), error=False), view)


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    return {entry["key"]: _value(entry["value"]) for entry in holder.get("attributes", [])}


def _value(value: dict[str, Any]) -> Any:
    ((kind, inner),) = value.items()
    if kind == "arrayValue":
        return [_value(item) for item in inner.get("values", [])]
    return int(inner) if kind == "intValue" else inner
