"""Writing to the index from one of several processes, and starting over when its file is damaged."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from otel_docsfab.runs import retention
from otel_docsfab.runs.database import is_damage, open_for_writing
from otel_docsfab.runs.filelock import file_lock
from otel_docsfab.runs.rows import Prepared, add, prepare
from otel_docsfab.runs.salvage import readable_documents, set_aside

BATCH: Final = 500
"""Records of one transaction at most: others wait no longer than that."""
_LOCK_S: Final = 5.0


class IndexWriter:
    """Writes to one index; used by one thread at a time.

    Args:
        path: The index; made when the first record comes.

    Attributes:
        path: The index.
        set_aside: Damaged files that this writer set aside.
    """

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self.path = path
        self.set_aside: list[Path] = []
        self._lock_path = path.with_name(path.name + ".lock")
        self._database: sqlite3.Connection | None = None
        self._inode = 0

    def write(self, records: Sequence[Prepared], *, unless_known: bool = False) -> int:
        """Write records in one transaction; a damaged index is set aside first and what is readable recovered.

        Args:
            records: What is to be written.
            unless_known: Leave out what the index has already.

        Returns:
            How many were written.

        Raises:
            sqlite3.Error: Nothing was written; trying again may help.
            OSError: The same.
            NotAnIndex: The file belongs to something else; trying again does not help.
        """
        return self._do(lambda database: add(database, records, unless_known=unless_known))

    def prune(self, keep: retention.Keep, now_ms: int) -> int:
        """Remove runs that are too old or too many; as ``write`` when the file is damaged.

        Args:
            keep: What is kept.
            now_ms: Ms since the epoch.

        Returns:
            How many runs were removed.
        """
        return self._do(lambda database: retention.prune(database, keep, now_ms))

    def repair(self) -> None:
        """Read the whole file; start over when any of it is damaged."""
        self._do(_check_all)

    def _do(self, work: Callable[[sqlite3.Connection], int]) -> int:
        """Do it with the lock held; once more in a new index when the file turns out to be damaged."""
        for last in (False, True):
            try:
                with self._shared():
                    return work(self._opened())
            except sqlite3.DatabaseError as error:
                self.close()
                if last or not is_damage(error):
                    raise
                self._start_over()
        raise AssertionError  # pragma: no cover - the loop returns or raises

    def close(self) -> None:
        """Close the file; the next write opens it again."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def disown(self) -> sqlite3.Connection | None:
        """In a forked child: let go of the parent's connection without closing it, and hand it out to be kept."""
        database, self._database = self._database, None
        return database

    def _shared(self) -> AbstractContextManager[None]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return file_lock(self._lock_path, exclusive=False, timeout_s=_LOCK_S)

    def _opened(self) -> sqlite3.Connection:
        """The connection to the file that has the index's name now."""
        if self._database is not None and self._inode == _inode(self.path):
            return self._database
        self.close()
        self._inode = _inode(self.path)  # what is damaged, should opening fail
        self._database = open_for_writing(self.path)
        self._inode = _inode(self.path)
        return self._database

    def _start_over(self) -> None:
        """Set the damaged file aside, unless another process has done so, and recover what is readable."""
        with file_lock(self._lock_path, exclusive=True, timeout_s=_LOCK_S):
            if _inode(self.path) != self._inode:
                return
            aside = set_aside(self.path)
            self.set_aside.append(aside)
            database = open_for_writing(self.path)
            try:
                recovered = map(prepare, readable_documents(aside))
                while batch := list(itertools.islice(recovered, BATCH)):
                    add(database, batch)
            finally:
                database.close()


def _check_all(database: sqlite3.Connection) -> int:
    """Raise what SQLite raises of itself when it meets damage."""
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        error = sqlite3.DatabaseError(found)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
    return 0


def _inode(path: Path) -> int:
    """Which file has this name now; 0 for none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
