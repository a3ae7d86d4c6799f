"""What was read in an attempt, and how often: the counts and allowances of R1 to R13.

Digests and numbers only, one row a result. Rows live in parallel arrays, so that a result costs well under 300 bytes;
the row number is also the order of first delivery. Every operation takes constant time: a reset or a compaction moves a
generation number on instead of walking the rows.
"""

from __future__ import annotations

from array import array
from typing import Final, NamedTuple

from otel_docsfab.core.codes import Verdict
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.record import ReadEvidence

_NOBODY: Final = -1
_SEVERAL: Final = -2


class ReRead(NamedTuple):
    """How one returned read was judged.

    Attributes:
        verdict: Deliver, deliver with notice, or notice only.
        new: The content was never returned before (R1).
        first_turn: Turn that first delivered it; None unless this is a counted re-read.
        repeats: The result's repeat count; None unless counted.
        cross_result: The attempt's cross-result count; None unless counted.
    """

    verdict: Verdict
    new: bool
    first_turn: int | None = None
    repeats: int | None = None
    cross_result: int | None = None


_NEW = ReRead(Verdict.DELIVER, new=True)
_FREE = ReRead(Verdict.DELIVER, new=False)


class Ledger:
    """Counts of one attempt.

    Attributes:
        cross_result: Counted re-reads of all results since the last reset (R3).
        withheld_by_result: Notice-only reads charged to the per-result allowance since the last reset (R7).
        withheld_by_cross: The same for the cross-result allowance.
        unchanged_re_reads: Counted re-reads in the attempt (R24, survives resets).
        withheld: Notice-only reads in the attempt, R19's denials included.
        max_repeats: Largest repeat count seen.
        max_cross_result: Largest cross-result count seen.
        most_read: Tool and subject of the result with the most counted re-reads; ties: the earliest (R15).
    """

    __slots__ = (
        "_by_call",
        "_by_call_id",
        "_context_lost",
        "_copies",
        "_delivered_older",
        "_delivered_rows",
        "_delivered_stays",
        "_epoch",
        "_epochs",
        "_first_turns",
        "_generation",
        "_generations",
        "_leader",
        "_limits",
        "_linked",
        "_max_results",
        "_older",
        "_only",
        "_repeats",
        "_rows",
        "_stays",
        "_totals",
        "cross_result",
        "max_cross_result",
        "max_repeats",
        "most_read",
        "unchanged_re_reads",
        "withheld",
        "withheld_by_cross",
        "withheld_by_result",
    )

    def __init__(self, limits: Limits, max_results: int) -> None:
        """Start empty.

        Args:
            limits: The allowances.
            max_results: Results remembered at most; a read past them cannot be judged.
        """
        self._limits = limits
        self._max_results = max_results
        self._rows: dict[bytes, int] = {}
        self._by_call: dict[int, int] = {}  # hash of the call key -> the newest linked row
        self._by_call_id: dict[int, int] = {}  # hash of the call id -> its newest delivery of this epoch
        self._delivered_rows = array("I")  # full deliveries of this epoch by calls with an id: the row,
        self._delivered_stays = array("I")  # the row's stay in the context that it belongs to,
        self._delivered_older = array("i")  # and the delivery before under the same id
        self._repeats = array("I")
        self._generations = array("I")  # generation in which `_repeats` counts
        self._epochs = array("I")  # epoch of the newest full delivery
        self._copies = array("I")  # full deliveries of that epoch still in the context
        self._first_turns = array("I")
        self._totals = array("I")  # counted re-reads in the attempt
        self._stays = array("I")  # how often the row entered the context anew
        self._linked = array("I")  # epoch, from 1, in which the row is linked under its call
        self._older = array("i")  # the linked row before under the same call
        self._generation = 0
        self._epoch = 0
        self._only = _NOBODY  # the one row re-read since the reset
        self._context_lost = False
        self._leader = _NOBODY
        self.most_read: tuple[str, str] | None = None
        self.cross_result = 0
        self.withheld_by_result = 0
        self.withheld_by_cross = 0
        self.unchanged_re_reads = 0
        self.withheld = 0
        self.max_repeats = 0
        self.max_cross_result = 0

    @property
    def withheld_since_reset(self) -> int:
        """Notice-only reads since the last reset, R19's denials included (R14)."""
        return self.withheld_by_result + self.withheld_by_cross

    @property
    def one_result_only(self) -> bool:
        """All re-reads since the last reset were of one result that never left the context (R15)."""
        return self._only != _SEVERAL and not self._context_lost

    def read(self, key: bytes, call: bytes, call_id: str | None, turn: int, tool: str, subject: str) -> ReRead | None:
        """Judge one successful, known read.

        Args:
            key: Result identity.
            call: Call key: tool and arguments.
            call_id: The runtime's id of the call, for evictions.
            turn: Turn in which the result arrived.
            tool: Tool name, for the message.
            subject: Path-like argument, for the message.

        Returns:
            The judgement, or None when the table is full (``too-many-results``).

        Source: R1 to R7, R12, R12a.
        """
        row = self._rows.get(key)
        if row is None:
            return self._remember(key, call, call_id, turn)
        if self._epochs[row] != self._epoch or not self._copies[row]:
            self._repeats[row] = 0
            self._first_turns[row] = turn
            self._copies[row] = 0
            self._epochs[row] = self._epoch
            self._stays[row] += 1
            self._link(row, call)
            self._delivered(row, call_id)
            return _FREE
        return self._count(row, call_id, tool, subject)

    def _remember(self, key: bytes, call: bytes, call_id: str | None, turn: int) -> ReRead | None:
        row = len(self._repeats)
        if row >= self._max_results:
            return None
        self._rows[key] = row
        self._repeats.append(0)
        self._generations.append(self._generation)
        self._epochs.append(self._epoch)
        self._copies.append(0)
        self._first_turns.append(turn)
        self._totals.append(0)
        self._stays.append(0)
        handle = hash(call)
        self._linked.append(self._epoch + 1)
        self._older.append(self._by_call.get(handle, _NOBODY))
        self._by_call[handle] = row
        self._delivered(row, call_id)
        return _NEW

    def _count(self, row: int, call_id: str | None, tool: str, subject: str) -> ReRead:
        current = self._generations[row] == self._generation
        repeats = self._repeats[row] + 1 if current else 1
        self._repeats[row] = repeats
        self._generations[row] = self._generation
        self._totals[row] += 1
        self.cross_result += 1
        self.unchanged_re_reads += 1
        self.max_repeats = max(self.max_repeats, repeats)
        self.max_cross_result = max(self.max_cross_result, self.cross_result)
        if self._only == _NOBODY:
            self._only = row
        elif self._only != row:
            self._only = _SEVERAL
        self._lead(row, tool, subject)
        if repeats > self._limits.repeat_streak:
            self.withhold(by_cross=False)
            verdict = Verdict.NOTICE_ONLY
        elif self.cross_result > self._limits.unchanged_re_reads:
            self.withhold(by_cross=True)
            verdict = Verdict.NOTICE_ONLY
        else:
            self._delivered(row, call_id)
            verdict = Verdict.DELIVER_WITH_NOTICE
        return ReRead(verdict, False, self._first_turns[row], repeats, self.cross_result)  # noqa: FBT003 - a record's field

    def _lead(self, row: int, tool: str, subject: str) -> None:
        if self._leader not in (row, _NOBODY):
            mine, best = self._totals[row], self._totals[self._leader]
            if mine < best or (mine == best and row > self._leader):
                return
        if self._leader != row:
            self._leader = row
            self.most_read = (tool, subject)

    def evidence(self) -> ReadEvidence | None:
        """R24's counts; None when nothing unchanged was re-read."""
        if not self.unchanged_re_reads:
            return None
        return ReadEvidence(self.unchanged_re_reads, self.withheld, self.max_repeats, self.max_cross_result)

    def withhold(self, *, by_cross: bool) -> None:
        """Charge one notice-only read, or one denial of R19, to an allowance (R7, R19)."""
        self.withheld += 1
        if by_cross:
            self.withheld_by_cross += 1
        else:
            self.withheld_by_result += 1

    def _delivered(self, row: int, call_id: str | None) -> None:
        """Note one more full copy in the context."""
        if call_id is not None:
            if len(self._delivered_rows) > 2 * self._max_results:
                return  # a copy that cannot be evicted is none: the safe side
            handle = hash(call_id)
            self._delivered_older.append(self._by_call_id.get(handle, _NOBODY))
            self._by_call_id[handle] = len(self._delivered_rows)
            self._delivered_rows.append(row)
            self._delivered_stays.append(self._stays[row])
        self._copies[row] += 1

    def _link(self, row: int, call: bytes) -> None:
        """Let an eviction by tool and arguments find the row; it is walked once, so that no walk repeats itself."""
        if self._linked[row] != self._epoch + 1:
            handle = hash(call)
            self._linked[row] = self._epoch + 1
            self._older[row] = self._by_call.get(handle, _NOBODY)
            self._by_call[handle] = row

    def reset(self) -> None:
        """A new successful progress-class call: every count goes to zero (R10)."""
        self._generation += 1
        self.cross_result = 0
        self.withheld_by_result = 0
        self.withheld_by_cross = 0
        self._only = _NOBODY
        self._context_lost = False

    def compact(self) -> None:
        """A new epoch: repeat counts go to zero and each known result is free once (R12)."""
        self._generation += 1
        self._epoch += 1
        self._by_call.clear()
        self._by_call_id.clear()
        del self._delivered_rows[:], self._delivered_stays[:], self._delivered_older[:]
        self._context_lost = True

    def evict_call(self, call_id: str) -> None:
        """What the calls of one id delivered left the context; unknown and notice-only calls change nothing (R12a)."""
        delivery = self._by_call_id.pop(hash(call_id), _NOBODY)
        while delivery != _NOBODY:
            row = self._delivered_rows[delivery]
            if self._copies[row] and self._stays[row] == self._delivered_stays[delivery]:
                self._copies[row] -= 1
                self._context_lost |= not self._copies[row]
            delivery = self._delivered_older[delivery]

    def evict_results_of(self, call: bytes) -> None:
        """Every result of this tool and arguments left the context (R12a)."""
        row = self._by_call.pop(hash(call), _NOBODY)
        while row != _NOBODY:
            self._linked[row] = 0
            if self._epochs[row] == self._epoch and self._copies[row]:
                self._copies[row] = 0
                self._context_lost = True
            row = self._older[row]
