"""Spans for the collectors to carry: recorded ones, with or without secrets planted, and made ones."""

import datetime as dt
import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

CAPTURES = Path(__file__).parents[1] / "captures"
SDK_CAPTURES = sorted(path for path in CAPTURES.glob("*.jsonl") if not path.stem.endswith("_otlp"))
Attributes = dict[str, object]
Edit = Callable[[Attributes], Attributes]


def digest(seed: str) -> str:
    return f"sha256:{seed:0>64.64}"


def _ns(moment: str) -> int:
    return round(dt.datetime.fromisoformat(moment).timestamp() * 1e9)


def _context(trace_id: str, span_id: str, salt: int) -> SpanContext:
    return SpanContext(int(trace_id, 16) ^ salt, int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def recorded(path: Path, edit: Edit, text: Callable[[str], str] = lambda text: text) -> list[ReadableSpan]:
    """The spans of one capture, in traces of their own.

    Args:
        path: Capture, one span of the SDK's JSON a line.
        edit: What becomes of the attributes of a span or event.
        text: What becomes of a status description.
    """
    salt = secrets.randbits(128)
    spans = []
    for line in path.read_text().splitlines():
        span = json.loads(line)
        context = span["context"]
        status = span["status"]
        scope = span["_scope"]
        name = scope["name"] if isinstance(scope, dict) else scope
        parent = span.get("parent_id")
        spans.append(
            ReadableSpan(
                name=span["name"],
                context=_context(context["trace_id"], context["span_id"], salt),
                parent=_context(context["trace_id"], parent, salt) if parent else None,
                resource=Resource({"service.name": path.stem}),
                attributes=edit(span["attributes"] or {}),
                events=[
                    Event(event["name"], edit(event.get("attributes") or {}), _ns(event["timestamp"]))
                    for event in span["events"]
                ],
                kind=SpanKind[span["kind"].removeprefix("SpanKind.")],
                status=Status(StatusCode[status["status_code"]], text(status["description"]))
                if status.get("description")
                else Status(StatusCode[status["status_code"]]),
                start_time=_ns(span["start_time"]),
                end_time=_ns(span["end_time"]),
                instrumentation_scope=InstrumentationScope(name),
            )
        )
    return spans


def made(
    attributes: Attributes, *, trace: int, parent: int | None = None, name: str = "execute_tool read", **more
) -> ReadableSpan:
    """One span of a trace."""
    return ReadableSpan(
        name=name,
        context=SpanContext(trace, secrets.randbits(63) + 1, is_remote=False, trace_flags=TraceFlags(1)),
        parent=SpanContext(trace, parent, is_remote=False) if parent else None,
        resource=more.pop("resource", Resource({"service.name": "made"})),
        attributes=attributes,
        instrumentation_scope=more.pop("scope", InstrumentationScope("made")),
        start_time=1_796_000_000_000_000_000,
        end_time=1_796_000_001_000_000_000,
        **more,
    )


def send(port: int, spans: Sequence[ReadableSpan], at_once: int = 200) -> None:
    """Export them with the SDK's own exporter; every batch has to be taken."""
    exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{port}", insecure=True)
    try:
        for start in range(0, len(spans), at_once):
            assert exporter.export(spans[start : start + at_once]) is SpanExportResult.SUCCESS
    finally:
        exporter.shutdown()


def ids(spans: Iterable[ReadableSpan]) -> set[tuple[str, str]]:
    """(trace id, span id) of each, as OTLP JSON writes them."""
    return {(f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}") for span in spans}


CONTENT_KEYS = {
    "semantic conventions": (
        r"gen_ai\.tool\.call\.(arguments|result)",
        r"gen_ai\.(input|output)\.messages",
        r"gen_ai\.system_instructions",
        r"gen_ai\.tool\.(description|definitions)",
    ),
    "pydantic ai, older": (r"tool_(arguments|response)", r"final_result", r"pydantic_ai\.all_messages"),
    "openinference": (
        r"(input|output)\.value",
        r"llm\.(input|output)_messages\..*(content|text|arguments)(\.\d+)?",
        r"llm\.tools\..*",
        r"tool\.(parameters|description)",
    ),
    "traceloop": (r"traceloop\.entity\.(input|output)", r"gen_ai\.task\.(input|output)", r"tool\.arguments"),
    "langsmith": (r"gen_ai\.(prompt|completion)",),
    "logfire": (r"input|output|error", r"logfire\.(msg|json_schema)"),
    "google adk": (r"gcp\.vertex\.agent\.(tool_call_args|tool_response|llm_request|llm_response)",),
    "haystack": (r"haystack\.agent\.(input|output|tools)", r"haystack\.agent\.step\.(llm|tool)\.(input|output)"),
    "crewai": (
        r"crew_(agents|tasks|inputs)",
        r"crewai\.crew\.(agents|tasks|result|tasks_output)",
        r"crewai\.agent\.(goal|backstory)",
        r"(crewai\.task\.|task_)(description|expected_output)",
    ),
    "span events": (r"content|message|tool\.result", r"exception\.(message|stacktrace)"),
}
"""Where runtimes put arguments, results, prompts and texts; written from what they emit, not from agent.yaml."""
_CONTENT = {family: re.compile("|".join(patterns)) for family, patterns in CONTENT_KEYS.items()}


def families(key: str) -> set[str]:
    """Families of content keys that a key belongs to."""
    return {family for family, pattern in _CONTENT.items() if pattern.fullmatch(key)}
