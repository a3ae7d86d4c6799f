"""Result identity: when two arguments, calls and results are the same."""

import json
from collections import OrderedDict
from enum import Enum, IntEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_docsfab.core.identity import (
    MAX_DEPTH,
    NotJson,
    arguments_digest,
    call_key,
    canonical_arguments,
    canonical_json,
    parse_arguments,
    result_digest,
    result_key,
    subject_of,
)


class Name(str, Enum):  # noqa: UP042 - the old way has a form of its own
    A = "a"


class Number(IntEnum):
    ONE = 1


class Half(float):
    __slots__ = ()


def short(value):
    return ascii(value)[:30] if isinstance(value, (str, bytes)) else type(value).__name__


HUGE = 10**5_000  # past the interpreter's own limit for digits in text
HUGE_TEXT = "1" + "0" * 5_000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 0}, {"a": -0.0}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, MappingProxyType({"a": 1})),
        ({"a": "a"}, {"a": Name.A}),
        ({"a": 1}, {"a": Number.ONE}),
        ({"a": 0.5}, {"a": Half(0.5)}),
        ({"a": 1}, '{"a": 1}'),
        ({"a": 1}, b'{ "a" : 1.0 }'),
        ({"a": 1}, bytearray(b'{"a":1}')),
        ('{"a": 1, "a": 2}', {"a": 2}),  # duplicate keys: the last
        ('{"a": 1e2}', {"a": 100}),
        ('{"a": 0.1}', '{"a": 0.1000000000000000055511151231257827}'),  # one binary64
        ('{"a": 1e-400}', {"a": 0}),
        ('{"a": -0}', {"a": 0}),
        ('"\\u00e9"', '"é"'),
        ('"\\ud83d\\ude00"', '"😀"'),
        ('"\\/"', '"/"'),
        (HUGE_TEXT, HUGE),
        ("-" + HUGE_TEXT, -HUGE),
        (f'{{"n": {HUGE_TEXT}}}', {"n": HUGE}),
        ("9007199254740993", 9007199254740993),
        ("null", None),
        ("NaN", "NaN"),
        ("not json", b"not json"),
    ],
    ids=short,
)
def test_the_same_arguments(one, other):
    assert canonical_arguments(one) == canonical_arguments(other)
    assert arguments_digest(one) == arguments_digest(other)
    assert arguments_digest(one) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": 0}, {"a": None}),
        ({"a": 1}, {"a": "1"}),
        ({"a": None}, {}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": 1}, {"A": 1}),
        ({"a": "é"}, {"a": "e\u0301"}),  # code points, no normalisation
        (9007199254740992, 9007199254740993),  # integers of any size exactly
        (HUGE, HUGE + 1),
        (HUGE_TEXT, HUGE_TEXT[:-1] + "1"),
        (HUGE, -HUGE),
        ("1e300", 10**300),  # a binary64 is its own exact value
        ("1e400", "1e401"),  # out of range: text, not a value
        ("NaN", "nan"),
        ("NaN", '"NaN"'),
        ("Infinity", "-Infinity"),
        ("docs/a.md", '"docs/a.md"'),  # text that is no JSON never equals a value
        ("{}", "{}}"),
        ("", '""'),
        ("", None),
        ("[1]", "[1,]"),
        ('"\\ud800"', '"\\udfff"'),
        ("\ud800", "\udfff"),
        (b"\xff", "\xff"),
        (b"\xff", b"\xfe"),
    ],
    ids=short,
)
def test_different_arguments(one, other):
    assert canonical_arguments(one) != canonical_arguments(other)
    assert arguments_digest(one) != arguments_digest(other)


@pytest.mark.parametrize(
    "unknown",
    [
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": float("-inf")},
        {1: "a"},
        {"a": object()},
        {"a": b"bytes"},
        {"a": {1, 2}},
        [[[object()]]],
    ],
)
def test_values_without_a_place_in_json_are_unknown_not_equal(unknown):
    assert canonical_arguments(unknown) is None
    assert arguments_digest(unknown) is None


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_nesting_has_an_end_and_never_raises():
    assert canonical_arguments(nested(MAX_DEPTH)) is not None
    assert canonical_arguments(nested(MAX_DEPTH + 1)) is None
    deep = "[" * 100_000 + "]" * 100_000
    assert canonical_arguments(deep) == b"t" + deep.encode()
    one_too_deep = json.dumps(nested(MAX_DEPTH + 1))
    assert canonical_arguments(one_too_deep) == b"t" + one_too_deep.encode()


