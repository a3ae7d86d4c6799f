"""OTLP in protobuf: single requests, length-delimited streams, and the collector file exporter's framed messages."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

import google.protobuf.message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status, TracesData

from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.json_values import BrokenJson, loads
from otel_docsfab.replay.readers.otlp_json import MAX_DEPTH, BrokenSpan, is_otlp, otlp_spans
from otel_docsfab.replay.readers.problems import Problems
from otel_docsfab.replay.readers.sources import unpack_zstd
from otel_docsfab.spans.view import EventView, RecordedSpan

_RESOURCE_SPANS: Final = 0x0A  # field 1, length-delimited: the only field of a request
_INNER_TAGS: Final = b"\x0a\x12\x1a"  # the fields of ResourceSpans
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_VARINT_BYTES: Final = 10
_PREFIX: Final = 4


def sniff_protobuf(head: bytes) -> str | None:
    """How OTLP protobuf is laid out in a file that begins with these bytes.

    Args:
        head: The first bytes, a few dozen or more.

    Returns:
        ``single`` for one request, ``delimited`` for messages behind varint lengths, ``framed`` for messages behind
        4-byte lengths, highest byte first (they may be JSON or zstd inside); None when it is none of them.
    """
    if head[:1] == bytes([_RESOURCE_SPANS]):
        _, size = _varint(head, 1)
        if size and (len(head) <= size or head[size] in _INNER_TAGS):
            return "single"
    if len(head) > _PREFIX and head[0] in (0, 1, 2, 3) and int.from_bytes(head[:_PREFIX], "big") > 0:
        inner = head[_PREFIX:]
        if inner[0] in (_RESOURCE_SPANS, 0x7B) or inner.startswith(_ZSTD):
            return "framed"
    length, size = _varint(head, 0)
    if size and length and len(head) > size and head[size] == _RESOURCE_SPANS:
        return "delimited"
    return None


def protobuf_spans(
    stream: io.BufferedReader, layout: str, limit: int, problems: Problems, name: str
) -> Iterator[RecordedSpan]:
    """Spans of a protobuf file, one message in memory at a time.

    Args:
        stream: The bytes, from the start.
        layout: As ``sniff_protobuf`` tells it.
        limit: Longest message that is read, bytes.
        problems: Takes messages that cannot be read, by their number from 1.
        name: File name for problems.
    """
    number = 0
    while (size := _next_size(stream, layout, number + 1, problems, name)) is not None:
        number += 1
        if size > limit:
            problems.broke(name, number, f"a message longer than {limit} bytes")
            if not _skip(stream, size):
                return
            continue
        raw = stream.read(size)
        if len(raw) < size:
            problems.broke(name, number, "the last message is cut off")
        else:
            yield from _message(raw, layout, limit, number, problems, name)


def _message(raw: bytes, layout: str, limit: int, number: int, problems: Problems, name: str) -> Iterator[RecordedSpan]:
    if raw.startswith(_ZSTD):
        with io.BytesIO(raw) as packed, unpack_zstd(packed, name) as unpacked:
            raw = unpacked.read(limit + 1)
        if len(raw) > limit:
            problems.broke(name, number, f"a message longer than {limit} bytes")
            return
    try:
        if raw[:1] == b"{":
            value = loads(raw)
            if is_otlp(value):
                yield from otlp_spans(Record(number, "", value), problems, name)
            return
        groups = [ResourceSpans.FromString(raw)] if layout == "single" else TracesData.FromString(raw).resource_spans
    except (google.protobuf.message.DecodeError, BrokenJson):
        problems.broke(name, number, "no OTLP message")
        return
    for group in groups:
        yield from _group(group, number, problems, name)


def _group(group: ResourceSpans, number: int, problems: Problems, name: str) -> Iterator[RecordedSpan]:
    try:
        resource = _attributes(group.resource.attributes)
    except BrokenSpan as error:
        problems.broke(name, number, f"resourceSpans: {error}")
        return
    for scope_spans in group.scope_spans:
        scope = scope_spans.scope.name
        for span in scope_spans.spans:
            try:
                yield _span(span, scope, resource)
            except BrokenSpan as error:
                problems.broke(name, number, f"a span: {error}")


def _span(span: Span, scope: str, resource: Mapping[str, Any]) -> RecordedSpan:
    trace_id, span_id, parent = _id(span.trace_id, 16), _id(span.span_id, 8), _id(span.parent_span_id, 8)
    if trace_id is None or span_id is None:
        raise BrokenSpan("no trace id or span id")
    return RecordedSpan(
        name=span.name,
        scope=scope,
        attributes=_attributes(span.attributes),
        events=tuple(
            EventView(event.name, _attributes(event.attributes), event.time_unix_nano) for event in span.events
        ),
        error=span.status.code == Status.STATUS_CODE_ERROR,
        status_description=span.status.message,
        is_root=parent is None,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent,
        explicit_ok=span.status.code == Status.STATUS_CODE_OK,
        start_unix_ns=span.start_time_unix_nano,
        end_unix_ns=span.end_time_unix_nano,
        resource=resource,
    )


def _id(value: bytes, size: int) -> str | None:
    if not value.strip(b"\0"):
        return None
    if len(value) != size:
        raise BrokenSpan("an id of wrong length")
    return value.hex()


def _attributes(pairs: Any, depth: int = 0) -> dict[str, Any]:
    return {pair.key: _any_value(pair.value, depth) for pair in pairs}


def _any_value(value: AnyValue, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise BrokenSpan("a value is nested too deeply")
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_any_value(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, depth + 1)
    return getattr(value, kind) if kind else None


def _next_size(stream: io.BufferedReader, layout: str, number: int, problems: Problems, name: str) -> int | None:
    """Length of the next message; None at the end, or where the framing is lost."""
    if layout == "framed":
        prefix = stream.read(_PREFIX)
        if len(prefix) == _PREFIX:
            return int.from_bytes(prefix, "big")
        lost = bool(prefix)
    else:
        lost = False
        if layout == "single":
            tag = stream.read(1)
            if not tag:
                return None
            lost = tag[0] != _RESOURCE_SPANS
        prefix = b""
        while not lost and len(prefix) < _VARINT_BYTES and (byte := stream.read(1)):
            prefix += byte
            if byte[0] < 0x80:  # noqa: PLR2004 - the varint's continuation bit
                return _varint(prefix, 0)[0]
        lost = lost or bool(prefix) or layout == "single"
    if lost:
        problems.broke(name, number, "cut off, or no OTLP from here on")
    return None


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """A varint's value and the offset behind it; (0, 0) when there is none."""
    value = 0
    for index in range(at, min(len(raw), at + _VARINT_BYTES)):
        value |= (raw[index] & 0x7F) << 7 * (index - at)
        if raw[index] < 0x80:  # noqa: PLR2004 - the varint's continuation bit
            return value, index + 1
    return 0, 0


def _skip(stream: io.BufferedReader, size: int) -> bool:
    while size > 0:
        chunk = stream.read(min(size, 1 << 20))
        if not chunk:
            return False
        size -= len(chunk)
    return True
