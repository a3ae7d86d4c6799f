"""A writer for commands: its troubles are said in one sentence, where the sink counts them in silence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from otel_docsfab.errors import InputError
from otel_docsfab.runs.paths import index_path
from otel_docsfab.runs.writer import IndexWriter


@contextmanager
def command_writer(path: Path | None = None) -> Iterator[IndexWriter]:
    """A writer while the block runs.

    Args:
        path: The index; by default where ``RunIndex`` writes.

    Raises:
        InputError: The index cannot be written.
    """
    writer = IndexWriter(path or index_path())
    try:
        yield writer
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the run index {writer.path} cannot be written: {reason}") from error
    finally:
        writer.close()
