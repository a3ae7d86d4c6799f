"""What a host is told when an attempt is to be stopped or asked for its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from otel_docsfab.core import AskForAnswer, Category, Code, StopAttempt, Trigger, wording


@dataclass(frozen=True, slots=True)
class AttemptRef:
    """Which attempt.

    Attributes:
        run_id: The run it belongs to.
        step_id: Step id; None when the runtime names none.
        number: Number of the attempt, from 1.
        agent_name: Name of the agent, when known.
        trace_id: 32 hex digits, when there is a trace.
        span_id: The attempt's span, 16 hex digits.
    """

    run_id: str
    step_id: str | None = None
    number: int = 1
    agent_name: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A stop or an ask. Goes to the callback; its message names tool and path, so do not record it (R27).

    Attributes:
        action: ``stop`` ends the attempt; ``conclude`` withdraws the tools and asks for the answer.
        enforced: Whether the supervisor itself makes it happen (R30).
        turn: The turn after which it holds.
        message: For people and models: the stop's sentences, or the request for the answer.
        attempt: Which attempt.
        code: The stop's code.
        category: Failure category of the code.
        trigger: What raised the ask.
        observed: For a stop, the count (or ms) that crossed the limit.
        limit: The limit's value.
        limit_name: The limit's dotted name.
        retry_granted: Whether R17 gives the step another attempt.
    """

    action: Literal["stop", "conclude"]
    enforced: bool
    turn: int
    message: str
    attempt: AttemptRef
    code: Code | None = None
    category: Category | None = None
    trigger: Trigger | None = None
    observed: int | None = None
    limit: int | None = None
    limit_name: str | None = None
    retry_granted: bool = False


OnDecision = Callable[[Decision], Awaitable[None] | None]
"""A plain callable, or an async one that runs on the attempt's event loop."""


def decision_of(effect: StopAttempt | AskForAnswer, attempt: AttemptRef, *, enforced: bool) -> Decision:
    """The decision that tells of an effect."""
    if isinstance(effect, AskForAnswer):
        return Decision(
            action="conclude",
            enforced=enforced,
            turn=effect.turn,
            message=wording.CONCLUDE_REQUEST,
            attempt=attempt,
            trigger=effect.trigger,
        )
    return Decision(
        action="stop",
        enforced=enforced,
        turn=effect.turn,
        message=f"{effect.message} {effect.detail}".rstrip(),
        attempt=attempt,
        code=effect.code,
        category=effect.category,
        observed=effect.observed,
        limit=effect.limit,
        limit_name=effect.limit_name,
        retry_granted=effect.retry_granted,
    )
