"""The demo's story: a folder of real files, tools that really read and edit them, and the agent's script.

Scene one writes: it re-reads, is told and withheld from, edits (which resets the counts), and has its context
compacted. Scene two only reads: it cycles through files until it is stopped, and its retry ignores the request to
answer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

FILES: Final = {
    "docs/index.md": "# Welcome\n\nThis guide explains how to install and run the service.\n" * 6,
    "docs/setup.md": "# Set-up\n\n1. Install the package.\n2. Write a configuration file.\n3. Start the service.\n" * 8,
    "docs/api.md": "# API\n\n`GET /items` lists items; `POST /items` makes one.\n" * 10,
}
_INDEX: Final = {"path": "docs/index.md"}


class Call(NamedTuple):
    """One tool call of the script."""

    tool: str
    arguments: dict[str, str]


class Turn(NamedTuple):
    """One model turn: calls, or an answer; or the host compacts the context before it."""

    calls: tuple[Call, ...] = ()
    answer: str | None = None
    compaction: bool = False
    remark: str = ""


class Scene(NamedTuple):
    """One step of the demo's run.

    Attributes:
        step: Step id.
        title: What the scene shows.
        attempts: The turns of the first attempt and, where there is one, of its retry.
    """

    step: str
    title: str
    attempts: tuple[tuple[Turn, ...], ...]


def _read(path: str) -> Turn:
    return Turn((Call("read", {"path": path}),))


def _cycle(count: int) -> tuple[Turn, ...]:
    paths = list(FILES)
    return tuple(_read(paths[n % len(paths)]) for n in range(count))


SCENES: Final = (
    Scene(
        "write-documentation",
        "re-reads, an edit, a compaction",
        (
            (
                Turn(
                    (Call("read", _INDEX), Call("grep", {"pattern": "install", "path": "docs"})), remark="two at once"
                ),
                *[_read("docs/index.md")] * 9,
                Turn((Call("edit", {**_INDEX, "old": "Welcome", "new": "Welcome!"}),), remark="resets every count"),
                _read("docs/index.md"),
                _read("docs/index.md"),
                Turn((Call("read", _INDEX),), compaction=True, remark="after a compaction"),
                Turn(answer="docs/index.md greets its readers now."),
            ),
        ),
    ),
    Scene(
        "audit-documentation",
        "a cycle through three files, stopped; the retry is asked to conclude and ignores it",
        (_cycle(30), _cycle(34)),
    ),
)


class Tools:
    """Real tools on a real folder."""

    def __init__(self, folder: Path) -> None:
        """Write the files."""
        self._folder = folder
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def by_name(self) -> dict[str, Callable[..., str]]:
        """The tools."""
        return {"read": self.read, "grep": self.grep, "edit": self.edit}

    def read(self, path: str) -> str:
        """The text of a file."""
        return (self._folder / path).read_text(encoding="utf-8")

    def grep(self, pattern: str, path: str) -> str:
        """The lines of the files below a folder that hold a text."""
        found = []
        for file in sorted((self._folder / path).rglob("*.md")):
            lines = file.read_text(encoding="utf-8").splitlines()
            found += [
                f"{file.relative_to(self._folder)}:{n}:{line}" for n, line in enumerate(lines, 1) if pattern in line
            ]
        return "\n".join(found)

    def edit(self, path: str, old: str, new: str) -> str:
        """Replace the first occurrence of a text in a file."""
        file = self._folder / path
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        return f"{path}: 1 replacement"
