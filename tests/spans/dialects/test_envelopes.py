"""Envelopes opened in their own shape only; everything else is left whole or unknown."""

import json

import pytest

from otel_docsfab.core import Unjudged
from otel_docsfab.core.identity import arguments_digest
from otel_docsfab.spans.dialects import arguments, envelopes, result_text
from otel_docsfab.spans.dialects.values import NotReadable, parse_json

CUT, GONE = Unjudged.RESULT_CUT, Unjudged.RESULT_NOT_CAPTURED


@pytest.mark.parametrize(
    ("unwrap", "value", "result"),
    [
        (envelopes.tool_message, {"output": {"kwargs": {"content": "x", "tool_call_id": "1"}}, "kwargs": {}}, "x"),
        (envelopes.tool_message, {"output": "x"}, "x"),
        (envelopes.tool_message, {"output": [{"a": 1}]}, [{"a": 1}]),
        (envelopes.tool_message, {"content": "x"}, {"content": "x"}),  # no tool message
        (envelopes.adk_response, [1], [1]),
        (envelopes.adk_response, b'{"result": "x"}', "x"),
        (envelopes.adk_function_response, {"id": "1", "name": "n", "response": {"result": "x"}}, "x"),
        (envelopes.adk_function_response, {"response": 1, "other": 2}, {"response": 1, "other": 2}),
        (envelopes.tool_output, {"content": "x", "raw_output": 1}, "x"),
        (envelopes.tool_output, {"blocks": [{"image": "i"}], "raw_output": {"a": 1}}, {"a": 1}),
        (envelopes.tool_output, {"blocks": [{"text": "a"}]}, {"blocks": [{"text": "a"}]}),  # no tool output
        (envelopes.mcp_result, {"result": [{"type": "text", "text": "x"}]}, "x"),
        (envelopes.mcp_result, {"result": "x", "meta": 1}, {"result": "x", "meta": 1}),
        (envelopes.json_value, '"x"', "x"),
        (envelopes.json_value, "[1, 2]", [1, 2]),
        (envelopes.claude_response, [{"type": "text", "text": "x"}], "x"),
        (
            envelopes.claude_response,
            {"type": "text", "file": {"base64": "x"}},
            {"type": "text", "file": {"base64": "x"}},
        ),
    ],
)
def test_results(unwrap, value, result):
    content = unwrap(value)
    assert (content.value, content.reason) == (result, None)
    if not isinstance(value, (str, bytes)):
        assert unwrap(json.dumps(value)) == content


@pytest.mark.parametrize(
    "unwrap",
    [
        envelopes.tool_message,
        envelopes.adk_response,
        envelopes.adk_function_response,
        envelopes.tool_output,
        envelopes.mcp_result,
        envelopes.json_value,
        envelopes.claude_response,
        envelopes.content_blocks,
    ],
)
def test_what_should_be_json_and_is_not_was_cut(unwrap):
    for value in ('{"a": "b', "text", b"\xff", '{"a": 1, "a": 2}', '{"a": 1e999}'):
        assert unwrap(value).reason is CUT


def test_nothing_inside_an_envelope_is_nothing_and_placeholders_stay_placeholders():
    assert envelopes.mcp_result({"result": None}).reason is GONE
    assert envelopes.mcp_result({"result": "N/A"}).reason is Unjudged.RESULT_PLACEHOLDER
    assert envelopes.tool_message({"output": None}).reason is GONE
    assert envelopes.tool_message({"output": {"content": None, "tool_call_id": "1"}}).reason is GONE


@pytest.mark.parametrize(
    ("unwrap", "value", "told"),
    [
        (arguments.plain_arguments, b'{"a": 1}', {"a": 1}),
        (arguments.plain_arguments, b"\xff", b"\xff"),
        (arguments.plain_arguments, "[" * 300 + "]" * 300, "[" * 300 + "]" * 300),
        (arguments.exact_text, {"a": 1}, {"a": 1}),
        (arguments.exact_text, "5", '"5"'),
        (arguments.exact_text, "docs", "docs"),
        (arguments.keyword_arguments, '{"args": [], "kwargs": {"a": 1}}', {"a": 1}),
        (arguments.keyword_arguments, {"args": ["x"], "kwargs": {}}, [["x"], {}]),
        (arguments.keyword_arguments, {"kwargs": "x"}, [None, "x"]),
        (arguments.keyword_arguments, '{"a": 1}', {"a": 1}),
        (arguments.keyword_arguments, [1], [1]),
        (arguments.named_call, {"tool_name": "t", "arguments": {"a": 1}}, {"a": 1}),
        (arguments.named_call, {"a": 1}, {"a": 1}),
        (arguments.callback_input, {"input_str": "x", "inputs": {"a": 1}}, {"a": 1}),
        (arguments.callback_input, {"input_str": "x", "inputs": None}, "x"),
        (arguments.callback_input, '{"a": 1}', {"a": 1}),
        (arguments.callback_input, [1], [1]),
    ],
)
def test_arguments(unwrap, value, told):
    content = unwrap(value)
    assert (content.value, content.reason) == (told, None)
    assert arguments_digest(content.value) is not None


def test_arguments_that_are_not_there():
    assert arguments.named_call({"tool_name": "t", "arguments": None}).reason is Unjudged.ARGUMENTS_NOT_CAPTURED
    assert arguments.keyword_arguments("text").reason is Unjudged.ARGUMENTS_NOT_JSON
    assert arguments.callback_input("text").reason is Unjudged.ARGUMENTS_NOT_JSON


def test_positions_and_keywords_never_look_alike():
    positional = arguments.keyword_arguments({"args": [1], "kwargs": {}}).value
    named = arguments.keyword_arguments({"args": [], "kwargs": {"args": [1], "kwargs": {}}}).value
    assert arguments_digest(positional) != arguments_digest(named)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "1e999", "[" * 100_000, "nothing", ""])
def test_a_text_with_no_single_reading_is_not_read(text):
    with pytest.raises(NotReadable):
        parse_json(text)


def test_the_text_of_a_result_keeps_apart_what_a_model_would_see_apart():
    different = [
        "1",
        1.0,
        True,
        None,
        "é",
        [],
        {},
        [1],
        ["1"],
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
        {"a": 1.0, "b": 2},
        b"\xff",
    ]
    texts = [result_text(value) for value in different]
    assert len(set(texts)) == len(different)
    assert result_text({"a": "é", "b": [1, None]}) == '{"a":"é","b":[1,null]}'
    assert result_text(bytearray(b"x")) == b"x"
    assert result_text(("a",)) == result_text(["a"])


@pytest.mark.parametrize("value", [object(), {1: 2}, {"a": b"x"}, {"a": {1, 2}}])
def test_what_has_no_text_has_none(value):
    assert result_text(value) is None


def test_a_value_nested_without_end_has_no_text():
    endless: list = []
    endless.append(endless)
    assert result_text(endless) is None
