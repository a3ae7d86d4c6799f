"""Large or pretty-printed JSON documents, read value by value in flat memory.

A document is a stream of objects and arrays, on one line or many. Long lists inside an object are handed out element by
element; all else comes whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.json_values import BrokenJson, loads
from otel_docsfab.replay.readers.problems import Problems

LONG_LISTS: Final = frozenset(
    {"resourceSpans", "resource_spans", "messages", "trajectory", "history", "items", "attempts"}
)
"""Members of an object that may be too long to be read whole."""

_TOKEN: Final = re.compile(rb'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|["{}\[\]]', re.DOTALL)
_SPACE: Final = re.compile(rb"[\s,\x1e]*")
_SCALAR: Final = re.compile(rb"[^\s,\]}\[{\":]+")
_CHUNK: Final = 256 << 10


class _Broken(ValueError):  # noqa: N818 - a finding, not a fault
    """The text is no JSON from here on."""


class _Scanner:
    """A window over the stream that moves forward only."""

    def __init__(self, stream: io.BufferedReader, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self._text = b""
        self._at = 0  # start of the value being looked at
        self._line, self._counted = 1, 0
        self._ended = False

    @property
    def line(self) -> int:
        """Line of the current position, from 1."""
        self._line += self._text.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _more(self) -> bool:
        """Read on; drops what lies before the current value."""
        if self._ended:
            return False
        self.line  # noqa: B018 - counts the lines about to be dropped
        rest = self._text[self._at :]
        if len(rest) > self._limit:
            raise _Broken(f"a value longer than {self._limit} bytes")
        chunk = self._stream.read(max(_CHUNK, len(rest)))  # doubling keeps long values linear
        self._ended = not chunk
        self._text, self._at, self._counted = rest + chunk, 0, 0
        return not self._ended

    def peek(self) -> bytes:
        """The next byte that is no space or comma; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at : self._at + 1]
            if not self._more():
                return b""

    def skip(self, byte: bytes) -> None:
        """Step over one byte that must come next."""
        if self.peek() != byte:
            raise _Broken("no JSON")
        self._at += 1

    def take(self) -> bytes:
        """The text of the next value, whole."""
        first = self.peek()
        if first not in (b"{", b"[", b'"'):
            return self._take_scalar()
        depth, offset = 0, 0
        while True:
            token = _TOKEN.search(self._text, self._at + offset)
            if token is None or token.group() == b'"':
                offset = (token.start() if token else len(self._text)) - self._at
                if token and b"\n" in self._text[token.start() :]:
                    raise _Broken("no JSON: a text without end")
                if not self._more():
                    raise _Broken("cut off")
                continue
            mark = token.group()
            depth += 1 if mark in (b"{", b"[") else -1 if mark in (b"}", b"]") else 0
            offset = token.end() - self._at
            if depth <= 0:
                start, self._at = self._at, token.end()
                return self._text[start : self._at]

    def _take_scalar(self) -> bytes:
        while (scalar := _SCALAR.match(self._text, self._at)) and scalar.end() == len(self._text):
            if not self._more():
                scalar = _SCALAR.match(self._text, self._at)
                break
        if scalar is None:
            raise _Broken("no JSON")
        self._at = scalar.end()
        return scalar.group()

    def resync(self) -> bool:
        """Go to the next line that begins an object; False when there is none."""
        # A break right at the start of a line may be that line's own object: a half line came before it.
        at_line_start = self._at > 0 and self._text[self._at - 1 : self._at + 1] == b"\n{"
        if at_line_start:
            return True
        while True:
            found = self._text.find(b"\n{", self._at)
            if found >= 0:
                self._at = found + 1
                return True
            self._at = max(self._at, len(self._text) - 1)
            try:
                if not self._more():
                    return False
            except _Broken:  # cannot be: what is kept is one byte
                return False


def document_records(stream: io.BufferedReader, limit: int, problems: Problems, name: str) -> Iterator[Record]:
    """Records of one or more JSON documents.

    Args:
        stream: UTF-8 text.
        limit: Longest value that is read, bytes.
        problems: Takes what is no JSON; reading goes on at the next line that begins an object.
        name: File name for problems.

    Yields:
        An object without long lists, and each element of an outer array, whole; of an object with long lists every
        member and every element.
    """
    scanner = _Scanner(stream, limit)
    while True:
        try:
            first = scanner.peek()
            if not first:
                return
            if first == b"{":
                yield from _object(scanner, problems, name)
            else:
                scanner.skip(b"[")
                yield from _elements(scanner, "", problems, name)
        except _Broken as error:
            problems.broke(name, scanner.line, str(error))
            if not scanner.resync():
                return


def _object(scanner: _Scanner, problems: Problems, name: str) -> Iterator[Record]:
    line = scanner.line
    scanner.skip(b"{")
    members: dict[str, Any] | None = {}
    while (first := scanner.peek()) != b"}":
        if first != b'"':
            raise _Broken("no JSON" if first else "cut off")
        key = _value(scanner.take())
        scanner.skip(b":")
        at = scanner.line
        if key in LONG_LISTS and scanner.peek() == b"[":
            for known, value in (members or {}).items():
                yield Record(line, known, value)
            members = None
            scanner.skip(b"[")
            yield from _elements(scanner, key, problems, name)
        elif members is None:
            yield Record(at, key, _value(scanner.take()))
        else:
            members[key] = _value(scanner.take())
    scanner.skip(b"}")
    if members is not None:
        yield Record(line, "", members)


def _elements(scanner: _Scanner, key: str, problems: Problems, name: str) -> Iterator[Record]:
    while (first := scanner.peek()) != b"]":
        if not first:
            raise _Broken("cut off")
        line = scanner.line
        raw = scanner.take()
        try:
            value = loads(raw)
        except BrokenJson as error:
            problems.broke(name, line, str(error))
        else:
            yield Record(line, key, value)
    scanner.skip(b"]")


def _value(raw: bytes) -> Any:
    try:
        return loads(raw)
    except BrokenJson as error:
        raise _Broken(str(error)) from error
