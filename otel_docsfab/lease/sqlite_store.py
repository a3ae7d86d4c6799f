"""Leases between the processes of one machine, in a SQLite file."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

_BUSY_S: Final = 2.0
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_TABLES: Final = """
    CREATE TABLE IF NOT EXISTS leases (
        name TEXT PRIMARY KEY, owner TEXT NOT NULL, token INTEGER NOT NULL, untilMs INTEGER NOT NULL, boot TEXT NOT NULL
    ) WITHOUT ROWID
"""
_TOKENS: Final = "CREATE TABLE IF NOT EXISTS tokens (only INTEGER PRIMARY KEY CHECK (only = 1), last INTEGER NOT NULL)"
_COUNT_ON: Final = """
    INSERT INTO tokens VALUES (1, ?1) ON CONFLICT (only) DO UPDATE SET last = max(last + 1, ?1) RETURNING last
"""


class SqliteLeaseStore:
    """Leases in a file on a local disk.

    Time is the machine's monotonic clock, which all its processes share and nobody sets; leases of before a reboot
    have run out.

    Args:
        path: The file; made, and its directory, when the first lease is taken.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Touch no file."""
        self._path = Path(path)
        self._boot = _boot_id()

    def acquire(self, name: str, owner: str, ttl_ms: int) -> int | None:
        """See ``LeaseStore``."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._transaction() as database:
            now_ms = _now_ms()
            query = "SELECT 1 FROM leases WHERE name = ? AND owner <> ? AND untilMs > ? AND boot = ?"
            if database.execute(query, (name, owner, now_ms, self._boot)).fetchone():
                return None
            # The wall clock only makes tokens grow when the file was deleted in between.
            (token,) = database.execute(_COUNT_ON, (time.time_ns() // 1_000,)).fetchone()
            row = (name, owner, token, now_ms + ttl_ms, self._boot)
            database.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", row)
            return int(token)

    def renew(self, name: str, owner: str, token: int, ttl_ms: int) -> bool:
        """See ``LeaseStore``."""
        with self._transaction() as database:
            now_ms = _now_ms()
            query = (
                "UPDATE leases SET untilMs = ? WHERE name = ? AND owner = ? AND token = ? AND untilMs > ? AND boot = ?"
            )
            return database.execute(query, (now_ms + ttl_ms, name, owner, token, now_ms, self._boot)).rowcount > 0

    def release(self, name: str, owner: str, token: int) -> None:
        """See ``LeaseStore``."""
        with self._transaction() as database:
            database.execute("DELETE FROM leases WHERE name = ? AND owner = ? AND token = ?", (name, owner, token))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else writes beside; one for each call, so that threads and forks share none."""
        with closing(sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute(_TABLES)
            database.execute(_TOKENS)
            yield database
            database.execute("COMMIT")


def _now_ms() -> int:
    """Ms of the clock that all processes of the machine share."""
    return time.monotonic_ns() // 1_000_000


def _boot_id() -> str:
    """Which run of the machine this is; empty where it does not say."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""
