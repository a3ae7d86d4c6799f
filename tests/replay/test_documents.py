"""Streamed reading of JSON gives what reading it whole gives."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_docsfab.replay.readers import documents, json_values
from otel_docsfab.replay.readers.documents import document_records
from otel_docsfab.replay.readers.framing import Record, line_records, unfold
from otel_docsfab.replay.readers.problems import Problems


class _Trickle(io.RawIOBase):
    """A stream that hands out few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._data, self._step = data, step

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        size = min(self._step, len(buffer), len(self._data))
        buffer[:size], self._data = self._data[:size], self._data[size:]
        return size


def _documents(text: str | bytes, step: int = 1 << 20, limit: int = 1 << 20) -> tuple[list[Record], Problems]:
    problems = Problems()
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    stream = io.BufferedReader(_Trickle(data, step), 16)
    return list(document_records(stream, limit, problems, "t")), problems


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
_objects = st.dictionaries(
    st.sampled_from(["a", "messages", "info", '"', "{"]) | st.text(max_size=3), _json, max_size=5
)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What streaming makes of a whole object."""
    if any(key in documents.LONG_LISTS and isinstance(member, list) for key, member in value.items()):
        for record in unfold(iter([Record(1, "", value)]), documents.LONG_LISTS):
            yield record.key, record.value
    else:
        yield "", value


@given(st.lists(_objects, max_size=3), st.sampled_from([None, 1, 4]), st.sampled_from([1, 7, 1 << 20]), st.booleans())
@example([{"messages": [1, "]"], "a": "\\"}], 2, 1, False)
def test_streamed_is_whole(values, indent, step, ascii_only):
    text = "\n".join(json.dumps(value, indent=indent, ensure_ascii=ascii_only) for value in values)
    records, problems = _documents(text, step)
    assert [(record.key, record.value) for record in records] == [part for value in values for part in _parts(value)]
    assert problems.broken == 0


@given(st.lists(_objects, max_size=3), st.sampled_from([None, 1]))
def test_an_outer_array_is_its_elements(values, indent):
    records, problems = _documents(json.dumps(values, indent=indent))
    assert [record.value for record in records] == values
    assert problems.broken == 0


def test_records_know_their_lines():
    records, _ = _documents('{\n "a": 1\n}\n\n{"messages":\n[1,\n2]}')
    assert [(record.line, record.key, record.value) for record in records] == [
        (1, "", {"a": 1}),
        (6, "messages", 1),
        (7, "messages", 2),
    ]


@pytest.mark.parametrize(
    "broken",
    ['{"a": "half', '{"a": {"b": 1', '{"a": 1,\n', '{"a": nul', "junk", '{"a" 1}', '{"a": tru}', "}", '{"a": [1, }'],
)
def test_after_a_broken_value_the_next_line_is_read(broken):
    records, problems = _documents(f'{{"first": 1}}\n{broken}\n{{"last": 2}}\n')
    assert records[0].value == {"first": 1}
    assert records[-1].value == {"last": 2}
    assert problems.broken >= 1
    assert problems.named[0].line >= 2


def test_a_value_over_the_limit_is_named_and_the_rest_read():
    records, problems = _documents('{"a": "%s"}\n{"last": 2}\n' % ("x" * (1 << 20)), limit=1000)
    assert [record.value for record in records] == [{"last": 2}]
    assert "longer than 1000 bytes" in problems.named[0].reason


@given(st.binary(max_size=300))
def test_any_bytes_are_read_to_the_end(data):
    records, problems = _documents(data, 13)
    assert all(isinstance(record, Record) for record in records)
    assert problems.broken <= len(data)


_ODD = [
    b"18446744073709551616",
    b"-9223372036854775809",
    b"[123456789012345678901234567890, 0.1]",
    b'"\\ud800"',
    b"[NaN, -Infinity]",
    b'{"a": 1, "a": 2}',
    b'"\xff\xfe"',
    b"1e400",
    b"-0",
]


@pytest.mark.parametrize("raw", _ODD)
def test_both_parsers_give_the_same_values(monkeypatch, raw):
    with_orjson = json_values.loads(raw)
    monkeypatch.setattr(json_values, "_fast", None)
    without = json_values.loads(raw)
    assert repr(with_orjson) == repr(without)


@given(_json)
def test_both_parsers_agree_on_ordinary_values(value):
    raw = json.dumps(value).encode()
    fast, json_values._fast = json_values._fast, None
    try:
        without = json_values.loads(raw)
    finally:
        json_values._fast = fast
    assert json_values.loads(raw) == without == value


def test_different_bytes_that_are_no_utf8_stay_different():
    assert json_values.loads(b'"\xff"') != json_values.loads(b'"\xfe"')


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"\x00", b"{'a': 1}", b"9" * 10_000])
def test_what_is_no_json_is_refused(raw):
    with pytest.raises(json_values.BrokenJson):
        json_values.loads(raw)


def test_lines_are_numbered_and_broken_ones_named():
    problems = Problems()
    stream = io.BufferedReader(io.BytesIO(b'{"a":1}\n\n{"a":\n' + b'"' + b"x" * 100 + b'"\n{"a":2}'))
    records = list(line_records(stream, 50, problems, "t"))
    assert [(record.line, record.value) for record in records] == [(1, {"a": 1}), (5, {"a": 2})]
    assert [(problem.line, problem.reason) for problem in problems.named] == [
        (3, "no JSON"),
        (4, "longer than 50 bytes"),
    ]


def test_deep_nesting_is_no_crash():
    records, problems = _documents("[" * 50_000 + "\n" + '{"a": 1}', limit=1 << 20)
    assert sys.getrecursionlimit() < 50_000
    assert problems.broken >= 1
    assert records == [] or records[-1].value == {"a": 1}
