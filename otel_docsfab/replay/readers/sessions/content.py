"""What a recorded value is worth: content, or something that stands in its place."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Final, NamedTuple

from otel_docsfab.core import Unjudged
from otel_docsfab.core.identity import MAX_DEPTH, NotJson, parse_arguments

_REDACTED: Final = re.compile(
    r"\[\s*REDACTED\b[^\]\n]{0,80}\]|<\s*/?REDACTED\b[^>\n]{0,80}>|__REDACTED__|\*{2,}\s*REDACTED\s*\*{2,}|\{\{\s*REDACTED\b[^}\n]{0,80}\}\}",
    re.IGNORECASE,
)
_MASK: Final = re.compile(r"\s*(?:\*{3,}|X{3,}|REDACTED|<hidden>|\[hidden\])\s*", re.IGNORECASE)
_OFFLOADED: Final = re.compile(r"\s*<persisted-output>")
_PLACEHOLDERS: Final = frozenset(
    {"[Old tool result content cleared]", "[cleared]", "<not specified>", "[Content removed]", "[omitted]", "<omitted>"}
)
_DISPLAY: Final = re.compile(
    r"\s*(?:Read|Listed|Found|Searched|Wrote|Updated)\s+(?:image|\d+\s+(?:lines?|files?|paths?|results?|matches|match|items?))"
    r"[^\n]{0,40}?(?:\s*\((?:ctrl|cmd)\+\w to [^)\n]{1,30}\))?\s*"
)
"""What a terminal shows instead of a result."""
_DISPLAY_MAX: Final = 200


class Content(NamedTuple):
    """A value and why it cannot be judged, if so.

    Attributes:
        value: The content; None when it is unknown.
        reason: Why it is unknown.
    """

    value: Any
    reason: Unjudged | None = None


def result_content(value: Any) -> Content:  # noqa: PLR0911 - one case a line
    """A tool result.

    Args:
        value: Text, a list of content blocks, or None.

    Returns:
        Text, or the texts of several blocks as a list, with the reason when something stands in the place of content.
        Results that are not text throughout (images, documents, references) are not judged.
    """
    if value is None:
        return Content(None, Unjudged.RESULT_NOT_CAPTURED)
    if isinstance(value, str):
        return Content(value, _text_reason(value))
    if not isinstance(value, list):
        return Content(None, Unjudged.RESULT_NOT_TEXT)
    texts: list[str] = []
    for block in value:
        text = block.get("text") if isinstance(block, dict) else block
        if not isinstance(text, str):
            return Content(None, Unjudged.RESULT_NOT_TEXT)
        reason = _text_reason(text)
        if reason:
            return Content(text, reason)
        texts.append(text)
    if len(texts) == 1:
        return Content(texts[0])
    return Content(texts or "")


def _text_reason(text: str) -> Unjudged | None:
    if _REDACTED.search(text) or _MASK.fullmatch(text):
        return Unjudged.RESULT_REDACTED
    if _OFFLOADED.match(text):
        return Unjudged.RESULT_OFFLOADED
    if text.strip() in _PLACEHOLDERS or (len(text) <= _DISPLAY_MAX and _DISPLAY.fullmatch(text)):
        return Unjudged.RESULT_PLACEHOLDER
    return None


def arguments_content(value: Any) -> Content:
    """A call's arguments.

    Args:
        value: Parsed arguments, their JSON text, or None.

    Returns:
        Parsed arguments, or the text itself when it is no JSON (it then equals only itself), with the reason when they
        are missing or hold a redaction.
    """
    if value is None:
        return Content(None, Unjudged.ARGUMENTS_NOT_CAPTURED)
    if isinstance(value, str):
        with contextlib.suppress(NotJson):
            value = parse_arguments(value)
    return Content(value, Unjudged.ARGUMENTS_REDACTED if _holds_redaction(value, 0) else None)


def _holds_redaction(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return _REDACTED.search(value) is not None or _MASK.fullmatch(value) is not None
    if depth > MAX_DEPTH:
        return False  # no JSON by the core's measure: the judge refuses it for that
    if isinstance(value, dict):
        return any(_holds_redaction(item, depth + 1) for item in value.values())
    return isinstance(value, list) and any(_holds_redaction(item, depth + 1) for item in value)
