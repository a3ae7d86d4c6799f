"""What a model span tells of its response: whether it asks for tools, whether it ran into the output limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from otel_docsfab.spans.dialects.values import NotReadable, parse_json, text_of
from otel_docsfab.spans.view import SpanView

_CALLS: Final = frozenset({"tool_calls", "tool_call", "tool_use", "tooluse", "function_call"})
_NO_CALLS: Final = frozenset({"end_turn", "stop_sequence"})
"""Reasons that rule calls out; a plain ``stop`` does not (Gemini stops so after function calls)."""
_LIMIT: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_REASON_KEYS: Final = ("gen_ai.response.finish_reasons", "llm.finish_reason", "stop_reason")
_MESSAGE_KEYS: Final = (
    "gen_ai.output.messages",
    "gcp.vertex.agent.llm_response",
    "haystack.agent.step.llm.output",
    "gen_ai.completion",
)
_FLAT_PREFIXES: Final = ("llm.output_messages.", "gen_ai.completion.")
_CALL_PART_TYPES: Final = frozenset({"tool_call", "tool_use", "function_call", "tool_call_request"})
_CALL_KEYS: Final = ("tool_calls", "tool_call", "toolUse", "function_call", "functionCall", "tool_use")
_MAX_DEPTH: Final = 12


class Response(NamedTuple):
    """What a response is known to be.

    Attributes:
        called_tools: Whether it asks for tools; None when the span does not tell.
        output_limited: Whether it stopped at the output limit.
    """

    called_tools: bool | None = None
    output_limited: bool = False


def read_response(view: SpanView) -> Response:
    """Read a model span's response from whatever the runtime wrote of it."""
    reasons = set(_reasons(view))
    called = _called(view)
    if called is None and reasons & _NO_CALLS:
        called = False
    return Response(called or (True if reasons & _CALLS else called), bool(reasons & _LIMIT))


def _reasons(view: SpanView) -> Iterator[str]:
    attributes = view.attributes
    for key in _REASON_KEYS:
        yield from _words(attributes.get(key))
    for index in range(2):
        yield from _words(attributes.get(f"gen_ai.completion.{index}.finish_reason"))
    for event in view.events:
        if event.name == "gen_ai.choice":
            yield from _words(event.attributes.get("finish_reason"))
    for messages in _messages(view):
        for message in messages if isinstance(messages, list) else (messages,):
            if isinstance(message, dict):
                yield from _words(message.get("finish_reason"))


def _words(value: object) -> Iterator[str]:
    text = text_of(value)
    if text is not None and text.startswith("["):
        value, text = _json(text), None
    if text is not None:
        yield text.lower()
    elif isinstance(value, (list, tuple)):
        for item in value:
            word = text_of(item)
            if word is not None:
                yield word.lower()


def _called(view: SpanView) -> bool | None:
    told: bool | None = None
    for messages in _messages(view):
        if _asks(messages, 0):
            return True
        told = False
    for key in view.attributes:
        name = text_of(key)
        if name is not None and name.startswith(_FLAT_PREFIXES):
            if ".tool_calls." in name:
                return True
            told = False
    return told


def _messages(view: SpanView) -> Iterator[Any]:
    """Every structured response the span holds; empty and unreadable ones tell nothing."""
    for key in _MESSAGE_KEYS:
        value = _json(view.attributes.get(key))
        if value:
            yield value
    for event in view.events:
        if event.name == "gen_ai.choice":
            value = _json(event.attributes.get("message"))
        elif event.name == "gen_ai.client.inference.operation.details":
            value = _json(event.attributes.get("gen_ai.output.messages"))
        else:
            continue
        if value:
            yield value


def _json(value: object) -> Any:
    text = text_of(value)
    if text is None:
        return value if isinstance(value, (list, tuple, Mapping)) else None
    if not text.startswith(("[", "{")):
        return None
    try:
        return parse_json(text)
    except NotReadable:
        return None


def _asks(value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, (list, tuple)):
        return any(_asks(item, depth + 1) for item in value)
    if not isinstance(value, Mapping):
        return False
    if text_of(value.get("type")) in _CALL_PART_TYPES or any(value.get(key) for key in _CALL_KEYS):
        return True
    return any(isinstance(item, (list, tuple, Mapping)) and _asks(item, depth + 1) for item in value.values())
