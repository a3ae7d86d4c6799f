"""Damaged, foreign and nasty input: named, bounded, and never a crash."""

from __future__ import annotations

import builtins
import gzip
import json
import os
import sys
import threading

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_docsfab.errors import InputError, NotATrace
from otel_docsfab.replay.readers import Problems, new_attempts, read_recordings
from tests.replay.files import events_of, otlp_message, otlp_span, spans_of, write_json, write_lines


def _ids(spans):
    return [int(span.span_id, 16) for span in spans]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", b""),
        ("t.json", b" \n\n"),
        ("t.json", b'{"hello": "world"}'),
        ("t.jsonl", b'{"a": 1}\n{"b": 2}\n'),
        ("t.json", b"[1, 2, 3]"),
        ("t.txt", b"plain text\nmore text\n"),
        ("t.pb", bytes(range(256)) * 40),
        ("t.json", b"{" + bytes(range(256))),
        ("t.json", b"\n{\n not json at all"),
        ("t.gz", gzip.compress(b"nothing", mtime=0)),
    ],
)
def test_a_file_that_is_no_trace_is_an_error_that_names_it(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    problems = Problems()
    with pytest.raises(NotATrace, match=name) as caught:
        spans_of(tmp_path / name, problems=problems)
    assert "expected OTLP" in str(caught.value)
    assert problems.broken == 0


def test_an_sqlite_database_gets_a_hint(tmp_path):
    (tmp_path / "opencode.db").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    with pytest.raises(NotATrace, match="export its sessions first"):
        spans_of(tmp_path / "opencode.db")


def test_a_missing_path_and_a_missing_permission_are_errors(tmp_path):
    with pytest.raises(InputError, match=r"gone\.json"):
        spans_of(tmp_path / "gone.json")
    with pytest.raises(NotATrace, match="no trace among 0 files"):
        spans_of(tmp_path)


def test_broken_lines_and_broken_spans_are_named_and_the_rest_is_read(tmp_path):
    good = [json.dumps(otlp_message(otlp_span(n))) for n in (1, 2, 3)]
    bad_span = json.dumps(otlp_message(otlp_span(4) | {"traceId": "zz"}, otlp_span(5), otlp_span(6) | {"events": 7}))
    file = tmp_path / "t.jsonl"
    file.write_text("\n".join([good[0], good[1][:50], '{"other": 1}', bad_span, good[2], '{"resourceSpans": 3}', "{"]))
    problems = Problems()
    assert _ids(spans_of(file, problems=problems)) == [1, 5, 3]
    assert problems.broken == 6
    assert [(problem.source, problem.line) for problem in problems.named] == [
        (str(file), line) for line in (2, 3, 4, 4, 6, 7)
    ]
    assert str(problems.named[0]) == f"{file}:2: no JSON"


def test_a_broken_first_line_does_not_hide_the_format(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"resourceSpans": [\n' + json.dumps(otlp_message(otlp_span(1))))
    problems = Problems()
    assert _ids(spans_of(file, problems=problems)) == [1]
    assert problems.broken == 1


@pytest.mark.parametrize("keep", [0.5, 0.9, 0.99])
def test_cut_off_gzip_is_read_up_to_the_cut(tmp_path, keep):
    text = "\n".join(json.dumps(otlp_message(otlp_span(n, text=os.urandom(40).hex()))) for n in range(1, 400))
    packed = gzip.compress(text.encode())
    (tmp_path / "t.jsonl.gz").write_bytes(packed[: int(len(packed) * keep)])
    problems = Problems()
    read = _ids(spans_of(tmp_path / "t.jsonl.gz", problems=problems))
    assert read == list(range(1, len(read) + 1))
    assert 0 < len(read) < 399
    assert any("cut off or damaged" in problem.reason for problem in problems.named)


def test_damaged_gzip_and_cut_off_zstd(tmp_path):
    lines = "\n".join(json.dumps(otlp_message(otlp_span(n, text=os.urandom(40).hex()))) for n in range(1, 3000))
    packed = bytearray(gzip.compress(lines.encode()))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "a.gz").write_bytes(packed)
    cut = zstandard.ZstdCompressor().compress(lines.encode())
    (tmp_path / "b.zst").write_bytes(cut[: len(cut) // 2])
    for name in ("a.gz", "b.zst"):
        problems = Problems()
        read = _ids(spans_of(tmp_path / name, problems=problems))
        assert 0 < len(read) <= 2999
        assert problems.broken >= 1


def test_cut_off_protobuf_keeps_what_is_whole(tmp_path):
    from tests.replay.test_otlp import _proto, _varint  # noqa: PLC0415 - the writer lives there

    raw = _proto(1).SerializeToString()
    framed = (_varint(len(raw)) + raw) * 2
    (tmp_path / "t.pb").write_bytes(framed[:-5])
    problems = Problems()
    assert _ids(spans_of(tmp_path / "t.pb", problems=problems)) == [1]
    assert problems.named[0].line == 2
    garbage = _varint(len(raw)) + raw + _varint(5) + b"\xff\xff\xff\xff\xff" + _varint(len(raw)) + raw
    (tmp_path / "u.pb").write_bytes(garbage)
    problems = Problems()
    assert _ids(spans_of(tmp_path / "u.pb", problems=problems)) == [1, 1]
    assert problems.broken == 1


def test_zstd_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.zst").write_bytes(zstandard.ZstdCompressor().compress(b"{}"))
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'otel-docsfab\[replay\]'"):
        spans_of(tmp_path / "t.zst")


def test_a_giant_line_is_passed_over(tmp_path):
    giant = json.dumps(otlp_message(otlp_span(2, text="x" * 200_000)))
    lines = [json.dumps(otlp_message(otlp_span(1))), giant, json.dumps(otlp_message(otlp_span(3)))]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    problems = Problems()
    assert _ids(spans_of(tmp_path / "t.jsonl", problems=problems, limit=100_000)) == [1, 3]
    assert [(problem.line, problem.reason) for problem in problems.named] == [(2, "longer than 100000 bytes")]


def test_values_nested_too_deeply_break_their_span_only(tmp_path):
    deep: dict = {"stringValue": "x"}
    for _ in range(150):
        deep = {"arrayValue": {"values": [deep]}}
    span = otlp_span(1)
    span["attributes"] = [{"key": "a", "value": deep}]
    problems = Problems()
    file = write_lines(tmp_path / "t.jsonl", [otlp_message(span, otlp_span(2))])
    assert _ids(spans_of(file, problems=problems)) == [2]
    assert "nested too deeply" in problems.named[0].reason


def test_folders_are_read_recursively_in_order_each_file_once(tmp_path):
    write_lines(tmp_path / "b" / "2.jsonl", [otlp_message(otlp_span(2))])
    write_lines(tmp_path / "a" / "deep" / "1.jsonl", [otlp_message(otlp_span(1))])
    write_json(tmp_path / "c.json", {"not": "a trace"})
    (tmp_path / "notes.md").write_text("nothing")
    (tmp_path / "b" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b" / "self.json").symlink_to(tmp_path / "b" / "self.json")
    (tmp_path / "z.jsonl").symlink_to(tmp_path / "b" / "2.jsonl")
    problems = Problems()
    assert sorted(_ids(spans_of(tmp_path, problems=problems))) == [1, 2]
    skipped = {os.path.basename(problem.source) for problem in problems.named}  # noqa: PTH119 - a text
    assert skipped == {"c.json", "self.json"}
    assert problems.broken == 0


def test_the_same_file_given_twice_is_read_once(tmp_path):
    file = write_lines(tmp_path / "t.jsonl", [otlp_message(otlp_span(1))])
    assert _ids(spans_of(file, tmp_path, file)) == [1]


def test_standard_input_and_pipes(tmp_path, monkeypatch):
    data = json.dumps(otlp_message(otlp_span(1))).encode()
    for packed in (data, gzip.compress(data)):
        read_end, write_end = os.pipe()

        def write(end=write_end, content=packed):
            with os.fdopen(end, "wb", buffering=0) as pipe:
                pipe.writelines(bytes([byte]) for byte in content)

        writer = threading.Thread(target=write)
        writer.start()
        with os.fdopen(read_end) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert _ids(spans_of("-")) == [1]
        writer.join()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    assert _ids(spans_of(fifo)) == [1]
    writer.join()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=400),
    start=st.sampled_from([b"", b"{", b'{"resourceSpans":[', b"\x0a", b"\x00\x00\x00\x05{"]),
)
def test_any_bytes_are_a_trace_or_refused(tmp_path, data, start):
    (tmp_path / "t.bin").write_bytes(start + data)
    refused = ""
    spans: list = []
    try:
        spans = spans_of(tmp_path / "t.bin")
    except InputError as error:
        refused = str(error)
    assert all(len(span.span_id) == 16 for span in spans)
    assert not refused or "t.bin" in refused


_FIELDS = ["sessionId", "uuid", "message", "content", "tool_use_id", "payload", "call_id", "output", "state", "parts"]
_kinds = st.sampled_from(
    ["user", "assistant", "system", "response_item", "event_msg", "function_call", "tool_use", "tool_result", "message"]
)
_odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | _kinds,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*_FIELDS, "type", "role", "id", "name", "input", "time", "info"]), inner, max_size=5
        )
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(_odd, max_size=6),
    first=st.sampled_from(
        [
            {"type": "user", "uuid": "u", "message": {}},
            {"type": "session_meta", "payload": {"id": "s"}},
            {"info": {"id": "ses_1"}, "messages": [{"info": {"role": "assistant"}, "parts": [{"type": "tool"}]}]},
            {"trajectory": [{"action": "ls", "observation": ""}], "history": []},
            {"trajectory_format": "mini-swe-agent-1", "messages": [{"role": "assistant"}]},
        ]
    ),
)
def test_session_records_of_any_shape_are_no_crash(tmp_path, records, first):
    if "type" not in first:
        key = "trajectory" if "trajectory" in first else "messages"
        first = first | {key: [*first[key], *records]}
        write_json(tmp_path / "t.json", first)
        events = events_of(tmp_path / "t.json")
    else:
        write_lines(tmp_path / "t.jsonl", [first, *records])
        events = events_of(tmp_path / "t.jsonl")
    for attempt in {event.attempt for event in events}:
        names = [type(event).__name__ for event in events if event.attempt == attempt]
        assert names[0] == "AttemptOpened"
        assert names[-1] == "AttemptClosed"
    assert list(new_attempts(events, set())) == events


def test_problems_are_bounded():
    problems = Problems()
    for line in range(5000):
        problems.broke("t", line, "no JSON")
    other = Problems()
    other.merge(problems)
    assert (other.broken, len(other.named)) == (5000, 1000)


def test_reading_stops_when_the_reader_does(tmp_path):
    file = write_lines(tmp_path / "t.jsonl", [otlp_message(otlp_span(n)) for n in range(1, 50)])
    [recording] = read_recordings([file], Problems())
    assert next(recording.spans).name
    recording.spans.close()  # type: ignore[attr-defined]
    with pytest.raises(StopIteration):
        next(recording.spans)


def test_utf8_byte_order_mark(tmp_path):
    (tmp_path / "t.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps(otlp_message(otlp_span(1))).encode())
    assert _ids(spans_of(tmp_path / "t.jsonl")) == [1]
