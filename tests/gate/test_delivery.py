"""What the model gets for each kind of return value: the table of ``otel_docsfab.gate.render``, row by row."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from otel_docsfab.core import wording
from otel_docsfab.gate import render

NOTICE = wording.notice("read", "a.md", 1)
PART = {"type": "text", "text": NOTICE}


class Text(BaseModel):
    type: Literal["text"] = "text"
    text: str


class Image(BaseModel):
    type: Literal["image"] = "image"
    data: str = "aGk="


class ToolResult(BaseModel):
    """Cut like an MCP tool result."""

    content: list[Text | Image]
    is_error: bool = False


class TextMessage(BaseModel):
    content: str


class Strict(Text):
    """A text part that cannot be made from a notice."""

    source: str


@dataclasses.dataclass(frozen=True)
class Page:
    text: str


Point = namedtuple("Point", "x y")  # noqa: PYI024 - the plain form is what is tested

ROWS: list[tuple[str, Any, Any, Any]] = [
    ("str", "text", f"text\n\n{NOTICE}", NOTICE),
    ("empty str", "", NOTICE, NOTICE),
    ("bytes", "tëxt".encode(), "tëxt".encode() + b"\n\n" + NOTICE.encode(), NOTICE.encode()),
    ("binary bytes", b"\xff\xfe\x00", b"\xff\xfe\x00", NOTICE.encode()),
    ("parts", [{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}, PART], [PART]),
    ("parts of two kinds", [{"type": "image"}, {"type": "x"}], [{"type": "image"}, {"type": "x"}, PART], [PART]),
    ("list", ["a.md", "b.md"], ["a.md", "b.md", NOTICE], [NOTICE]),
    ("empty list", [], [NOTICE], [NOTICE]),
    ("list of other mappings", [{"name": "a"}], [{"name": "a"}, NOTICE], [NOTICE]),
    ("list of models", [Text(text="a")], [Text(text="a"), Text(text=NOTICE)], [Text(text=NOTICE)]),
    ("list of models without text", [Image()], [Image(), NOTICE], [NOTICE]),
    ("tuple", (1, "a"), (1, "a", NOTICE), (NOTICE,)),
    ("dict", {"a": 1}, {"a": 1, "notice": NOTICE}, {"notice": NOTICE}),
    ("dict with a member of that name", {"notice": "mine"}, {"notice": "mine"}, {"notice": NOTICE}),
    ("ordered dict", OrderedDict(b=1, a=2), {"b": 1, "a": 2, "notice": NOTICE}, {"notice": NOTICE}),
    (
        "dict with content parts",
        {"content": [{"type": "text", "text": "a"}], "isError": False},
        {"content": [{"type": "text", "text": "a"}, PART], "isError": False},
        {"content": [PART], "isError": False},
    ),
    ("dict with a content text", {"content": "a"}, {"content": "a", "notice": NOTICE}, {"notice": NOTICE}),
    (
        "model with content parts",
        ToolResult(content=[Text(text="a"), Image()]),
        ToolResult(content=[Text(text="a"), Image(), Text(text=NOTICE)]),
        ToolResult(content=[Text(text=NOTICE)]),
    ),
    ("model without a text part", ToolResult(content=[Image()]), ToolResult(content=[Image()]), NOTICE),
    ("model without parts", ToolResult(content=[]), ToolResult(content=[]), NOTICE),
    ("model with a content text", TextMessage(content="a"), TextMessage(content="a"), NOTICE),
    ("dataclass", Page("a"), Page("a"), NOTICE),
    ("None", None, None, NOTICE),
    ("number", 4.5, 4.5, NOTICE),
]


@pytest.mark.parametrize(("result", "told", "withheld"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_r04_r05_what_each_return_type_becomes(stage, result, told, withheld):
    first, second, third = stage.thrice(lambda path: result, path="a.md")
    assert first is result
    assert (second, type(second)) == (told, type(told))
    assert (third, type(third)) == (withheld, type(withheld))
    assert stage.sink.verdicts == ["deliver", "deliver-with-notice", "notice-only"]


def test_a_result_is_never_changed_in_place(stage):
    listing, page = ["a.md"], {"content": [{"type": "text", "text": "a"}]}
    for result in (listing, page):
        stage.thrice(lambda path, result=result: result, path=str(result))
    assert listing == ["a.md"]
    assert page == {"content": [{"type": "text", "text": "a"}]}


def test_a_named_tuple_keeps_its_shape(stage):
    first, second, third = stage.thrice(lambda path: Point(1, 2), path="a.md")
    assert first == second == Point(1, 2)
    assert third == NOTICE


def test_r29_what_has_no_text_form_is_delivered_and_unjudged(stage):
    class Handle:
        pass

    results = stage.thrice(lambda path: Handle(), path="a.md")
    assert all(isinstance(result, Handle) for result in results)
    assert stage.sink.verdicts == ["unjudged"] * 3
    assert stage.attempt.record().unjudged == {"result-not-text": 3}


def test_a_generator_is_never_consumed(stage):
    def lines():
        yield "a"
        yield "b"

    results = stage.thrice(lambda path: lines(), path="a.md")
    assert [list(result) for result in results] == [["a", "b"]] * 3
    assert stage.sink.verdicts == ["unjudged"] * 3


def test_a_generator_function_and_an_async_one_are_never_consumed(stage):
    def lines(path):
        yield path

    async def async_lines(path):
        yield path

    assert list(stage.attempt.gate(lines, tool="read")(path="a")) == ["a"]
    generator = stage.attempt.gate(async_lines, tool="read")(path="a")
    assert hasattr(generator, "__anext__")
    assert stage.sink.verdicts == ["unjudged"] * 2


def test_a_foreign_part_that_refuses_the_notice_costs_nothing(stage):
    parts = [Strict(text="a", source="s")]
    first, second, third = stage.thrice(lambda path: parts, path="a.md")
    assert first is parts
    assert second == [*parts, NOTICE]
    assert third == [NOTICE]

    class Sealed(ToolResult):
        def model_copy(self, **_):
            raise TypeError

    sealed = Sealed(content=[Text(text="a")])
    assert render.with_notice(sealed, NOTICE) is sealed
    assert render.notice_only(sealed, NOTICE) == NOTICE


def test_r02_new_content_is_never_withheld_however_the_same_call_changes(stage):
    contents = iter(range(50))
    read = stage.attempt.gate(lambda path: f"version {next(contents)}", tool="read")
    assert [read(path="a.md") for _ in range(50)] == [f"version {n}" for n in range(50)]
    assert stage.attempt.record().read_evidence is None


def test_r06_the_digest_is_taken_before_the_notice(stage):
    text = "same"
    read = stage.attempt.gate(lambda path: text, tool="read")
    delivered = [read(path="a.md") for _ in range(2)]
    text = delivered[1]  # content that looks like what we delivered is another content
    assert read(path="a.md") == text
    assert stage.sink.verdicts[-1] == "deliver"
