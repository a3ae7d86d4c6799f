"""A share of the traces, for one of several processes: each reads everything and judges its own.

Whose a trace is, its id tells. Lines of JSON that hold no trace of this share are passed over without being parsed,
which is what makes the work divide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TRACE_ID: Final = re.compile(rb'"trace(?:Id|_id)"\s*:\s*"(?:0x)?([0-9a-fA-F]{32})"')
_ANY_TRACE_ID: Final = re.compile(rb'"trace(?:Id|_id)"')


@dataclass(frozen=True, slots=True)
class Share:
    """One of ``count`` shares.

    Attributes:
        index: Which, from 0.
        count: Of how many.
    """

    index: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether it is the one that speaks for all where somebody has to."""
        return self.index == 0

    def owns(self, trace_id: str) -> bool:
        """Whether a trace (32 hex digits) belongs to it."""
        return self.count == 1 or int(trace_id[-8:], 16) % self.count == self.index

    def owns_file(self, number: int) -> bool:
        """Whether the session file of this number belongs to it."""
        return number % self.count == self.index

    def looks_at(self, line: bytes) -> tuple[bool, bool]:
        """Whether a line of JSON has to be parsed, and whether this share speaks for it.

        Exactly one of the shares that parse a line names what is broken in it.

        Args:
            line: The line.

        Returns:
            (has to be parsed, speaks for it).
        """
        if self.count == 1:
            return True, True
        ids = _TRACE_ID.findall(line)
        if not ids or len(ids) != len(_ANY_TRACE_ID.findall(line)):  # ids of another spelling: everybody looks
            return True, self.first
        owners = [int(trace_id[-8:], 16) % self.count for trace_id in dict.fromkeys(ids)]
        return self.index in owners, self.index == owners[0]


WHOLE: Final = Share()
"""Everything, for a single process."""
