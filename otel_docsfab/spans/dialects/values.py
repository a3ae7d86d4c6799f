"""Attribute values: what is content, and what only looks like it.

Whatever telemetry lost, hid or shortened is unknown and never equal to anything (R29). Values come from foreign code:
nothing here calls ``__eq__``, ``__hash__``, ``__str__`` or ``__class__`` of an object that is no JSON type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from otel_docsfab.core import Unjudged

MAX_DEPTH: Final = 100
"""Values nested deeper than this are taken for unreadable."""


class NotReadable(ValueError):  # noqa: N818 - a finding, not a fault
    """A value is not JSON-like, or a text is no JSON of one reading."""


class Cut(NotReadable):
    """A text inside a value is as long as the attribute limit."""


class Side(NamedTuple):
    """The reasons of one side of a call.

    Attributes:
        not_captured: Nothing was recorded.
        cut: It was shortened.
        redacted: It was hidden.
        placeholder: A constant stands in for it.
        unreadable: It is of a kind that has no text.
    """

    not_captured: Unjudged
    cut: Unjudged
    redacted: Unjudged
    placeholder: Unjudged
    unreadable: Unjudged


ARGUMENTS: Final = Side(
    Unjudged.ARGUMENTS_NOT_CAPTURED,
    Unjudged.ARGUMENTS_CUT,
    Unjudged.ARGUMENTS_REDACTED,
    Unjudged.ARGUMENTS_PLACEHOLDER,
    Unjudged.ARGUMENTS_NOT_JSON,
)
RESULT: Final = Side(
    Unjudged.RESULT_NOT_CAPTURED,
    Unjudged.RESULT_CUT,
    Unjudged.RESULT_REDACTED,
    Unjudged.RESULT_PLACEHOLDER,
    Unjudged.RESULT_NOT_TEXT,
)


class Content(NamedTuple):
    """Arguments or a result, as far as a span tells them.

    Attributes:
        value: Text, bytes or a JSON-like value; None when unknown.
        reason: Why it is unknown; None when it is known.
        failed: Whether the value itself says that the call failed.
        call_id: The call's id, when only the value around the content has it.
    """

    value: Any = None
    reason: Unjudged | None = None
    failed: bool = False
    call_id: str | None = None


_PLACEHOLDERS: Final = frozenset({"null", "N/A", "<not specified>"})
_REDACTED: Final = frozenset({"[REDACTED]", "[redacted]", "<REDACTED>", "<redacted>", "REDACTED", "[Filtered]", "***"})
_OPENINFERENCE_MARK: Final = "__REDACTED__"
_LOGFIRE_MARK: Final = "[Scrubbed due to "
"""What both write, anywhere in a value, for what they hide."""
_ADK_MARK: Final = "<not serializable>"
_STRANDS_MARK: Final = "<replaced>"
"""What both write, anywhere in a value, for what they cannot serialize."""
_OFFLOADED: Final = "<persisted-output>"


def text_of(value: object) -> str | None:
    """The value as a plain ``str``; None when it is no text."""
    if type(value) is str:
        return value
    return str.__str__(value) if issubclass(type(value), str) else None


def bytes_of(value: object) -> bytes | None:
    """The value as plain ``bytes``; None when it is none."""
    if type(value) is bytes:
        return value
    return bytes.join(b"", (value,)) if issubclass(type(value), (bytes, bytearray)) else None  # type: ignore[arg-type]


def hidden(text: str, side: Side) -> Unjudged | None:
    """Why a text is not the content it stands for; None when it is."""
    if len(text) < 20 and (text in _PLACEHOLDERS or text in _REDACTED):  # noqa: PLR2004 - longer than any of them
        return side.placeholder if text in _PLACEHOLDERS else side.redacted
    # most texts lack the first character of a mark already, and one is found faster than a word
    if "_" in text and _OPENINFERENCE_MARK in text:
        return side.redacted
    if "[" in text and _LOGFIRE_MARK in text:
        return side.redacted
    if "<" in text:
        if _ADK_MARK in text or _STRANDS_MARK in text:
            return side.placeholder
        if side is RESULT and text.startswith(_OFFLOADED):
            return Unjudged.RESULT_OFFLOADED
    return None


def examine(value: object, side: Side, limit: int | None = None) -> Content:
    """Tell content from its absence.

    Args:
        value: A raw attribute value of any type.
        side: Whether it stands for arguments or for a result.
        limit: Attribute value length limit, characters or bytes, when known.

    Returns:
        The value as text, bytes or plain JSON-like value, or the reason why it is unknown.

    Source: R29.
    """
    if value is None:
        return Content(None, side.not_captured)
    content: str | bytes | None = value if type(value) is str else text_of(value)
    if content is None:
        content = bytes_of(value)
    if content is not None:
        if limit is not None and len(content) >= limit:
            return Content(None, side.cut)
        reason = hidden(content, side) if isinstance(content, str) else None
        return Content(content) if reason is None else Content(None, reason)
    try:
        return _structured(value, side, limit)
    except Cut:
        return Content(None, side.cut)
    except Exception:  # noqa: BLE001 - foreign mappings may raise anything; unreadable is the answer
        return Content(None, side.unreadable)


def _structured(value: object, side: Side, limit: int | None) -> Content:
    plain = _plain(value, limit, 0)
    reason = hidden(json.dumps(plain, ensure_ascii=False), side)
    return Content(plain) if reason is None else Content(None, reason)


def _plain(value: object, limit: int | None, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    text = text_of(value)
    if text is not None:
        if limit is not None and len(text) >= limit:
            raise Cut
        return text
    kind = type(value)
    if issubclass(kind, int):
        return int.__pos__(value)  # type: ignore[arg-type]
    if issubclass(kind, float):
        return float.__pos__(value)  # type: ignore[arg-type]
    if depth >= MAX_DEPTH:
        raise NotReadable
    if issubclass(kind, Mapping):
        return _plain_mapping(value, limit, depth + 1)  # type: ignore[arg-type]
    if issubclass(kind, (list, tuple)):
        return [_plain(item, limit, depth + 1) for item in value]  # type: ignore[attr-defined]
    raise NotReadable


def _plain_mapping(value: Mapping[object, object], limit: int | None, depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key in value:
        name = text_of(key)
        if name is None:
            raise NotReadable
        plain[name] = _plain(value[key], limit, depth)
    return plain


def _one_reading(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise NotReadable
    return read


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotReadable
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_one_reading, parse_float=_finite)


def parse_json(text: str) -> Any:
    """The one JSON value that a text stands for.

    Raises:
        NotReadable: The text is no JSON, has a key twice or a number out of range: two texts could then read the same.
    """
    try:
        return _decoder.decode(text)
    except NotReadable:
        raise
    except (ValueError, RecursionError) as error:
        raise NotReadable from error


def result_text(value: object) -> str | bytes | None:
    """What is hashed of a result: its text.

    Args:
        value: A result as an ``Observation`` has it, or any object.

    Returns:
        A text or bytes as they are; compact JSON in the value's own key order for a JSON-like value, so that whatever
        a model would see written differently stays different; None for anything else.
    """
    text = text_of(value)
    if text is not None:
        return text
    raw = bytes_of(value)
    if raw is not None:
        return raw
    try:
        return json.dumps(_plain(value, None, 0), ensure_ascii=False, separators=(",", ":"))
    except Exception:  # noqa: BLE001 - see examine
        return None
