"""Paths to byte streams: files, folders, standard input; plain, gzip or zstd."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

from otel_docsfab.errors import InputError
from otel_docsfab.replay.readers.problems import Problems

STDIN: Final = "-"
_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".pb", ".proto", ".binpb", ".bin", ".otlp"})
_PACKED: Final = frozenset({".gz", ".zst", ".zstd"})
_DETAILS: Final = ("msg_", "prt_")  # messages and parts of OpenCode's storage are read with their session
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BUFFER: Final = 128 << 10


class Source(NamedTuple):
    """Something to read.

    Attributes:
        path: File path, or ``-``.
        from_folder: Found in a folder rather than named: what holds no trace is passed over, not refused.
    """

    path: str
    from_folder: bool = False


def find_sources(paths: Iterable[str | os.PathLike[str]], problems: Problems) -> Iterator[Source]:
    """Files behind paths, in order; folders recursively and sorted, each file once.

    Args:
        paths: Files, folders, or ``-`` for standard input.
        problems: Takes what cannot be looked at inside folders.

    Yields:
        Every named file, and of a folder the files whose names may hold traces.

    Raises:
        InputError: A named path does not exist or cannot be opened.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        name = os.fspath(path)
        if name == STDIN:
            yield Source(STDIN)
            continue
        try:
            status = os.stat(name)  # noqa: PTH116 - the text form is what people typed and what problems name
        except (OSError, ValueError) as error:
            raise InputError(f"{name}: {_why(error)}") from error
        if stat.S_ISDIR(status.st_mode):
            yield from _folder(name, seen, problems)
        elif _new(status, seen):
            yield Source(name)


def _folder(root: str, seen: set[tuple[int, int]], problems: Problems) -> Iterator[Source]:
    """Walk a folder; a folder or file reached twice through links is taken once, so loops end."""
    pending = [root]
    while pending:
        folder = pending.pop()
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.path for entry in entries)
        except OSError as error:
            problems.skip(folder, _why(error))
            continue
        for name in names:
            try:
                status = os.stat(name)  # noqa: PTH116 - see above
            except OSError as error:
                problems.skip(name, _why(error))
                continue
            if stat.S_ISDIR(status.st_mode):
                if _new(status, seen):
                    folders.append(name)
            elif stat.S_ISREG(status.st_mode) and _may_hold_traces(name) and _new(status, seen):
                yield Source(name, from_folder=True)
        pending.extend(reversed(folders))


def _new(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    key = (status.st_dev, status.st_ino)
    if key in seen and not stat.S_ISFIFO(status.st_mode):
        return False
    seen.add(key)
    return True


def _may_hold_traces(name: str) -> bool:
    path = Path(name)
    if path.name.startswith(_DETAILS):
        return False
    suffix = path.suffix.lower()
    if suffix in _PACKED:
        suffix = Path(path.stem).suffix.lower()
    return suffix in _SUFFIXES


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class _Tolerant(io.RawIOBase):
    """A stream that ends where it breaks, and says so, instead of raising half-way."""

    def __init__(
        self,
        inner: BinaryIO,
        name: str,
        problems: Problems,
        head: bytes = b"",
        *,
        under: BinaryIO | None = None,
        on_bytes: Callable[[int], None] | None = None,
    ) -> None:
        self._on_bytes = on_bytes
        self._inner, self._name, self._problems, self._head, self._under = inner, name, problems, head, under
        # What came before the damage must not be lost with it: read1 hands out what it has.
        self._read: Callable[[int], bytes] = getattr(inner, "read1", inner.read)
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed wants the whole buffer union
        if self._ended:
            return 0
        size = len(buffer)
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
        else:
            try:
                data = self._read(size)
            except (OSError, EOFError, zlib.error, _zstd_error()) as error:
                self._problems.damaged(self._name, f"cut off or damaged, read up to there ({_why(error)})")
                data = b""
        self._ended = not data
        if self._on_bytes is not None:
            self._on_bytes(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            if self._under is not None:
                self._under.close()
        super().close()


def open_source(source: Source, problems: Problems, on_bytes: Callable[[int], None] | None = None) -> io.BufferedReader:
    """The plain bytes of a source; packing is told by content, not by name.

    Args:
        source: What to open.
        problems: Takes damage met while reading.
        on_bytes: Told how many bytes of the file itself were read.

    Returns:
        A buffered stream; the caller closes it. One that breaks half-way ends there and is named.

    Raises:
        InputError: It cannot be opened, or zstd data came without the extra that reads it.
    """
    try:
        raw: BinaryIO = _stdin() if source.path == STDIN else open(source.path, "rb", buffering=0)  # noqa: SIM115, PTH123 - the caller closes it
    except (OSError, ValueError) as error:
        raise InputError(f"{source.path}: {_why(error)}") from error
    plain = io.BufferedReader(_Tolerant(raw, source.path, problems, on_bytes=on_bytes), _BUFFER)
    head = _head(plain, len(_ZSTD))
    stream = _buffered(plain, source.path, problems, head)
    if head.startswith(_GZIP):
        unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=stream))
        return io.BufferedReader(_Tolerant(unpacked, source.path, problems, under=stream), _BUFFER)
    if head.startswith(_ZSTD):
        return _buffered(unpack_zstd(stream, source.path), source.path, problems)
    return stream


def unpack_zstd(stream: BinaryIO, name: str) -> BinaryIO:
    """The unpacked bytes of a zstd stream of one or more frames.

    Raises:
        InputError: The package ``zstandard`` is not installed.
    """
    try:
        import zstandard  # noqa: PLC0415 - an extra, needed for this data only
    except ImportError as error:
        raise InputError(
            f"{name}: zstd data needs the package zstandard: pip install 'otel-docsfab[replay]'"
        ) from error
    return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, read_size=_BUFFER)


def _zstd_error() -> type[Exception]:
    module = sys.modules.get("zstandard")
    return module.ZstdError if module else zlib.error


def _buffered(inner: BinaryIO, name: str, problems: Problems, head: bytes = b"") -> io.BufferedReader:
    return io.BufferedReader(_Tolerant(inner, name, problems, head), _BUFFER)


def _head(stream: BinaryIO, size: int) -> bytes:
    """Read exactly ``size`` bytes, or all there are: a pipe may hand out less at a time."""
    head = b""
    while len(head) < size and (more := stream.read(size - len(head))):
        head += more
    return head


def push_back(stream: io.BufferedReader, head: bytes, name: str, problems: Problems) -> io.BufferedReader:
    """The stream as it was before ``head`` was read from it."""
    return _buffered(stream, name, problems, head) if head else stream


def _stdin() -> BinaryIO:
    return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
