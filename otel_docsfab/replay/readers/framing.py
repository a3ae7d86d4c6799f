"""Bytes to JSON records: one a line, with a bound on a line's length."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from otel_docsfab.replay.readers.json_values import BrokenJson, loads
from otel_docsfab.replay.readers.problems import Problems

MAX_RECORD_BYTES: Final = 64 << 20
"""Longest line, JSON element or binary message that is read, bytes."""

_SKIP: Final = 1 << 20


class Record(NamedTuple):
    """One JSON value of a file.

    Attributes:
        line: Where it begins, from 1.
        key: Empty for a value that stands alone; else the member of a larger document that it belongs to: the member's
            value itself, or one element of it when that is a long list.
        value: The value.
    """

    line: int
    key: str
    value: Any


def lines(stream: io.BufferedReader, limit: int, problems: Problems, name: str) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, without blank ones; a line over the limit is named and passed over in flat memory."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            while (rest := stream.readline(_SKIP)) and not rest.endswith(b"\n"):
                pass
            problems.broke(name, number, f"longer than {limit} bytes")
        elif not line.isspace():
            yield number, line


def line_records(
    stream: io.BufferedReader,
    limit: int,
    problems: Problems,
    name: str,
    wanted: Callable[[bytes], bool] = lambda _: True,
) -> Iterator[Record]:
    """One record a line; lines that are no JSON are named and passed over.

    Args:
        stream: The bytes.
        limit: Longest line that is read, bytes.
        problems: Takes lines that cannot be read.
        name: File name for problems.
        wanted: Whether a line has to be parsed at all.
    """
    for number, line in lines(stream, limit, problems, name):
        if not wanted(line):
            continue
        try:
            value = loads(line)
        except BrokenJson as error:
            problems.broke(name, number, str(error))
        else:
            yield Record(number, "", value)


def unfold(records: Iterator[Record], lists: frozenset[str]) -> Iterator[Record]:
    """Break whole documents up the way the document reader does: a record for each member, one for each element of long
    lists. Records that are parts already pass.
    """  # noqa: D205 - one thought
    for record in records:
        if record.key or not isinstance(record.value, dict):
            yield record
            continue
        for key, value in record.value.items():
            if key in lists and isinstance(value, list):
                for element in value:
                    yield Record(record.line, key, element)
            else:
                yield Record(record.line, key, value)
