"""Questions to the index: ``field=value`` terms in, one SQL statement with bound values out."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, NamedTuple

from otel_docsfab.errors import InputError
from otel_docsfab.runs.fields import FIELDS, Field, RowKind
from otel_docsfab.runs.schema import BY_NAME

NONE: Final = "none"
"""Stands for a field that a row does not have: ``code=none``."""
_TERM: Final = re.compile(r"([A-Za-z]+)(!=|>=|<=|=|>|<|~)(.*)", re.DOTALL)
_SPAN: Final = re.compile(r"(\d{1,6})([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_FLAGS: Final = {"true": 1, "false": 0}
_ORDERED: Final = frozenset({">", "<", ">=", "<="})

_NEWEST_FIRST: Final = {
    RowKind.ATTEMPT: ("attempts", "endedUnixMs", "id DESC"),
    RowKind.STEP: ("steps", "endedUnixMs", "runId DESC, stepId DESC"),
    RowKind.RUN: ("runs", "endedUnixMs", "runId DESC"),
}
"""Table, time and what breaks ties, by kind of row."""


class Query(NamedTuple):
    """A statement and its values."""

    sql: str
    values: tuple[str | int, ...]


def build(
    kind: RowKind,
    where: Iterable[str] = (),
    *,
    group_by: str | None = None,
    since_unix_ms: int | None = None,
    limit: int = 50,
) -> Query:
    """Make the statement of a question.

    Args:
        kind: What one row stands for.
        where: Terms that must all hold: field, one of ``= != > < >= <= ~`` (contains), value.
        group_by: Count rows by this field instead of listing them.
        since_unix_ms: Only what ended since then, ms since the epoch.
        limit: Rows at most.

    Raises:
        InputError: A term or a field is wrong; says what would be right.
    """
    table, time, ties = _NEWEST_FIRST[kind]
    terms: list[str] = []
    values: list[str | int] = []
    for text in where:
        term, term_values = _term(kind, text)
        terms.append(term)
        values += term_values
    if since_unix_ms is not None:
        terms.append(f"{time} >= ?")
        values.append(since_unix_ms)
    condition = f" WHERE {' AND '.join(terms)}" if terms else ""
    if group_by is not None:
        field = find_field(kind, group_by).name
        sql = f"SELECT {field}, count(*) AS rows FROM {table}{condition} GROUP BY {field} ORDER BY rows DESC, {field}"  # noqa: S608 - names of the fields table, values bound
    else:
        columns = ", ".join(FIELDS[kind])
        # Where an index finds the rows newest first, let it. Elsewhere the plus keeps SQLite from walking the whole
        # index of times to leave few rows.
        ordered = not terms or any(f"{name} = ?" in terms for name in BY_NAME[table])
        order = time if ordered else f"+{time}"
        sql = f"SELECT {columns} FROM {table}{condition} ORDER BY {order} DESC, {ties}"  # noqa: S608 - as above
    return Query(f"{sql} LIMIT ?", (*values, limit))


def find_field(kind: RowKind, name: str) -> Field:
    """The field of this name.

    Raises:
        InputError: There is none; says which are near.
    """
    fields = FIELDS[kind]
    if name in fields:
        return fields[name]
    near = get_close_matches(name, fields, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"fields are {', '.join(fields)}"
    raise InputError(f"{kind} rows have no field {name[:80]!r}; {hint}")


def _term(kind: RowKind, text: str) -> tuple[str, list[str | int]]:
    """One condition with its values."""
    match = _TERM.fullmatch(text)
    if match is None:
        raise InputError(f"{text[:80]!r} is no term; write field=value, or one of != > < >= <= ~ between them")
    name, operator, given = match[1], match[2], match[3]
    field = find_field(kind, name)
    if given == NONE and operator in ("=", "!="):
        return f"{field.name} IS {'NOT ' if operator == '!=' else ''}NULL", []
    if operator == "~":
        if field.is_count:
            raise InputError(f"{field.name} is a number; compare it with = != > < >= or <=")
        return f"instr(lower({field.name}), lower(?)) > 0", [given]
    if not field.is_count:
        if operator in _ORDERED:
            raise InputError(f"{field.name} is text; compare it with = != or ~")
        return (f"{field.name} = ?" if operator == "=" else f"{field.name} IS NOT ?"), [given]
    number = _FLAGS[given] if given in _FLAGS else _number(field, given)
    return f"{field.name} {operator} ?", [number]


def _number(field: Field, given: str) -> int:
    try:
        return max(-(2**63), min(int(given), 2**63 - 1))
    except ValueError:
        raise InputError(f"{field.name} is a whole number, not {given[:80]!r}") from None


def since(text: str, now_unix_ms: int) -> int:
    """A moment from words.

    Args:
        text: A span back from now (``90m``, ``12h``, ``7d``, ``2w``) or a date (``2026-11-30``, with a time if wanted;
            UTC unless it says otherwise).
        now_unix_ms: Now, ms since the epoch.

    Returns:
        Ms since the epoch.

    Raises:
        InputError: It is neither.
    """
    span = _SPAN.fullmatch(text)
    if span is not None:
        return now_unix_ms - int(span[1]) * _SECONDS[span[2]] * 1_000
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text[:80]!r} is no time; write 90m, 12h, 7d, 2w, or a date such as 2026-11-30") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return int(moment.timestamp() * 1_000)
