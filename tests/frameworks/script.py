"""What every agent does: the same file four times, another once, a write, a read that fails, an answer."""

import tempfile
from pathlib import Path

ANSWER = "done: alpha and beta"
TURNS: list[list[tuple[str, dict[str, str]]]] = [
    [("read_file", {"path": "a.txt"})],
    [("read_file", {"path": "a.txt"})],
    [("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})],  # in parallel
    [("read_file", {"path": "a.txt"})],
    [("write_file", {"path": "out.txt", "content": "summary"})],
    [("read_file", {"path": "missing.txt"})],  # fails
]
"""A model's turns: each is a list of calls, (tool, arguments)."""

_root = Path(tempfile.mkdtemp(prefix="agent-"))
(_root / "a.txt").write_text("alpha line 1\nalpha line 2\n")
(_root / "b.txt").write_text("beta\n")


def calls_of(turn: int) -> list[tuple[str, str, dict[str, str]]]:
    """The calls of a model's turn, from 0: (call id, tool, arguments); none when it is to answer."""
    calls = TURNS[turn] if turn < len(TURNS) else []
    return [(f"call_{turn}_{index}", tool, arguments) for index, (tool, arguments) in enumerate(calls)]


def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: Its path.
    """
    return (_root / path).read_text()


def write_file(path: str, content: str) -> str:
    """Write a file.

    Args:
        path: Its path.
        content: What to write.
    """
    (_root / path).write_text(content)
    return f"wrote {len(content)} bytes to {path}"