def test_a_foreign_mapping_that_recurses_is_unknown():
    loop = {}
    loop["a"] = loop
    assert canonical_arguments(loop) is None


def test_parse_arguments_says_what_is_no_json():
    for text in ("", "NaN", "[Infinity]", "1e400", "-1e400", "{'a': 1}", "01", "[" * 100_000):
        with pytest.raises(NotJson):
            parse_arguments(text)
    assert parse_arguments(' {"a": [1, 2.5, null]} ') == {"a": [1, 2.5, None]}


def test_canonical_json_is_ascii_with_sorted_keys():
    assert canonical_json({"b": [True, False, None, 1.5, -2, 3.0], "a": "ü"}) == (
        '{"a":"\\u00fc","b":[true,false,null,1.5,-2,3]}'
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def value_of(thing):
    """A plain value that is equal exactly when the rules say so: bools apart from numbers, objects without order."""
    if isinstance(thing, bool) or thing is None:
        return repr(thing)
    if isinstance(thing, (int, float)):
        return ("number", thing)
    if isinstance(thing, str):
        return ("text", thing)
    if isinstance(thing, list):
        return ("array", tuple(map(value_of, thing)))
    return ("object", frozenset((key, value_of(value)) for key, value in thing.items()))


@given(JSON, JSON)
def test_canonical_exactly_when_equal(one, other):
    assert (canonical_json(one) == canonical_json(other)) == (value_of(one) == value_of(other))
    assert canonical_json(json.loads(canonical_json(one))) == canonical_json(one)


@given(JSON)
def test_text_and_value_compare_equal(value):
    expected = canonical_arguments(value)
    if isinstance(value, str):  # a text is parsed first
        expected = b"j" + canonical_json(value).encode()
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert canonical_arguments(text) == expected


@given(st.text(st.characters()) | st.binary())
def test_nothing_raises_on_any_text(text):
    assert len(arguments_digest(text)) == 32
    assert len(result_digest(text)) == 32


def test_results_compare_by_their_bytes():
    assert result_digest("ü") == result_digest("ü".encode())
    assert result_digest("a\r\n") != result_digest("a\n")
    assert result_digest("") == result_digest(b"")
    assert result_digest("\ud800") != result_digest("\udfff")


def test_every_part_belongs_to_the_identity():
    arguments, result = arguments_digest({"a": 1}), result_digest("A")
    keys = {
        result_key(call_key("read", arguments), result),
        result_key(call_key("grep", arguments), result),
        result_key(call_key("read", arguments_digest({"a": 2})), result),
        result_key(call_key("read", arguments), result_digest("B")),
        result_key(call_key("\ud800", arguments), result),
    }
    assert len(keys) == 5
    assert {len(key) for key in keys} == {40}


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"path": "docs/a.md"}, "docs/a.md"),
        ({"file_path": "docs/a.md", "limit": 3}, "docs/a.md"),
        ({"command": "cat docs/a.md"}, "cat docs/a.md"),
        ({"path": "", "uri": "file:///a"}, "file:///a"),
        ({"path": 3}, '{"path":3}'),
        ({"query": "x"}, '{"query":"x"}'),
        (["docs", 1], '["docs",1]'),
        ("cat docs/a.md", "cat docs/a.md"),
        ({}, ""),
        (None, ""),
        (7, ""),
        ({"a": object()}, ""),
        ({"path": "a\nb\tc\ud800"}, "a b c "),
    ],
)
def test_r06_what_a_person_would_call_it(arguments, subject):
    assert subject_of(arguments) == subject


@pytest.mark.parametrize("length", [121, 400, 481, 100_000])
def test_r06_a_long_subject_is_shortened_in_the_middle(length):
    path = "start/" + "x" * (length - 10) + "/end"
    short = subject_of({"path": path})
    assert len(short) <= 120
    assert short.startswith("start/")
    assert short.endswith("/end")
    assert "…" in short
    assert subject_of({"path": "y" * 120}) == "y" * 120
