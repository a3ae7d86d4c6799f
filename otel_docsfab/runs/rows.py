"""Putting records into the tables: the record, its row, and the sums of its step and run."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from otel_docsfab.runs.fields import ATTEMPT_FIELDS, COUNTED, TOTALS, Field, Sum, clean, row_of

_NAMES: Final = tuple(field.name for field in ATTEMPT_FIELDS)
_DIGEST_BYTES: Final = 16


class Prepared(NamedTuple):
    """A record ready to be written.

    Attributes:
        document: The record as JSON.
        digest: Digest of that text; tells whether a record is known already.
        row: Its row, in the order of ``ATTEMPT_FIELDS``.
    """

    document: str
    digest: bytes
    row: tuple[str | int | None, ...]


def prepare(document: Mapping[str, Any]) -> Prepared:
    """Make a record ready to be written.

    Args:
        document: The record with camelCase keys.
    """
    facts = {key: clean(value) if isinstance(value, str) else value for key, value in document.items()}
    text = json.dumps(facts, separators=(",", ":"), sort_keys=True)
    return Prepared(text, hashlib.sha256(text.encode()).digest()[:_DIGEST_BYTES], row_of(facts))


def _sum_of(field: Field) -> str:
    name = field.name
    match field.sum:
        case Sum.ADD:  # null as long as no attempt has the field: absent evidence is no evidence of zero (R24)
            return f"{name} = coalesce({name} + excluded.{name}, excluded.{name}, {name})"
        case Sum.MAX:
            return f"{name} = max(coalesce({name}, excluded.{name}), coalesce(excluded.{name}, {name}))"
        case Sum.MIN:
            return f"{name} = min(coalesce({name}, excluded.{name}), coalesce(excluded.{name}, {name}))"
        case _:
            newer = "excluded.endedUnixMs >= endedUnixMs"
            return f"{name} = CASE WHEN {newer} THEN coalesce(excluded.{name}, {name}) ELSE coalesce({name}, excluded.{name}) END"  # noqa: E501 - one rule


_TOTALS: Final = ", ".join(field.name for field in TOTALS)
_ADDED: Final = ", ".join([f"{name} = {name} + excluded.{name}" for name in COUNTED] + [_sum_of(f) for f in TOTALS])
_COUNTS: Final = ", ".join("1" if has is None else f"{has} IS NOT NULL" for has in COUNTED.values())
_LATER: Final = "(excluded.attempt, excluded.endedUnixMs) >= (attempt, endedUnixMs)"

_ADD_DOCUMENT: Final = "INSERT INTO documents (digest, document) VALUES (?, ?)"
_ADD_ATTEMPT: Final = f"INSERT INTO attempts (id, {', '.join(_NAMES)}) VALUES (?{', ?' * len(_NAMES)})"  # noqa: S608 - names of our own table
# A step ends as its last attempt did.
_ADD_TO_STEP: Final = f"""
    INSERT INTO steps (runId, stepId, stepKind, attempt, outcome, code, category, {", ".join(COUNTED)}, {_TOTALS})
    SELECT runId, coalesce(stepId, ''), stepKind, attempt, outcome, code, category, {_COUNTS}, {_TOTALS}
    FROM attempts WHERE id = ?
    ON CONFLICT (runId, stepId) DO UPDATE SET
        stepKind = coalesce(stepKind, excluded.stepKind),
        outcome = CASE WHEN {_LATER} THEN excluded.outcome ELSE outcome END,
        code = CASE WHEN {_LATER} THEN excluded.code ELSE code END,
        category = CASE WHEN {_LATER} THEN excluded.category ELSE category END,
        attempt = max(attempt, excluded.attempt), {_ADDED}
"""  # noqa: S608 - names of our own tables
_ADD_TO_RUN: Final = f"""
    INSERT INTO runs (runId, steps, {", ".join(COUNTED)}, {_TOTALS})
    SELECT runId, 1, {_COUNTS}, {_TOTALS} FROM attempts WHERE id = ?
    ON CONFLICT (runId) DO UPDATE SET {_ADDED}
"""  # noqa: S608 - as above
# A run ends as the newest of its steps without an answer did; it is answered when every step was.
_END_RUN: Final = """
    UPDATE runs SET (outcome, code, category) = (
        SELECT outcome, code, category FROM steps WHERE steps.runId = runs.runId
        ORDER BY outcome = 'answered', endedUnixMs DESC LIMIT 1
    ), steps = (SELECT count(*) FROM steps WHERE steps.runId = runs.runId), writtenUnixMs = ?
    WHERE runId = ?
"""
_KNOWN: Final = "SELECT 1 FROM documents WHERE digest = ?"


def add(database: sqlite3.Connection, records: Iterable[Prepared], *, unless_known: bool = False) -> int:
    """Write records in one transaction.

    Args:
        database: Opened for writing.
        records: What is to be written.
        unless_known: Leave out what the index has already.

    Returns:
        How many were written.

    Raises:
        sqlite3.Error: Nothing was written.
    """
    written, now_ms = 0, time.time_ns() // 1_000_000
    database.execute("BEGIN IMMEDIATE")
    try:
        for record in records:
            if unless_known and database.execute(_KNOWN, (record.digest,)).fetchone():
                continue
            key = database.execute(_ADD_DOCUMENT, (record.digest, record.document)).lastrowid
            database.execute(_ADD_ATTEMPT, (key, *record.row))
            database.execute(_ADD_TO_STEP, (key,))
            database.execute(_ADD_TO_RUN, (key,))
            database.execute(_END_RUN, (now_ms, record.row[0]))
            written += 1
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    return written
