"""A replay in several processes: each reads everything and judges its own share of the traces."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Callable, Iterator
from multiprocessing.queues import Queue
from typing import Any, Final

from otel_docsfab.errors import ConfigError, DocsfabError, InputError, NotATrace
from otel_docsfab.replay.readers.share import Share
from otel_docsfab.replay.readers.sources import STDIN
from otel_docsfab.replay.report import Notes
from otel_docsfab.replay.run import Replay, Request

_BATCH: Final = 64
_WAITING: Final = 64
_PATIENCE_S: Final = 0.5
_ERRORS: Final[dict[str, type[DocsfabError]]] = {kind.__name__: kind for kind in (ConfigError, InputError, NotATrace)}


def replay(
    request: Request, notes: Notes, *, jobs: int = 1, on_bytes: Callable[[int], None] | None = None
) -> Iterator[dict[str, Any]]:
    """Entries of the report, as attempts come to their end.

    Args:
        request: What is to be replayed.
        notes: Takes what is noticed beside the attempts, complete when the iterator ends.
        jobs: Processes, >= 1; standard input is read by one.
        on_bytes: Told how many bytes of files were read.

    Raises:
        ConfigError: A setting is wrong.
        InputError: A named path cannot be opened; ``NotATrace`` when it holds no trace.
    """
    if jobs > 1 and STDIN not in request.paths:
        yield from _in_processes(request, notes, jobs, on_bytes)
        return
    whole = Replay(request, on_bytes=on_bytes)
    yield from whole.entries()
    notes.merge(whole.notes)


def _in_processes(
    request: Request, notes: Notes, jobs: int, on_bytes: Callable[[int], None] | None
) -> Iterator[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")  # a fork would take this process's threads and locks with it
    told: Queue[tuple[str, Any]] = context.Queue(_WAITING)
    workers = [
        context.Process(target=_work, args=(request, Share(index, jobs), told), daemon=True) for index in range(jobs)
    ]
    for worker in workers:
        worker.start()
    running = jobs
    seen: set[int] = set()
    try:
        while running:
            try:
                kind, content = told.get(timeout=_PATIENCE_S)
            except queue.Empty:
                if all(worker.exitcode is not None for worker in workers) and told.empty():
                    raise DocsfabError("replay: a process ended before its work was done") from None
                continue
            if kind == "entries":
                yield from (entry for entry in content if _is_new(entry, seen))
            elif kind == "bytes":
                if on_bytes is not None:
                    on_bytes(content)
            elif kind == "done":
                notes.merge(content)
                running -= 1
            else:
                raise _ERRORS.get(kind, DocsfabError)(content)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
        told.close()


def _is_new(entry: dict[str, Any], seen: set[int]) -> bool:
    """Whether an attempt was not told by another process: copies of a session lie in other files."""
    key = entry.pop("attemptKey", None)
    if key is None:
        return True
    known = key in seen
    seen.add(key)
    return not known


def _work(request: Request, share: Share, told: Queue[tuple[str, Any]]) -> None:
    """What one process does; everything it has to say goes into the queue."""
    try:
        replay_share = Replay(request, share, _every_so_often(told) if share.first else None)
        batch: list[dict[str, Any]] = []
        for entry in replay_share.entries():
            batch.append(entry)
            if len(batch) >= _BATCH:
                told.put(("entries", batch))
                batch = []
        told.put(("entries", batch))
        told.put(("done", replay_share.notes))
    except DocsfabError as error:
        told.put((next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS), ""), str(error)))


def _every_so_often(told: Queue[tuple[str, Any]]) -> Callable[[int], None]:
    """Pass byte counts on in large steps."""
    pending = 0

    def on_bytes(count: int) -> None:
        nonlocal pending
        pending += count
        if pending >= 1 << 22:
            told.put(("bytes", pending))
            pending = 0

    return on_bytes
