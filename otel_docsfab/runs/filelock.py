"""A lock between processes beside the index: shared while writing, exclusive while the file itself is replaced.

SQLite's own locks hold within one file. They do not keep a process from writing into a damaged file that another one
has just set aside; this lock does. A process that dies leaves it free.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

_POLL_S: Final = 0.02


class LockBusy(OSError):  # noqa: N818 - a state, not a fault
    """Somebody else kept the lock for too long."""


@contextmanager
def file_lock(path: Path, *, exclusive: bool, timeout_s: float) -> Iterator[None]:
    """Hold the lock while the block runs.

    Args:
        path: The lock file; made when it is missing, never removed.
        exclusive: Alone, or together with other shared holders.
        timeout_s: Longest wait, seconds.

    Raises:
        LockBusy: The wait was in vain.
        OSError: The file cannot be made.
    """
    if sys.platform == "win32":  # pragma: no cover - SQLite's own locks have to do, and a file in use keeps its name
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH, timeout_s)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, kind: int, timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise LockBusy("the run index is being repaired by another process") from None
            time.sleep(_POLL_S)
        else:
            return
