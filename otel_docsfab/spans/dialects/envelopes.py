"""Results: from a runtime's envelope to what the model gets.

An envelope is opened only in its runtime's own shape, and only ids, steps and the like are left out of it: two contents
that differ stay different. What should be an envelope and cannot be read was cut.

Source: R29; result identity, SPEC section 1.
"""

from __future__ import annotations

from typing import Any, Final

from otel_docsfab.core import Unjudged
from otel_docsfab.spans.dialects.values import RESULT, Content, NotReadable, hidden, parse_json, text_of

_CUT: Final = Content(None, RESULT.cut)
_LABELS: Final = frozenset({"type", "block_type", "id", "index"})
"""Keys of a text block that say nothing to the model."""
_VOLATILE: Final = frozenset({"durationMs", "durationSeconds"})


def parsed(value: object) -> object:
    """The JSON value of a text (bytes: their UTF-8 text); other values as they are.

    Raises:
        NotReadable: The text is no JSON.
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            raise NotReadable from error
    return parse_json(value) if isinstance(value, str) else value


def settled(value: object, *, failed: bool = False) -> Content:
    """What came out of an envelope, looked at once more: it may be a placeholder or nothing."""
    if value is None:
        return Content(None, RESULT.not_captured, failed)
    reason = hidden(value, RESULT) if isinstance(value, str) else None
    return Content(value, None, failed) if reason is None else Content(None, reason, failed)


def without_blocks(content: object) -> object:
    """One text block is its text; several text blocks are the list of their texts; anything else stays.

    A list stays a list, so that ``["a", "b"]`` is not ``["ab"]``.
    """
    if not isinstance(content, list) or not content:
        return content
    texts = [_block_text(block) for block in content]
    if any(text is None for text in texts):
        return content
    return texts[0] if len(texts) == 1 else texts


def _block_text(block: object) -> str | None:
    if not isinstance(block, dict) or not isinstance(block.get("text"), str):
        return None
    if any(value is not None for key, value in block.items() if key != "text" and key not in _LABELS):
        return None
    text: str = block["text"]
    return text


def content_blocks(value: object) -> Content:
    """``[{"text": ..}]`` (Strands), as JSON text or as a value."""
    try:
        return settled(without_blocks(parsed(value)))
    except NotReadable:
        return _CUT


def tool_message(value: object) -> Content:
    """A LangChain tool message in any of its serialised forms, with or without ``output`` around it: its content."""
    try:
        message = parsed(value)
    except NotReadable:
        return _CUT
    if isinstance(message, dict) and "output" in message and message.keys() <= {"output", "kwargs"}:
        message = message["output"]
    inner = _message_fields(message)
    if inner is None:
        return settled(message)
    content = settled(without_blocks(inner["content"]), failed=inner.get("status") == "error")
    return content._replace(call_id=text_of(inner["tool_call_id"]))


def _message_fields(message: object) -> dict[str, Any] | None:
    if not isinstance(message, dict):
        return None
    for inner in (message.get("data"), message.get("kwargs"), message):
        if isinstance(inner, dict) and "content" in inner and "tool_call_id" in inner:
            return inner
    return None


def adk_response(value: object) -> Content:
    """What an ADK tool returned: the text of ``{"result": text}``, else the whole object, as the model gets it."""
    try:
        response = parsed(value)
    except NotReadable:
        return _CUT
    if not isinstance(response, dict):
        return settled(response)
    if response.keys() == {"result"} and isinstance(response["result"], str):
        return settled(response["result"])
    failed = response.keys() == {"error"} or response.get("isError") is True
    return settled(response, failed=failed)


def adk_function_response(value: object) -> Content:
    """``{"id": .., "name": .., "response": {..}}``: the response without the call's id."""
    try:
        envelope = parsed(value)
    except NotReadable:
        return _CUT
    if isinstance(envelope, dict) and "response" in envelope and envelope.keys() <= {"id", "name", "response"}:
        return adk_response(envelope["response"])._replace(call_id=text_of(envelope.get("id")))
    return adk_response(envelope)


def tool_output(value: object) -> Content:
    """A LlamaIndex ``ToolOutput``, with or without ``tool_output`` around it: its text blocks, else the raw output."""
    try:
        output = parsed(value)
    except NotReadable:
        return _CUT
    call_id = None
    if isinstance(output, dict) and isinstance(output.get("tool_output"), dict):
        call_id = text_of(output.get("tool_id"))
        output = output["tool_output"]
    if not isinstance(output, dict) or "raw_output" not in output:
        return settled(output)
    told = without_blocks(output.get("blocks"))
    if not isinstance(told, str):  # older releases: the text itself
        told = output.get("content")
    content = settled(told if isinstance(told, str) else output["raw_output"], failed=output.get("is_error") is True)
    return content._replace(call_id=call_id)


def mcp_result(value: object) -> Content:
    """``{"result": .., "is_error": ..}``: the result."""
    try:
        envelope = parsed(value)
    except NotReadable:
        return _CUT
    if isinstance(envelope, dict) and "result" in envelope and envelope.keys() <= {"result", "is_error", "isError"}:
        failed = envelope.get("is_error") is True or envelope.get("isError") is True
        return settled(without_blocks(envelope["result"]), failed=failed)
    return settled(envelope)


def json_value(value: object) -> Content:
    """A value that DSPy wrote as JSON, a text quoted: the value."""
    try:
        return settled(parsed(value))
    except NotReadable:
        return _CUT


def claude_response(value: object) -> Content:
    """A structured tool response of Claude Code: the file's content, else the whole without durations."""
    try:
        response = parsed(value)
    except NotReadable:
        return _CUT
    if not isinstance(response, dict):
        return settled(without_blocks(response))
    if response.get("persistedOutputPath") is not None:
        return Content(None, Unjudged.RESULT_OFFLOADED)
    if response.get("type") == "file_unchanged":  # the host's own stub instead of the file
        return Content(None, RESULT.placeholder)
    file = response.get("file")
    if response.get("type") == "text" and isinstance(file, dict) and isinstance(file.get("content"), str):
        return settled(file["content"])
    if response.keys() & _VOLATILE:
        response = {key: item for key, item in response.items() if key not in _VOLATILE}
    return settled(response)
