"""Careful access to fields of records that anybody may have written."""

from __future__ import annotations

from datetime import datetime
from typing import Any

_SECONDS_BELOW = 100_000_000_000  # a number below this is seconds, not ms: the year 5138


def mapping(value: Any) -> dict[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """The value when it is a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def unix_ms(value: Any) -> int:  # noqa: PLR0911 - one case a line
    """Ms since the epoch of an ISO time, of seconds or of ms; 0 when it is none of them."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        if not 0 < value < 1e15:  # noqa: PLR2004 - NaN, infinity and nonsense
            return 0
        return int(value * 1000) if value < _SECONDS_BELOW else int(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return 0
        if moment.tzinfo is None:
            return 0  # local time of an unknown place
        return max(0, int(moment.timestamp() * 1000))
    return 0


def spoken(content: Any) -> str:
    """The text of a message's content: a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(part for block in sequence(content) if (part := text(mapping(block).get("text"))))
