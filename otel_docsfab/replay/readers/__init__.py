"""Recorded bytes in, typed streams out, in flat memory.

``read_recordings`` finds files, tells by their content what they are, and hands out spans (``RecordedSpan``) or, for
session files, events (``ScriptEvent``). What cannot be read is named in ``Problems`` and the rest is still read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from otel_docsfab.errors import InputError, NotATrace
from otel_docsfab.replay.readers.framing import MAX_RECORD_BYTES
from otel_docsfab.replay.readers.problems import Problem, Problems
from otel_docsfab.replay.readers.recording import EXPECTED, Format, Recording, read_recording
from otel_docsfab.replay.readers.sources import Source, find_sources
from otel_docsfab.replay.script import AttemptClosed, AttemptOpened, ScriptEvent

__all__ = [
    "EXPECTED",
    "MAX_RECORD_BYTES",
    "Format",
    "Problem",
    "Problems",
    "Recording",
    "Source",
    "find_sources",
    "new_attempts",
    "read_recording",
    "read_recordings",
]


def read_recordings(
    paths: Iterable[str | os.PathLike[str]], problems: Problems, *, limit: int = MAX_RECORD_BYTES
) -> Iterator[Recording]:
    """Recordings behind paths, one open at a time.

    Args:
        paths: Files, folders (recursive, sorted), or ``-`` for standard input.
        problems: Takes what cannot be read.
        limit: Longest line, element or message that is read, bytes.

    Yields:
        Each recording; consume it before the next.

    Raises:
        InputError: A named path cannot be opened.
        NotATrace: A named file holds no trace, or nothing in all the folders does.
    """
    found, looked_at = False, 0
    named = list(paths)
    for source in find_sources(named, problems):
        looked_at += 1
        try:
            recording = read_recording(source, problems, limit=limit)
        except InputError as error:
            if not source.from_folder:
                raise
            problems.skip(source.path, str(error).removeprefix(f"{source.path}: ").split(";")[0])
            continue
        found = True
        yield recording
    if not found:
        where = ", ".join(os.fspath(path) for path in named) or "no path given"
        raise NotATrace(f"{where}: no trace among {looked_at} files; {EXPECTED}")


def new_attempts(events: Iterable[ScriptEvent], seen: set[int]) -> Iterator[ScriptEvent]:
    """Leave out attempts that came before: resumed and forked sessions repeat them in new files.

    Args:
        events: Events of one file.
        seen: Attempts so far, by hash; kept by the caller over all files.
    """
    known: set[str] = set()
    for event in events:
        attempt = event.attempt
        if isinstance(event, AttemptOpened):
            if hash(attempt) in seen:
                known.add(attempt)
            seen.add(hash(attempt))
        if attempt in known:
            if isinstance(event, AttemptClosed):
                known.discard(attempt)
            continue
        yield event
