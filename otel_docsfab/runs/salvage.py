"""A damaged index: set aside, and what can still be read of it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

SET_ASIDE: Final = ".damaged-"
_KEPT: Final = 3
_CHUNK: Final = 256
_MAX_FAILURES: Final = 10_000
_SIDE_FILES: Final = ("-wal", "-shm")


def set_aside(path: Path) -> Path:
    """Rename a damaged index, so that a new one can begin; only the newest three of them are kept.

    Call it while nobody writes.

    Args:
        path: The index.

    Returns:
        Its new name, in the same directory.
    """
    target = path.with_name(f"{path.name}{SET_ASIDE}{time.time_ns() // 1_000_000}")
    for side in _SIDE_FILES:  # first, so that they never lie beside a new index, which would take them for its own
        beside = Path(f"{path}{side}")
        if beside.exists():
            beside.rename(f"{target}{side}")
    path.rename(target)
    aside = sorted(name for name in path.parent.glob(f"{path.name}{SET_ASIDE}*") if name.suffix[-1:].isdigit())
    for old in aside[:-_KEPT]:
        for name in (old, *(Path(f"{old}{side}") for side in _SIDE_FILES)):
            name.unlink(missing_ok=True)
    return target


def readable_documents(path: Path) -> Iterator[dict[str, Any]]:
    """The records of an index that can still be read, in the order in which they were written.

    Where a page is broken, smaller and smaller ranges are tried, so that one page costs only the records on it.

    Args:
        path: An index, damaged or not.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        last = _last_id(database)
        failures = 0
        ranges = [(first, first + _CHUNK - 1) for first in range(1, last + 1, _CHUNK)][::-1]
        while ranges and failures < _MAX_FAILURES:
            first, end = ranges.pop()
            try:
                rows = _rows(database, first, end)
            except sqlite3.DatabaseError:
                failures += 1
                if first < end:
                    middle = (first + end) // 2
                    ranges += [(middle + 1, end), (first, middle)]
                continue
            for (text,) in rows:
                try:
                    document = json.loads(text)
                except (ValueError, TypeError):
                    continue
                if isinstance(document, dict):
                    yield document


def _rows(database: sqlite3.Connection, first: int, end: int) -> list[tuple[str]]:
    query = "SELECT document FROM documents WHERE id BETWEEN ? AND ? ORDER BY id"
    return database.execute(query, (first, end)).fetchall()


def _last_id(database: sqlite3.Connection) -> int:
    """The highest id; 0 when not even that can be read."""
    for table in ("documents", "attempts"):
        try:
            (last,) = database.execute(f"SELECT max(id) FROM {table}").fetchone()  # noqa: S608 - our own tables
        except sqlite3.DatabaseError:
            continue
        return int(last or 0)
    return 0
