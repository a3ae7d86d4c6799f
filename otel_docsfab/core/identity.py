"""The result identity: (tool name, canonical arguments, result bytes), as digests.

Content comes in, digests go out; nothing is kept.

Source: SPEC section 1, "result identity".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quote
from typing import Any, Final

MAX_DEPTH: Final = 200
"""Arguments nested deeper than this are not taken for JSON."""
_MAX_INT_DIGITS: Final = 4_000  # below CPython's limit for int <-> str
_MAX_INT_BITS: Final = 13_000
_SMALL: Final = 2**53


class NotJson(ValueError):  # noqa: N818 - a finding, not a fault
    """A value has no place in JSON."""


class _Digits(str):
    """A whole number too long for ``int``, as its normalised digits."""

    __slots__ = ()


def _whole_number(text: str) -> object:
    if len(text) <= _MAX_INT_DIGITS:
        return int(text)
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    digits = digits.lstrip("0") or "0"
    return _Digits(sign + digits if digits != "0" else digits)


def _binary64(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotJson(text)
    return value


def _no_constant(text: str) -> object:
    raise NotJson(text)


_decoder = json.JSONDecoder(parse_int=_whole_number, parse_float=_binary64, parse_constant=_no_constant)


def parse_arguments(text: str) -> object:
    """The JSON value of an argument text.

    Args:
        text: Argument text of any content.

    Returns:
        The value; numbers with fraction or exponent as binary64, of duplicate keys the last.

    Raises:
        NotJson: The text is no JSON (NaN, numbers out of range and absurd nesting included).
    """
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJson from error


def canonical_json(value: object) -> str:
    """A text that two JSON values share exactly when they are equal by SPEC section 1.

    Args:
        value: None, bool, numbers, str, mappings with str keys, lists or tuples; nested at most ``MAX_DEPTH``.

    Returns:
        Canonical JSON in ASCII: keys in code-point order, numbers by value.

    Raises:
        NotJson: The value is none of these.
    """
    return _canonical(value, 0)


_CONSTANTS: Final = {None: "null", True: "true", False: "false"}


def _canonical(value: Any, depth: int) -> str:
    kind: type = type(value)
    if kind is str:
        return _quote(value)
    if kind is int:
        return _integer(value)
    if value is None or kind is bool:
        return _CONSTANTS[value]
    if depth >= MAX_DEPTH:
        raise NotJson("nested too deeply")
    if kind is dict or isinstance(value, Mapping):  # the class first: asking an abstract one takes its time
        return _object(value, depth + 1)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_canonical(item, depth + 1) for item in value]) + "]"
    return _scalar(value)


def _object(value: Mapping[object, object], depth: int) -> str:
    parts = []
    try:
        for key in sorted(value):  # type: ignore[type-var]  # keys that have no order are no texts
            item = value[key]
            kind = type(item)  # the two that most arguments are made of need no further call
            if kind is str:
                text = _quote(item)  # type: ignore[arg-type]
            elif kind is int and -_SMALL < item < _SMALL:  # type: ignore[operator]
                text = str(item)
            else:
                text = _canonical(item, depth)
            parts.append(f"{_quote(key)}:{text}")  # type: ignore[arg-type]  # takes texts only
    except TypeError as error:
        raise NotJson("a key that is no text") from error
    return "{" + ",".join(parts) + "}"


def _scalar(value: object) -> str:
    if isinstance(value, _Digits):
        return str.__str__(value)
    if isinstance(value, str):
        return _quote(str.__str__(value))
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
            raise NotJson("a number that JSON lacks")
        return _integer(int(value)) if value.is_integer() else float.__repr__(value)
    raise NotJson(f"a {type(value).__name__}")


def _integer(value: int) -> str:
    if -_MAX_INT_BITS < value.bit_length() < _MAX_INT_BITS:
        return int.__repr__(value)
    return format(Decimal(value), "f")


def canonical_arguments(arguments: object) -> bytes | None:
    """The bytes under which two arguments compare.

    A text is parsed first; text that is no JSON compares as its exact text and never equals a JSON value.

    Args:
        arguments: A JSON-like value, or argument text (``str`` or UTF-8 ``bytes``).

    Returns:
        The canonical bytes, or None when the value is not JSON-like: then the arguments are unknown.
    """
    if isinstance(arguments, (bytes, bytearray)):
        try:
            arguments = bytes(arguments).decode()
        except UnicodeDecodeError:
            return b"b" + bytes(arguments)  # type: ignore[arg-type]
    if isinstance(arguments, str):
        try:
            return b"j" + canonical_json(parse_arguments(arguments)).encode()
        except NotJson:
            return b"t" + arguments.encode("utf-8", "surrogatepass")
    try:
        return b"j" + canonical_json(arguments).encode()
    except (NotJson, RecursionError):
        return None


def arguments_digest(arguments: object) -> bytes | None:
    """SHA-256 of the canonical arguments; None when they are unknown."""
    canonical = canonical_arguments(arguments)
    return None if canonical is None else sha256(canonical).digest()


def result_digest(result: str | bytes) -> bytes:
    """SHA-256 of the result's bytes (a text's UTF-8) as the model gets them, before any notice."""
    if isinstance(result, str):
        result = result.encode("utf-8", "surrogatepass")
    return sha256(result).digest()


def call_key(tool: str, arguments: bytes) -> bytes:
    """24 bytes that stand for (tool name, canonical arguments)."""
    mark = _mark_of(tool) if len(tool) <= _SHORT_NAME else _mark_of.__wrapped__(tool)
    return mark + arguments[:16]


_SHORT_NAME: Final = 200  # characters; only the marks of such names are kept


@lru_cache(maxsize=256)
def _mark_of(tool: str) -> bytes:
    """8 bytes that stand for a tool name."""
    return sha256(tool.encode("utf-8", "surrogatepass")).digest()[:8]


def result_key(call: bytes, result: bytes) -> bytes:
    """40 bytes that stand for the result identity: the call's key and the first of the result's digest.

    Put together, not hashed again: that would take longer than remembering the result does.
    """
    return call + result[:16]


_PATH_KEYS: Final = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "file_name",
    "absolute_path",
    "relative_path",
    "target_file",
    "notebook_path",
    "directory",
    "dir_path",
    "dir",
    "uri",
    "url",
    "command",
    "cmd",
)


def subject_of(arguments: object) -> str:
    """What a person would call the thing that was read: the path-like argument, else the arguments.

    Args:
        arguments: Parsed arguments or argument text.

    Returns:
        One line of at most 120 characters, without control characters; empty when nothing is known.

    Source: R6.
    """
    if type(arguments) is dict or isinstance(arguments, Mapping):
        for key in _PATH_KEYS:
            value = arguments.get(key)
            if isinstance(value, str) and value:
                return one_line(value)
        if not arguments:
            return ""
    if isinstance(arguments, str):
        return one_line(arguments)
    if arguments is None or not isinstance(arguments, (Mapping, Sequence)):
        return ""
    try:
        return one_line(canonical_json(arguments))
    except (NotJson, RecursionError):
        return ""


def one_line(text: str, limit: int = 120) -> str:
    """A text as one printable line of at most ``limit`` characters; a long one loses its middle."""
    if len(text) > 4 * limit:  # a long text is cut before it is cleaned
        text = text[: 2 * limit] + text[-2 * limit :]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    if len(text) > limit:
        half = (limit - 1) // 2
        text = text[:half] + "…" + text[-half:]
    return text
