"""How long records stay: whole runs go, the oldest first."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

DAY_MS: Final = 86_400_000
_CHUNK: Final = 200
"""Runs of one transaction at most: others wait no longer than that."""
_PAGES: Final = 2_000
"""Pages given back at once, for the same reason."""
_TABLES: Final = ("documents", "attempts")


class Keep(NamedTuple):
    """What is kept.

    Attributes:
        days: Runs that were written within so many days, whenever they ran; None for all.
        size_bytes: Size of the file at most, bytes; None for any. Counted without what other processes still read.
    """

    days: float | None = 30
    size_bytes: int | None = 1 << 30


def prune(database: sqlite3.Connection, keep: Keep, now_ms: int) -> int:
    """Remove runs that are too old, then the oldest until the file is small enough, and give the space back.

    Args:
        database: Opened for writing.
        keep: What is kept.
        now_ms: Ms since the epoch.

    Returns:
        How many runs were removed.
    """
    removed = 0
    if keep.days is not None:
        cutoff = now_ms - int(keep.days * DAY_MS)
        while gone := _remove(database, "WHERE writtenUnixMs < ?", (cutoff,)):
            removed += gone
    while keep.size_bytes is not None and _used_bytes(database) > keep.size_bytes:
        gone = _remove(database, "", ())
        if not gone:
            break
        removed += gone
    while removed and _number(database, "freelist_count"):
        database.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
    # Lets SQLite choose among the indexes by what is in them; looks at a few rows only.
    database.execute("PRAGMA analysis_limit = 400").fetchall()
    database.execute("ANALYZE")
    return removed


def to_go(database: sqlite3.Connection, keep: Keep, now_ms: int) -> int:
    """How many runs ``prune`` would remove for their age."""
    if keep.days is None:
        return 0
    cutoff = now_ms - int(keep.days * DAY_MS)
    return int(database.execute("SELECT count(*) FROM runs WHERE writtenUnixMs < ?", (cutoff,)).fetchone()[0])


def _remove(database: sqlite3.Connection, where: str, values: tuple[int, ...]) -> int:
    """Remove the oldest few runs that match."""
    database.execute("BEGIN IMMEDIATE")
    try:
        oldest = f"SELECT runId FROM runs {where} ORDER BY writtenUnixMs LIMIT {_CHUNK}"  # noqa: S608 - our own words
        runs = database.execute(oldest, values).fetchall()
        for table in _TABLES:
            database.executemany(f"DELETE FROM {table} WHERE id IN (SELECT id FROM attempts WHERE runId = ?)", runs)  # noqa: S608 - our own tables
        database.executemany("DELETE FROM steps WHERE runId = ?", runs)
        database.executemany("DELETE FROM runs WHERE runId = ?", runs)
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    return len(runs)


def _used_bytes(database: sqlite3.Connection) -> int:
    pages = _number(database, "page_count") - _number(database, "freelist_count")
    return pages * _number(database, "page_size")


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])
