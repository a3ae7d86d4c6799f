"""On which line of a TOML text a key stands: the standard library's parser does not tell."""

from __future__ import annotations

import tomllib
from typing import Any

_LONGEST_LINE = 1_000


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Line of every key and table header that stands on a line of its own.

    Good enough for an error message: every line is read by itself, so what looks like a key inside a text of several
    lines is taken for one.

    Args:
        text: A valid TOML text.

    Returns:
        Path of the key to its line, from 1. The first line of a key wins.
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        header = line.startswith("[")
        if len(line) > _LONGEST_LINE or not (header or "=" in line):
            continue
        # A value may begin here and end lines below: any other value does, since only the key is wanted.
        path = _path(line if header else line.partition("=")[0] + "=0")
        above = () if header else table
        for length in range(1, len(path) + 1):
            lines.setdefault((*above, *path[:length]), number)
        if header and path:
            table = path
    return lines


def _path(line: str) -> tuple[str, ...]:
    """The one path that a line names; empty when it names none."""
    try:
        node: Any = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    path: list[str] = []
    while isinstance(node, dict) and node:
        (key,) = node
        path.append(key)
        node = node[key]
    return tuple(path)
