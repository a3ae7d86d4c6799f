"""JSON text to values: orjson where it is installed, the standard library otherwise, the same values from both."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any, Final

_fast: Callable[[bytes], Any] | None
try:
    import orjson
except ImportError:  # the extra `replay` is optional
    _fast = None
else:
    _fast = orjson.loads

_SHAPES: Final = bytes.maketrans(b"123456789:[, \t\r\n", b"000000000:::::::")
_LONG: Final = b":" + b"0" * 20
"""The shape of a whole number that may leave 64 bits, so that orjson would round it."""
_LONG_NEGATIVE: Final = b"-" + b"0" * 19


class BrokenJson(ValueError):  # noqa: N818 - a finding, not a fault
    """Bytes are no JSON text."""


def loads(raw: bytes) -> Any:
    """The value of one JSON text.

    Args:
        raw: UTF-8 text. Bytes that are not UTF-8 stay apart as lone surrogates; NaN, lone surrogates and whole numbers
            of any size are taken as the standard library takes them.

    Returns:
        The value; of duplicate keys the last.

    Raises:
        BrokenJson: The bytes are no JSON, or nested too deeply to be read.
    """
    if _fast is not None:
        shape = raw.translate(_SHAPES)
        if _LONG not in shape and _LONG_NEGATIVE not in shape and not shape.startswith(_LONG[1:]):
            with contextlib.suppress(ValueError):  # what only the standard library takes comes next
                return _fast(raw)
    try:
        return json.loads(raw.decode("utf-8", "surrogateescape"))
    except RecursionError as error:
        raise BrokenJson("nested too deeply") from error
    except ValueError as error:
        raise BrokenJson("no JSON") from error
