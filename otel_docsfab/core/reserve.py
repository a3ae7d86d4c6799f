"""When a read-only step is asked for its answer: the answer reserve and the reading share."""

from __future__ import annotations

from typing import NamedTuple

from otel_docsfab.core.codes import StepKind, Trigger
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.steps import Step


def reserve_ms(tokens: int, limits: Limits) -> int:
    """Time the planned answer needs.

    Args:
        tokens: Planned answer, tokens, > 0.
        limits: Decoding speed, output of one turn and latency of one turn.

    Returns:
        Ms, rounded up: decoding plus the latency of the answer turn and of each length-stop continuation.

    Source: R20.
    """
    continuations = -(-tokens // limits.max_output_tokens) - 1
    decoding = -(-tokens * 1000 // limits.decode_tokens_per_second)
    return decoding + limits.turn_latency_ms * (1 + continuations)


class AskTime(NamedTuple):
    """When a step is asked, and by which rule.

    Attributes:
        at_ms: Ms since the attempt began, never negative.
        trigger: ``reading-budget`` when the reading share is strictly earlier, else ``attempt-deadline``.
    """

    at_ms: int
    trigger: Trigger


def ask_time(step: Step, timer_ms: int | None, limits: Limits) -> AskTime | None:
    """Moment at which a read-only step is asked for its answer.

    A judgment step also has a reading share; whichever point comes first wins.

    Args:
        step: The step; its own token plan wins over the limits'.
        timer_ms: Length of the attempt, ms, > 0; None without a timer.
        limits: The reserve's and the share's limits.

    Returns:
        Moment and trigger, or None for a step that is never asked by time: a write step, a step whose kind nobody
        declared, or one without a timer.

    Source: R20, R21, R22.
    """
    if timer_ms is None or step.kind is not StepKind.READ_ONLY:
        return None
    tokens = step.answer_tokens or limits.planned_tokens(step.id)
    by_reserve = AskTime(max(0, timer_ms - reserve_ms(tokens, limits)), Trigger.ATTEMPT_DEADLINE)
    if not step.judgment:
        return by_reserve
    share = -(-timer_ms * limits.elapsed_share_bp // 10_000)
    return AskTime(share, Trigger.READING_BUDGET) if share < by_reserve.at_ms else by_reserve
