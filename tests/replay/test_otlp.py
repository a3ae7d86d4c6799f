"""OTLP in all its spellings gives the same spans."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from typing import Any

import pytest
import zstandard
from google.protobuf.json_format import MessageToJson
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from otel_docsfab.replay.readers import Format, Problems, read_recordings
from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.otlp_json import otlp_spans
from tests.replay.files import TRACE, otlp_message, otlp_span, spans_of, write_json, write_lines


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _proto(*numbers: int) -> TracesData:
    data = TracesData()
    scope_spans = data.resource_spans.add().scope_spans.add()
    scope_spans.scope.name = "s"
    for number in numbers:
        span = scope_spans.spans.add(
            trace_id=bytes.fromhex(TRACE), span_id=number.to_bytes(8, "big"), name=f"span {number}"
        )
        span.attributes.append(KeyValue(key="n", value=AnyValue(int_value=number)))
    return data


def test_lines_of_the_file_exporter(tmp_path):
    file = write_lines(
        tmp_path / "t.jsonl",
        [otlp_message(otlp_span(1), otlp_span(2, path="a")), {"resourceLogs": []}, otlp_message(otlp_span(3))],
    )
    first, second, third = spans_of(file)
    assert (first.is_root, first.parent_id, first.span_id, first.trace_id) == (True, None, f"{1:016x}", TRACE)
    assert (second.parent_id, second.scope, second.attributes) == (f"{1:016x}", "s", {"path": "a"})
    assert second.start_unix_ns == 1_700_000_000_000_000_002
    assert second.resource == {"service.name": "agent"}
    assert third.span_id == f"{3:016x}"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: [m, m], lambda m: {"_path": "/v1/traces", **m}])
def test_whole_documents_and_wrappers(tmp_path, indent, wrap):
    message = otlp_message(otlp_span(1), otlp_span(2))
    whole = wrap(message)
    file = write_json(tmp_path / "t.json", whole, indent)
    assert [s.span_id[-1] for s in spans_of(file)] == ["1", "2"] * (2 if isinstance(whole, list) else 1)


def test_numbers_enums_and_ids_of_every_writer(tmp_path):
    span = otlp_span(2)
    odd = span | {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode((2).to_bytes(8, "big")).decode(),
        "parentSpanId": base64.b64encode((1).to_bytes(8, "big")).decode(),
        "startTimeUnixNano": int(span["startTimeUnixNano"]),
        "endTimeUnixNano": int(span["endTimeUnixNano"]),
        "kind": "SPAN_KIND_INTERNAL",
    }
    upper = span | {"traceId": TRACE.upper()}
    old = otlp_message(span)
    old["resourceSpans"][0]["instrumentationLibrarySpans"] = [
        {"instrumentationLibrary": {"name": "s"}, "spans": [span]}
    ]
    del old["resourceSpans"][0]["scopeSpans"]
    plain, *others = spans_of(
        write_lines(tmp_path / "t.jsonl", [otlp_message(span), otlp_message(odd), otlp_message(upper), old])
    )
    assert others == [plain, plain, plain]


@pytest.mark.parametrize(
    ("code", "error", "ok"),
    [
        (2, True, False),
        ("STATUS_CODE_ERROR", True, False),
        (1, False, True),
        ("STATUS_CODE_OK", False, True),
        (0, 0, 0),
    ],
)
def test_status_codes_by_name_and_number(tmp_path, code, error, ok):
    message = otlp_message(otlp_span(1) | {"status": {"code": code, "message": "why"}})
    [span] = spans_of(write_lines(tmp_path / "t.jsonl", [message]))
    assert (span.error, span.explicit_ok, span.status_description) == (error, ok, "why")


def test_values_of_every_kind(tmp_path):
    span = otlp_span(1)
    kinds: list[Any] = [
        {"boolValue": False},
        {"intValue": "9223372036854775807"},
        {"intValue": -1},
        {"doubleValue": "NaN"},
        {"doubleValue": 1.5},
        {"bytesValue": base64.b64encode(b"\0a").decode()},
        {"arrayValue": {"values": [{"stringValue": "x"}, {"arrayValue": {}}]}},
        {"kvlistValue": {"values": [{"key": "k", "value": {"intValue": 2}}]}},
        {"stringValue": ""},
        {},
    ]
    span["attributes"] = [{"key": str(i), "value": kind} for i, kind in enumerate(kinds)]
    [read] = spans_of(write_lines(tmp_path / "t.jsonl", [otlp_message(span)]))
    values = list(read.attributes.values())
    assert values[:3] == [False, 2**63 - 1, -1]
    assert values[3] != values[3]
    assert values[4:] == [1.5, b"\0a", ["x", []], {"k": 2}, "", None]


def test_events_and_links(tmp_path):
    span = otlp_span(1) | {"events": [{"name": "e", "timeUnixNano": "5", "attributes": []}, {"name": "f"}]}
    [read] = spans_of(write_lines(tmp_path / "t.jsonl", [otlp_message(span)]))
    assert [(event.name, event.time_unix_ns) for event in read.events] == [("e", 5), ("f", 0)]


@pytest.mark.parametrize("pack", [lambda b: b, gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("layout", ["single", "delimited", "framed", "framed-zstd", "framed-json-zstd"])
def test_protobuf_layouts(tmp_path, layout, pack):
    messages = [_proto(1, 2), _proto(3)]
    zstd = zstandard.ZstdCompressor()
    raws = [message.SerializeToString() for message in messages]
    if layout == "framed-json-zstd":
        raws = [json.dumps(otlp_message(*(otlp_span(n) for n in ns))).encode() for ns in ([1, 2], [3])]
    if layout.endswith("zstd"):
        raws = [zstd.compress(raw) for raw in raws]
    if layout == "single":
        data = b"".join(raws)  # concatenated messages are one message
    elif layout == "delimited":
        data = b"".join(_varint(len(raw)) + raw for raw in raws)
    else:
        data = b"".join(struct.pack(">I", len(raw)) + raw for raw in raws)
    (tmp_path / "t.pb").write_bytes(pack(data))
    [recording] = read_recordings([tmp_path / "t.pb"], Problems())
    assert recording.format is Format.OTLP_PROTOBUF
    assert [int(span.span_id, 16) for span in recording.spans] == [1, 2, 3]


def test_a_small_first_message_is_not_taken_for_a_tag(tmp_path):
    """A delimited message of ten bytes begins with the byte that begins a request."""
    small = TracesData()
    small.resource_spans.add(schema_url="abcdef")
    raw = small.SerializeToString()
    assert len(raw) == 0x0A
    rest = _proto(7).SerializeToString()
    (tmp_path / "t.pb").write_bytes(_varint(len(raw)) + raw + _varint(len(rest)) + rest)
    assert [int(span.span_id, 16) for span in spans_of(tmp_path / "t.pb")] == [7]


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_values = st.recursive(
    st.one_of(
        _texts.map(lambda v: AnyValue(string_value=v)),
        st.booleans().map(lambda v: AnyValue(bool_value=v)),
        st.integers(-(2**63), 2**63 - 1).map(lambda v: AnyValue(int_value=v)),
        st.floats(allow_nan=False).map(lambda v: AnyValue(double_value=v)),
        st.binary(max_size=8).map(lambda v: AnyValue(bytes_value=v)),
        st.just(AnyValue()),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda vs: AnyValue(array_value={"values": vs})),
        st.lists(inner, max_size=3).map(
            lambda vs: AnyValue(kvlist_value={"values": [KeyValue(key=str(i), value=v) for i, v in enumerate(vs)]})
        ),
    ),
    max_leaves=6,
)
_ids = st.binary(min_size=8, max_size=8).filter(any)


@st.composite
def _traces(draw) -> TracesData:
    data = TracesData()
    for _ in range(draw(st.integers(1, 2))):
        group = data.resource_spans.add()
        group.resource.attributes.extend(draw(st.lists(_values.map(lambda v: KeyValue(key="r", value=v)), max_size=1)))
        scope = group.scope_spans.add()
        scope.scope.name = draw(_texts)
        for _ in range(draw(st.integers(0, 3))):
            span = scope.spans.add(
                trace_id=draw(_ids) + draw(_ids),
                span_id=draw(_ids),
                parent_span_id=draw(st.one_of(st.just(b""), _ids)),
                name=draw(_texts),
                start_time_unix_nano=draw(st.integers(0, 2**64 - 1)),
                end_time_unix_nano=draw(st.integers(0, 2**64 - 1)),
                attributes=[KeyValue(key=str(i), value=draw(_values)) for i in range(draw(st.integers(0, 3)))],
            )
            span.status.code = draw(st.sampled_from([0, 1, 2]))
            span.status.message = draw(_texts)
            if draw(st.booleans()):
                span.events.add(name=draw(_texts), time_unix_nano=draw(st.integers(0, 2**64 - 1)))
    return data


@settings(max_examples=60, deadline=None)
@given(_traces())
def test_json_and_protobuf_give_the_same_spans(tmp_path_factory, data):
    """The JSON mapping of protobuf itself has base64 ids, enum names and text numbers."""
    folder = tmp_path_factory.mktemp("round-trip")
    text = json.loads(MessageToJson(data))
    problems = Problems()
    from_json = list(otlp_spans(Record(1, "", text), problems, "t"))
    raw = data.SerializeToString()
    (folder / "t.pb").write_bytes(struct.pack(">I", len(raw)) + raw)
    expected = sum(len(s.spans) for g in data.resource_spans for s in g.scope_spans)
    assert len(from_json) == expected
    if expected:
        assert spans_of(folder / "t.pb", problems=problems) == from_json
    assert problems.broken == 0
