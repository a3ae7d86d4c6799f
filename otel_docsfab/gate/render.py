"""What the model gets: the result, the result with a notice, or the notice alone.

The content itself is never changed. Where the return type has room for a second message part, the notice is one; where
it has none, it follows as a last paragraph of its own.

================================================  ===============================  ===========================
the tool returns                                  with a notice                    notice only
================================================  ===============================  ===========================
``str``                                           text, blank line, notice         the notice
UTF-8 ``bytes``                                   the same, encoded                the notice, encoded
other ``bytes``                                   unchanged, no notice             the notice, encoded
a list of message parts (``{"type": ...}``, or    the list and a text part         a list with a text part
models of text parts)
another list, a tuple                             the items and the notice         a list (tuple) with the notice
a dict with a list of message parts in "content"  the same with one part more      the same, only that part
another dict                                      one member more: ``"notice"``    ``{"notice": ...}``
a model with a list of parts in ``content``       a copy with one part more        a copy with only that part
anything else                                     unchanged, no notice             the notice
================================================  ===============================  ===========================

Source: R4, R5, R6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOTICE_MEMBER = "notice"


def with_notice(result: Any, notice: str) -> Any:  # noqa: PLR0911 - one return a row of the table
    """The result, followed by the notice.

    Args:
        result: What the tool returned; it is not changed.
        notice: The notice.

    Returns:
        What to give to the model.
    """
    if isinstance(result, str):
        return f"{result}\n\n{notice}" if result else notice
    if isinstance(result, bytes):
        try:
            result.decode()
        except UnicodeDecodeError:
            return result
        return result + b"\n\n" + notice.encode()
    if isinstance(result, list):
        return [*result, _item(result, notice)]
    if isinstance(result, tuple) and type(result) is tuple:
        return (*result, notice)
    if isinstance(result, dict):
        part = _part(result.get("content"), notice)
        if part is not None:
            return {**result, "content": [*result["content"], part]}
        return {**result, NOTICE_MEMBER: notice} if NOTICE_MEMBER not in result else result
    model = _model_with(result, notice, keep=True)
    return result if model is None else model


def notice_only(result: Any, notice: str) -> Any:
    """The notice in place of the result, in a shape that the caller expects.

    Args:
        result: What the tool returned.
        notice: The notice, or a denial.

    Returns:
        What to give to the model.
    """
    if isinstance(result, bytes):
        return notice.encode()
    if isinstance(result, list):
        return [_item(result, notice)]
    if isinstance(result, tuple) and type(result) is tuple:
        return (notice,)
    if isinstance(result, dict):
        part = _part(result.get("content"), notice)
        if part is not None:
            return {**result, "content": [part]}
        return {NOTICE_MEMBER: notice}
    model = _model_with(result, notice, keep=False)
    return notice if model is None else model


def _item(items: list[Any], notice: str) -> Any:
    part = _part(items, notice)
    return notice if part is None else part


def _part(parts: Any, notice: str) -> Any:
    """A text part like the message parts beside it; None when these are none."""
    if not isinstance(parts, list) or not parts:
        return None
    if all(isinstance(part, Mapping) and "type" in part for part in parts):
        return {"type": "text", "text": notice}
    text_part = next((type(part) for part in parts if getattr(part, "type", None) == "text"), None)
    if text_part is None or not hasattr(text_part, "model_copy"):
        return None
    try:
        return text_part(type="text", text=notice)
    except Exception:  # noqa: BLE001 - a foreign model
        return None


def _model_with(result: Any, notice: str, *, keep: bool) -> Any:
    """A copy of a pydantic model whose ``content`` is a list of text parts; None for everything else."""
    if not hasattr(type(result), "model_copy"):
        return None
    parts = getattr(result, "content", None)
    part = _part(parts, notice)
    if part is None or not isinstance(parts, list):
        return None
    try:
        return result.model_copy(update={"content": [*parts, part] if keep else [part]})
    except Exception:  # noqa: BLE001 - a foreign model; it is then delivered as it is
        return None
