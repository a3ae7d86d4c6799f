"""What could not be read: counted, named by file and line, never silent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

MAX_NAMED: Final = 1_000
"""Problems kept by name; the rest is only counted."""


class Problem(NamedTuple):
    """One place that could not be read.

    Attributes:
        source: File name, ``-`` for standard input.
        line: Line, from 1; for binary streams the message number; 0 for the file as a whole.
        reason: Why, in words that quote no content.
        is_damage: Whether the file ended before its time.
    """

    source: str
    line: int
    reason: str
    is_damage: bool = False

    def __str__(self) -> str:
        """``file:line: reason``."""
        return f"{self.source}:{self.line}: {self.reason}" if self.line else f"{self.source}: {self.reason}"


@dataclass(slots=True)
class Problems:
    """Collects problems in bounded memory.

    Attributes:
        broken: Lines, spans or messages that were left out.
        skipped: Files of a folder that hold no trace.
        named: The first ``MAX_NAMED`` of them.
        muted: Whether another process speaks for what is read now: it is not counted here.
    """

    broken: int = 0
    skipped: int = 0
    named: list[Problem] = field(default_factory=list)
    muted: bool = False

    def broke(self, source: str, line: int, reason: str) -> None:
        """A line or message cannot be read; the rest of the file is."""
        if not self.muted:
            self._count(source, line, reason)

    def damaged(self, source: str, reason: str) -> None:
        """A file ends before its time; every process that reads it says so, and ``merge`` takes it once."""
        self._count(source, 0, reason, is_damage=True)

    def _count(self, source: str, line: int, reason: str, *, is_damage: bool = False) -> None:
        self.broken += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(Problem(source, line, reason, is_damage))

    def skip(self, source: str, reason: str) -> None:
        """A file of a folder is passed over."""
        self.skipped += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(Problem(source, 0, reason))

    def mark(self) -> tuple[int, int, int]:
        """The present state, for ``rewind``."""
        return self.broken, self.skipped, len(self.named)

    def rewind(self, mark: tuple[int, int, int]) -> None:
        """Forget what came since ``mark``."""
        self.broken, self.skipped, named = mark
        del self.named[named:]

    def merge(self, other: Problems) -> None:
        """Add what another process found in the same files."""
        known = {problem for problem in self.named if not problem.line}
        fresh = [problem for problem in other.named if problem not in known]
        self.broken += other.broken - sum(1 for problem in other.named if problem in known and problem.is_damage)
        self.skipped = max(self.skipped, other.skipped)
        self.named.extend(fresh[: MAX_NAMED - len(self.named)])
