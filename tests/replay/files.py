"""Small files of every format, written as their own programs write them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from otel_docsfab.core import Outcome
from otel_docsfab.replay import script
from otel_docsfab.replay.readers import Problems, read_recordings

TRACE = "0af7651916cd43dd8448eb211c80319c"


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_json(path: Path, value: Any, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    return path


def spans_of(*paths: Any, problems: Problems | None = None, **options: Any) -> list[Any]:
    problems = problems if problems is not None else Problems()
    return [span for recording in read_recordings(paths, problems, **options) for span in recording.spans]


def events_of(*paths: Any, problems: Problems | None = None, **options: Any) -> list[script.ScriptEvent]:
    problems = problems if problems is not None else Problems()
    return [event for recording in read_recordings(paths, problems, **options) for event in recording.events]


def told(events: Iterable[script.ScriptEvent]) -> list[str]:
    """Events in short, one attempt after the other: what a test expects at a glance."""
    by_attempt: dict[str, list[str]] = {}
    for event in events:
        by_attempt.setdefault(event.attempt, []).append(_short(event))
    return [line for lines in by_attempt.values() for line in lines]


def _short(event: script.ScriptEvent) -> str:  # noqa: PLR0911 - one case a line
    match event:
        case script.AttemptOpened():
            return f"open {event.agent}"
        case script.TurnBegan():
            return "turn"
        case script.Call():
            reason = f" ({event.reason})" if event.reason else ""
            return f"call {event.call} {event.tool} {json.dumps(event.arguments)}{reason}"
        case script.Result():
            kind = event.reason or ("ok" if event.ok else "failed")
            return f"result {event.call} {kind} {json.dumps(event.result)}"
        case script.Compacted():
            return "compacted"
        case script.Evicted():
            return f"evicted {' '.join(event.call_ids)}"
        case script.Answered():
            return "answered"
        case _:
            return "closed" if event.outcome is Outcome.ABANDONED else "cancelled"


def otlp_span(number: int, name: str = "execute_tool read", **attributes: Any) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if number == 1 else f"{1:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_700_000_000_000_000_100 + number),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        "status": {},
    }


def otlp_message(*spans: dict[str, Any], scope: str = "s") -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}
