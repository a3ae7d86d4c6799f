"""Arguments: from an attribute to what the call's identity compares (SPEC section 1)."""

from __future__ import annotations

import json
from collections.abc import Callable

from otel_docsfab.core.identity import MAX_DEPTH, NotJson, parse_arguments
from otel_docsfab.spans.dialects.values import ARGUMENTS, Content, NotReadable, parse_json

Unwrap = Callable[[object], Content]


def plain_arguments(value: object) -> Content:
    """Arguments without an envelope: parsed objects and lists; any other text as it is.

    The identity parses a text itself, so that a text of a number is the number and a quoted string stays one.
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return Content(value)
    if not isinstance(value, str):
        return Content(value)
    if not value:
        return Content(None, ARGUMENTS.not_captured)
    if value.count("[") + value.count("{") > MAX_DEPTH:  # may nest too deeply for JSON: the identity decides
        return Content(value)
    try:
        parsed = parse_arguments(value)
    except NotJson:
        return Content(None, ARGUMENTS.cut) if _lost_its_end(value) else Content(value)
    return Content(parsed if isinstance(parsed, (dict, list)) else value)


def _lost_its_end(text: str) -> bool:
    """Whether a text opens a JSON object or list and never closes it: some backend cut it."""
    closing = {"{": "}", "[": "]"}.get(text.lstrip()[:1])
    return closing is not None and not text.rstrip().endswith(closing)


def exact_text(value: object) -> Content:
    """A bare text that is the argument itself, not JSON: quoted when it could be taken for JSON."""
    if not isinstance(value, str):
        return plain_arguments(value)
    try:
        parse_arguments(value)
    except NotJson:
        return Content(value)
    return Content(json.dumps(value))


def keyword_arguments(value: object) -> Content:
    """``{"args": [..], "kwargs": {..}, "sanitize_inputs_outputs": ..}`` and ``{"kwargs": {..}}``: the keywords.

    Positional arguments stay before the keywords, as a list of two. Anything else is taken as it is.
    """
    envelope = _mapping(value)
    if envelope is None:
        return Content(None, ARGUMENTS.unreadable) if isinstance(value, (str, bytes)) else plain_arguments(value)
    if "kwargs" not in envelope or not envelope.keys() <= {"args", "kwargs", "sanitize_inputs_outputs"}:
        return plain_arguments(value)
    args, kwargs = envelope.get("args"), envelope["kwargs"]
    return Content([args, kwargs] if args or not isinstance(kwargs, dict) else kwargs)


def named_call(value: object) -> Content:
    """``{"tool_name": .., "arguments": {..}}``: the arguments."""
    envelope = _mapping(value)
    if envelope is None or envelope.keys() != {"tool_name", "arguments"}:
        return plain_arguments(value)
    return _inner(envelope["arguments"])


def callback_input(value: object) -> Content:
    """LangChain's callback envelope with ``inputs`` beside ids, tags, steps and checkpoints: the inputs."""
    envelope = _mapping(value)
    if envelope is None:
        return Content(None, ARGUMENTS.unreadable) if isinstance(value, (str, bytes)) else plain_arguments(value)
    if "input_str" not in envelope:
        return plain_arguments(value)
    inputs = envelope.get("inputs")
    return _inner(envelope["input_str"] if inputs is None else inputs)


def _inner(value: object) -> Content:
    if value is None:
        return Content(None, ARGUMENTS.not_captured)
    return exact_text(value)


def _mapping(value: object) -> dict[str, object] | None:
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except NotReadable:
            return None
    return value if isinstance(value, dict) else None
