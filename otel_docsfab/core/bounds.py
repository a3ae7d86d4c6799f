"""The bounds that are looked at when a tool turn ends, and the timer (R14, R15, R17, R23)."""

from __future__ import annotations

from otel_docsfab.core import wording
from otel_docsfab.core.codes import FINDINGS, Code, DeadlineTurn
from otel_docsfab.core.effects import StopAttempt
from otel_docsfab.core.ledger import Ledger
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.retry import retry_granted


def crossed_bound(ledger: Ledger, ran: int, limits: Limits, turn: int, retries_used: int) -> StopAttempt | None:
    """The stop that a tool turn ends in, if any; a read-loop stop wins over the ceiling.

    Args:
        ledger: The attempt's counts.
        ran: Tool calls that ran.
        limits: The bounds.
        turn: The turn that ends.
        retries_used: Retries of R17 the step has had.

    Returns:
        The stop, or None.

    Source: R14, R15, R17.
    """
    withheld = ledger.withheld_since_reset
    if withheld > limits.withheld_reads:
        cross = ledger.cross_result
        several = (
            ledger.withheld_by_cross > ledger.withheld_by_result
            and cross > limits.unchanged_re_reads
            and not ledger.one_result_only
        )
        found = (Code.UNCHANGED_RE_READS, cross) if several else (Code.WITHHELD_READS, withheld)
    elif ran >= limits.tool_call_ceiling:
        found = (Code.TOOL_CALL_CEILING, ran)
    else:
        return None
    code, observed = found
    limit_name = _LIMIT_NAMES[code]
    limit = limits.get(limit_name)
    return StopAttempt(
        code=code,
        category=FINDINGS[code].category,
        message=wording.bound_message(code, observed, limit_name, limit),
        detail=wording.stop_detail(code, ledger.most_read),
        observed=observed,
        limit=limit,
        limit_name=limit_name,
        turn=turn,
        retry_granted=retry_granted(code, retries_used, limits) is not None,
    )


_LIMIT_NAMES = {
    Code.UNCHANGED_RE_READS: "execution.readLoopUnchangedReReads",
    Code.WITHHELD_READS: "execution.readLoopWithheldReads",
    Code.TOOL_CALL_CEILING: "execution.toolCallCeiling",
}
_TIMER_NAME = "compositionExecution.timeoutMs"


def timer_fired(code: Code, position: DeadlineTurn, now_ms: int, timer_ms: int, turn: int) -> StopAttempt:
    """The stop of an attempt whose timer fired; it gets no retry of R17 (R23)."""
    return StopAttempt(
        code=code,
        category=FINDINGS[code].category,
        message=wording.deadline_message(code, timer_ms, _TIMER_NAME),
        detail="",
        observed=now_ms,
        limit=timer_ms,
        limit_name=_TIMER_NAME,
        turn=turn,
        deadline_turn=position,
    )
