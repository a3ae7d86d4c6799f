"""What one returned call was worth: its verdict (R1 to R11, R29) and its progress (R28)."""

from __future__ import annotations

from typing import Final

from otel_docsfab.core.codes import Progress, ToolClass, Unjudged, Verdict
from otel_docsfab.core.effects import DeliverResult
from otel_docsfab.core.events import CallStarted, ResultReturned
from otel_docsfab.core.identity import call_key, result_key
from otel_docsfab.core.ledger import Ledger
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.stall import StallMeter

# Bound once: to read a member off its class takes as long as a call (CPython 3.11).
_READ: Final = ToolClass.READ
_PROGRESS: Final = ToolClass.PROGRESS
_NEW_CONTENT: Final = Progress.NEW_CONTENT


class Judge:
    """Judges the returned calls of one attempt and tallies what it said.

    Attributes:
        ledger: The counts of R3 to R13.
        stall: Stretches without progress (R24).
        verdicts: Judged reads by verdict.
        unjudged: Successful reads that could not be judged, by reason.
        progress: Progress by kind.
    """

    __slots__ = ("_done", "_max_keys", "ledger", "progress", "stall", "unjudged", "verdicts")

    def __init__(self, limits: Limits, max_results: int) -> None:
        """Start empty; at most ``max_results`` results and as many progress calls are told apart."""
        self.ledger = Ledger(limits, max_results)
        self.stall = StallMeter(max_results)
        self.verdicts: dict[str, int] = {}
        self.unjudged: dict[str, int] = {}
        self.progress: dict[str, int] = {}
        self._done: set[bytes] = set()
        self._max_keys = max_results

    def judge(self, call: CallStarted, event: ResultReturned, turn: int) -> DeliverResult:
        """Judge one result.

        Args:
            call: The call that returned; it was not denied.
            event: What it returned.
            turn: The present turn, from 1.

        Returns:
            What becomes of the result.
        """
        if event.own_notice:  # R6: not counted, not remembered, no progress
            return _deliver(call, turn)
        if not event.ok:
            effect = self._failed(call, turn)
        elif call.tool_class is _READ:
            effect = self._read(call, event, turn)
        elif call.tool_class is _PROGRESS:
            effect = _deliver(call, turn, progress=self._progress_call(call))
        else:
            effect = _deliver(call, turn, progress=Progress.NEUTRAL_RESULT)
        if effect.progress is None:
            self.stall.no_progress()
        else:
            self.progressed(effect.progress, turn)
        return effect

    def progressed(self, kind: Progress, turn: int) -> None:
        """There was progress of R28."""
        self.progress[kind] = self.progress.get(kind, 0) + 1
        self.stall.progressed(turn)

    def _failed(self, call: CallStarted, turn: int) -> DeliverResult:
        """A failed call changes no count; how often it was repeated is noted (R8)."""
        if call.tool_class is not ToolClass.NEUTRAL and call.arguments is not None:
            key = call_key(call.tool, call.arguments)
            self.stall.repeated(key, failed_read=call.tool_class is ToolClass.READ)
        return _deliver(call, turn, ok=False)

    def _progress_call(self, call: CallStarted) -> Progress | None:
        """A new one resets the counts (R10), an identical one leaves them (R11)."""
        if call.arguments is None:
            self.ledger.reset()  # R29: counts as new, but is no progress
            return None
        key = call_key(call.tool, call.arguments)
        self.stall.repeated(key, failed_read=False)
        if key in self._done:
            return None
        if len(self._done) < self._max_keys:
            self._done.add(key)
        self.ledger.reset()
        return Progress.PROGRESS_CALL

    def _read(self, call: CallStarted, event: ResultReturned, turn: int) -> DeliverResult:
        if call.arguments is None:
            return self._not_judged(call, turn, call.arguments_reason)
        if event.result is None:
            return self._not_judged(call, turn, event.result_reason)
        called = call_key(call.tool, call.arguments)
        key = result_key(called, event.result)
        read = self.ledger.read(key, called, call.call_id, turn, call.tool, call.subject)
        if read is None:
            return self._not_judged(call, turn, Unjudged.TOO_MANY_RESULTS)
        verdict, new, first_turn, repeats, cross_result = read
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1
        progress = _NEW_CONTENT if new else None
        return DeliverResult(
            call.call,
            call.tool,
            call.tool_class,
            verdict,
            turn,
            call.subject,
            first_turn,
            repeats,
            cross_result,
            None,
            progress,
        )

    def _not_judged(self, call: CallStarted, turn: int, reason: Unjudged) -> DeliverResult:
        self.unjudged[reason] = self.unjudged.get(reason, 0) + 1
        return _deliver(call, turn, unjudged=reason)


def _deliver(
    call: CallStarted,
    turn: int,
    *,
    ok: bool = True,
    progress: Progress | None = None,
    unjudged: Unjudged | None = None,
) -> DeliverResult:
    return DeliverResult(
        call=call.call,
        tool=call.tool,
        tool_class=call.tool_class,
        verdict=Verdict.DELIVER,
        turn=turn,
        subject=call.subject,
        unjudged=unjudged,
        progress=progress,
        ok=ok,
    )
