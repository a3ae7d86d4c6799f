"""The run index as a sink: records are handed over at once and written by one background thread."""

from __future__ import annotations

import atexit
import itertools
import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_docsfab.core import AttemptRecord
from otel_docsfab.runs.paths import index_path
from otel_docsfab.runs.retention import Keep
from otel_docsfab.runs.rows import Prepared, prepare
from otel_docsfab.runs.writer import BATCH, IndexWriter
from otel_docsfab.supervisor import BaseSink, Faults, Site

if TYPE_CHECKING:
    from otel_docsfab.supervisor import Supervisor

_FIRST_DELAY_S: Final = 0.1
_MAX_DELAY_S: Final = 30.0
_EXIT_S: Final = 2.0
_PRUNE_EVERY_S: Final = 3_600.0


class RunIndex(BaseSink):
    """Keeps the record of every attempt that ends, for ``otel-docsfab runs`` and ``why``.

    Ids, codes and counts only (R27). Nothing here waits for a disk or raises in the host: what cannot be written is
    tried again, what no longer fits is dropped, and both are counted as faults. Several processes may have the same
    index.

    Args:
        path: The file; by default in ``DOCSFAB_STATE_DIR`` or the XDG state directory.
        keep: How long records stay, and how large the file may grow.
        max_pending: Records that may wait to be written.

    Attributes:
        path: The file.
        dropped: Records that were lost.
        faults: Where faults are counted; the supervisor's once it is bound.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, keep: Keep | None = None, max_pending: int = 10_000
    ) -> None:
        """Touch no file and start no thread."""
        self.path = index_path() if path is None else Path(path)
        self.dropped = 0
        self.faults = Faults()
        self._keep = keep or Keep()
        self._max_pending = max_pending
        self._begin()
        _INDEXES.add(self)

    def _begin(self) -> None:
        self._writer = IndexWriter(self.path)
        self._changed = threading.Condition()
        self._pending: deque[AttemptRecord] = deque()
        self._thread: threading.Thread | None = None
        self._taken = self._settled = 0
        self._hurry = self._ending = False
        self._pruned_s: float | None = None

    def bind(self, supervisor: Supervisor) -> None:
        """Count faults where the supervisor does."""
        self.faults = supervisor.faults

    def closed(self, record: AttemptRecord) -> None:
        """Take the record; it is written soon."""
        with self._changed:
            if self._ending or len(self._pending) >= self._max_pending:
                self.dropped += 1
                full = True
            else:
                full = False
                self._pending.append(record)
                self._taken += 1
                self._start()
                self._changed.notify_all()
        if full:
            self.faults.count(Site.RECORDS, hint=f"Too many records wait for {self.path.name}; newer ones are lost.")

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything taken so far is in the file, which then survives the death of the process.

        Args:
            timeout_s: Longest wait, seconds.

        Returns:
            False when it took longer, or something could not be written.
        """
        with self._changed:
            target, dropped = self._taken, self.dropped
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._settled >= target, timeout_s)
            return self._settled >= target and self.dropped == dropped

    def shutdown(self) -> None:
        """Write what is pending if that takes no longer than seconds, and end the thread."""
        self._end(_EXIT_S)

    def _end(self, timeout_s: float) -> None:
        self.flush(timeout_s)
        with self._changed:
            self._ending = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _start(self) -> None:
        """Start the thread with the first record."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="otel-docsfab-runs", daemon=True)
            thread.start()
            self._thread = thread
            atexit.register(_at_exit, weakref.ref(self))

    # In the thread

    def _run(self) -> None:
        delay_s = 0.0
        while self._await(delay_s):
            with self._changed:
                batch = list(itertools.islice(self._pending, BATCH))
            prepared = [ready for record in batch if (ready := self._prepared(record)) is not None]
            try:
                self._writer.write(prepared)
            except Exception as error:  # noqa: BLE001 - whatever a disk does, the host lives on
                self.faults.count(Site.RECORDS, error, f"{self.path.name} cannot be written; it is tried again.")
                delay_s = min(max(_FIRST_DELAY_S, delay_s * 2), _MAX_DELAY_S)
                continue
            finally:
                self._tell_damage()
            delay_s = 0.0
            with self._changed:
                for _ in batch:
                    self._pending.popleft()
                self._settled += len(batch)
                self._changed.notify_all()
            self._prune()
        self._writer.close()

    def _await(self, delay_s: float) -> bool:
        """Wait for work, or for another try unless somebody is in a hurry; False at the end."""
        with self._changed:
            if delay_s:
                if self._ending:
                    self.dropped += len(self._pending)
                    return False
                self._changed.wait_for(lambda: self._ending or self._hurry, delay_s)
                self._hurry = False
            self._changed.wait_for(lambda: self._pending or self._ending)
            return bool(self._pending)

    def _prepared(self, record: AttemptRecord) -> Prepared | None:
        try:
            return prepare(record.as_dict())
        except Exception as error:  # noqa: BLE001 - one odd record must not hold up the others
            self.dropped += 1
            self.faults.count(Site.RECORDS, error, "A record could not be written and is lost.")
            return None

    def _tell_damage(self) -> None:
        while self._writer.set_aside:
            aside = self._writer.set_aside.pop()
            self.faults.count(Site.RECORDS, hint=f"The run index was damaged; it is {aside.name} now, a new one began.")

    def _prune(self) -> None:
        """Remove what is too old, when the thread begins and then each hour."""
        now_s = time.monotonic()
        if self._pruned_s is not None and now_s - self._pruned_s < _PRUNE_EVERY_S:
            return
        self._pruned_s = now_s
        try:
            self._writer.prune(self._keep, time.time_ns() // 1_000_000)
        except Exception as error:  # noqa: BLE001 - as in _run
            self.faults.count(Site.RECORDS, error, "Old records could not be removed.")

    def forked(self) -> None:
        """In a forked child: what waits is the parent's to write, and so is its connection."""
        inherited = self._writer.disown()
        if inherited is not None:
            _INHERITED.append(inherited)
        self._begin()


_INDEXES: weakref.WeakSet[RunIndex] = weakref.WeakSet()
_INHERITED: list[sqlite3.Connection] = []
"""Connections of a parent process: closing them here could touch files that the parent still writes."""


def _after_fork() -> None:
    for index in list(_INDEXES):
        index.forked()


def _at_exit(reference: weakref.ref[RunIndex]) -> None:
    """Write what is pending when the program ends without saying so."""
    index = reference()
    if index is not None:
        index.shutdown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
