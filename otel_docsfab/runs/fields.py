"""The fields of the run index: one table that rows, queries and sums over a run are made from.

A column has the name of its field. Rows of runs and steps sum up the rows of their attempts.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

MAX_TEXT: Final = 256
"""Longest name or id that is kept, characters."""
_MAX_COUNT: Final = 2**63 - 1


class RowKind(StrEnum):
    """What one row of the index stands for."""

    RUN = "run"
    STEP = "step"
    ATTEMPT = "attempt"


class Sum(StrEnum):
    """How a run or step gets a field from its attempts."""

    ADD = "add"
    MAX = "max"
    MIN = "min"
    NEWEST = "newest"  # of the attempt that ended last
    ASKED = "asked"  # of the newest attempt that has one
    PLACE = "place"  # the same in all attempts of the row
    NONE = "none"  # attempts only


class Field(NamedTuple):
    """One field of an attempt's row.

    Attributes:
        name: Its name in queries and in the table.
        path: Where it stands in the record; a mapping of counts is added up.
        is_count: A number, else text.
        sum: How runs and steps get it.
    """

    name: str
    path: tuple[str, ...]
    is_count: bool = False
    sum: Sum = Sum.NONE


def _text(name: str, *path: str, sum: Sum = Sum.NONE) -> Field:  # noqa: A002 - the name of the attribute
    return Field(name, path or (name,), is_count=False, sum=sum)


def _count(name: str, *path: str, sum: Sum = Sum.NONE) -> Field:  # noqa: A002 - as above
    return Field(name, path or (name,), is_count=True, sum=sum)


_EVIDENCE: Final = ("tools", "readEvidence")
_STALL: Final = ("tools", "stall")

ATTEMPT_FIELDS: Final = (
    _text("runId", sum=Sum.PLACE),
    _text("stepId", sum=Sum.PLACE),
    _text("stepKind", sum=Sum.PLACE),
    _count("attempt", sum=Sum.MAX),
    _text("retryOf"),
    _text("agentName", sum=Sum.NEWEST),
    _text("model", sum=Sum.NEWEST),
    _text("traceId"),
    _text("spanId"),
    _count("enforced", sum=Sum.MAX),
    _count("startedUnixMs", sum=Sum.MIN),
    _count("endedUnixMs", sum=Sum.MAX),
    _count("durationMs"),
    _count("turns", sum=Sum.ADD),
    _text("outcome"),
    _text("code"),
    _text("category"),
    _text("stopCode", "stop", "code"),
    _text("concludeNow", "concludeNow", "trigger", sum=Sum.ASKED),
    _count("concludeNowTurn", "concludeNow", "turn"),
    _text("deadlineTurn"),
    _count("calls", "tools", "calls", sum=Sum.ADD),
    _count("denied", "tools", "denied", sum=Sum.ADD),
    _count("callsAfterStop", "tools", "callsAfterStop", sum=Sum.ADD),
    _count("unjudged", "tools", "unjudged", sum=Sum.ADD),
    _count("progress", "tools", "progress", sum=Sum.ADD),
    _count("unchangedReReads", *_EVIDENCE, "unchangedReReads", sum=Sum.ADD),
    _count("readLoopWithheld", *_EVIDENCE, "readLoopWithheld", sum=Sum.ADD),
    _count("maxRepeatsOfOneResult", *_EVIDENCE, "maxRepeatsOfOneResult", sum=Sum.MAX),
    _count("maxUnchangedReReadsAcrossResults", *_EVIDENCE, "maxUnchangedReReadsAcrossResults", sum=Sum.MAX),
    _count("longestStretchCalls", *_STALL, "longestStretchCalls", sum=Sum.MAX),
    _count("longestStretchTurns", *_STALL, "longestStretchTurns", sum=Sum.MAX),
    _count("maxRepeatedFailedReads", *_STALL, "maxRepeatedFailedReads", sum=Sum.MAX),
    _count("maxRepeatedProgressCalls", *_STALL, "maxRepeatedProgressCalls", sum=Sum.MAX),
)
"""Every field of an attempt's row. Those of ``readEvidence`` are null in attempts that re-read nothing (R24)."""

_SUMMED: Final = (Sum.ADD, Sum.MAX, Sum.MIN, Sum.NEWEST, Sum.ASKED)
TOTALS: Final = tuple(field for field in ATTEMPT_FIELDS if field.sum in _SUMMED and field.name != "attempt")
"""What rows of runs and steps have from their attempts, beside place, outcome and the counts of ``COUNTED``."""

COUNTED: Final = {"attempts": None, "retries": "retryOf", "stops": "stopCode", "asks": "concludeNow"}
"""Counts of attempts in rows of runs and steps: all, or those that have the field."""

_ENDING: Final = (_text("outcome"), _text("code"), _text("category"))
_SUMMED_FIELDS: Final = (*_ENDING, *(_count(name) for name in COUNTED), *TOTALS)

FIELDS: Final[dict[RowKind, dict[str, Field]]] = {
    kind: {field.name: field for field in fields}
    for kind, fields in {
        RowKind.ATTEMPT: ATTEMPT_FIELDS,
        RowKind.STEP: (_text("runId"), _text("stepId"), _text("stepKind"), _count("attempt"), *_SUMMED_FIELDS),
        RowKind.RUN: (_text("runId"), _count("steps"), *_SUMMED_FIELDS),
    }.items()
}
"""The fields of each kind of row, by name."""


def row_of(document: Mapping[str, Any]) -> tuple[str | int | None, ...]:
    """The row of a record, in the order of ``ATTEMPT_FIELDS``.

    Args:
        document: The record with camelCase keys.

    Returns:
        Texts that UTF-8 can write, counts that SQLite can hold.
    """
    return tuple(_value(document, field) for field in ATTEMPT_FIELDS)


def clean(text: str) -> str:
    """A name or id as the index keeps it: bounded, and without what UTF-8 cannot write."""
    return text[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")


def _value(document: Mapping[str, Any], field: Field) -> str | int | None:
    if field.name == "endedUnixMs":
        return _bounded(document.get("startedUnixMs", 0) + document.get("durationMs", 0))
    value: Any = document
    for key in field.path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None:
        return "" if field.name == "runId" else None
    if not field.is_count:
        return clean(str(value))
    return _bounded(sum(value.values()) if isinstance(value, Mapping) else int(value))


def _bounded(count: int) -> int:
    return max(-_MAX_COUNT, min(count, _MAX_COUNT))
