"""The text form of results that are no text."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from otel_docsfab.core.results import result_form


@dataclass
class Part:
    text: str
    line: int = 1


class Model(BaseModel):
    text: str


class Angry:
    def model_dump(self, mode: str) -> object:
        raise RuntimeError(mode)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("text", "text"),
        (b"bytes", b"bytes"),
        (bytearray(b"bytes"), b"bytes"),
        (memoryview(b"bytes"), b"bytes"),
        (None, "null"),
        ({"b": 1, "a": [True, 2.5]}, '{"b":1,"a":[true,2.5]}'),
        (7, "7"),
        ([], "[]"),
        (Part("a"), '{"text":"a","line":1}'),
        (Model(text="a"), '{"text":"a"}'),
        ([Part("a"), "b", Model(text="c"), [1]], '[{"text":"a","line":1},"b",{"text":"c"},[1]]'),
    ],
)
def test_the_form(value, form):
    assert result_form(value) == form


def endless() -> Iterator[int]:
    yield from iter(int, 1)


@pytest.mark.parametrize(
    "value", [object(), Part, endless(), {1: 2}, {"a": object()}, [object()], float("nan"), Angry()]
)
def test_r29_what_has_no_form_is_unknown_and_nothing_is_consumed(value):
    assert result_form(value) is None


def test_r01_another_order_of_keys_or_another_writing_of_a_number_is_another_result():
    assert result_form({"a": 1, "b": 2}) != result_form({"b": 2, "a": 1})
    assert result_form({"a": 1}) != result_form({"a": 1.0})
