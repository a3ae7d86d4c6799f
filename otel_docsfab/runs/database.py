"""Opening the index: SQLite in WAL mode, brought to the newest version of its tables."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from otel_docsfab.errors import InputError
from otel_docsfab.runs.schema import APPLICATION_ID, MIGRATIONS

BUSY_S: Final = 5.0
"""How long a statement waits for other processes, seconds."""
_WAL_BYTES: Final = 16 << 20
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY: Final = 0xFF


class NotAnIndex(InputError):  # noqa: N818 - a finding
    """The file is no run index, or one of a newer version."""


def is_damage(error: BaseException) -> bool:
    """Whether an error means that the file is damaged, and not merely locked, full or read-only."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.DatabaseError) and code is not None and code & _PRIMARY in _DAMAGE


def open_for_writing(path: Path, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> sqlite3.Connection:
    """Open the index, or make it; readable by nobody else.

    Args:
        path: The file; its directory is made when it is missing.
        migrations: For tests.

    Raises:
        NotAnIndex: The file belongs to something else.
        sqlite3.Error: It cannot be opened: see ``is_damage``.
        OSError: The directory cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        _check(database, path, len(migrations))
        if _number(database, "user_version") < len(migrations):
            database.execute("PRAGMA auto_vacuum = INCREMENTAL")  # must come before the first table
            database.execute("PRAGMA journal_mode = WAL")
            _migrate(database, migrations)
        # Safe when a process is killed, which is what happens; a power cut may cost the newest records, not the file.
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    except BaseException:
        database.close()
        raise
    return database


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open an index that is there.

    Raises:
        NotAnIndex: There is none, or the file is something else.
        sqlite3.Error: It cannot be opened.
    """
    if not path.is_file():
        raise NotAnIndex(
            f"there is no run index at {path}; add RunIndex() to a supervisor's sinks, run `otel-docsfab runs import`,"
            " or name its directory with DOCSFAB_STATE_DIR"
        )
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        _check(database, path, len(MIGRATIONS))
        if _number(database, "user_version") < len(MIGRATIONS):
            _bring_up(path)
    except BaseException:
        database.close()
        raise
    return database


def _bring_up(path: Path) -> None:
    """Bring an older index to the newest version, so that there is one way to read."""
    with closing(open_for_writing(path)):
        pass


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])


def _check(database: sqlite3.Connection, path: Path, newest: int) -> None:
    """Refuse what is not ours."""
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and _number(database, "application_id") != APPLICATION_ID:
        raise NotAnIndex(f"{path} is a database of something else; name another directory with DOCSFAB_STATE_DIR")
    version = _number(database, "user_version")
    if version > newest:
        raise NotAnIndex(f"{path} was written by a newer otel-docsfab (version {version}, this one knows {newest})")


def _migrate(database: sqlite3.Connection, migrations: tuple[tuple[str, ...], ...]) -> None:
    """Go from the version found to the newest, all or nothing; another process may have been faster."""
    database.execute("BEGIN IMMEDIATE")
    try:
        for statements in migrations[_number(database, "user_version") :]:
            for statement in statements:
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {len(migrations)}")
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
