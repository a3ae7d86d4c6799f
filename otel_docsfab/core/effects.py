"""What is to be done: the effects a machine returns. Imperative, frozen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from otel_docsfab.core.codes import (
    Category,
    Code,
    DeadlineTurn,
    Denial,
    Outcome,
    Progress,
    ToolClass,
    Trigger,
    Unjudged,
    Verdict,
)


class DenyCall(NamedTuple):
    """The call must not run; the model gets a denial text. No result is expected (R17, R19, R22).

    Attributes:
        call: Key of the call.
        tool: Tool name.
        turn: Turn of the call, from 1.
        reason: Why.
    """

    call: Hashable
    tool: str
    turn: int
    reason: Denial


class DeliverResult(NamedTuple):
    """What becomes of a result (R2, R4, R5).

    Attributes:
        call: Key of the call.
        tool: Tool name.
        tool_class: Read, progress or neutral.
        verdict: Deliver it, deliver it with a notice, or give the notice only.
        turn: Turn in which it was judged, from 1.
        subject: For the notice: the path-like argument.
        first_turn: For counted re-reads: the turn that first delivered the content.
        repeats: For counted re-reads: the result's repeat count.
        cross_result: For counted re-reads: the attempt's cross-result count.
        unjudged: Why it could not be judged (R29).
        progress: What progress it was, if any (R28).
        ok: Whether the call succeeded.
    """

    call: Hashable
    tool: str
    tool_class: ToolClass
    verdict: Verdict
    turn: int
    subject: str
    first_turn: int | None = None
    repeats: int | None = None
    cross_result: int | None = None
    unjudged: Unjudged | None = None
    progress: Progress | None = None
    ok: bool = True


class StopAttempt(NamedTuple):
    """The attempt ends here (R14, R15, R17, R23).

    Attributes:
        code: Why.
        category: Failure category of the code.
        message: The code's sentence up to ``count.``, without tool or path (R27).
        detail: One sentence for people that names tool and path (R15).
        observed: The count (or ms) that crossed the limit.
        limit: The limit's value.
        limit_name: The limit's dotted name.
        turn: The turn after which the attempt ends.
        retry_granted: Whether R17 gives the step another attempt.
        deadline_turn: Where the timer found the attempt, for deadline codes.
    """

    code: Code
    category: Category
    message: str
    detail: str
    observed: int
    limit: int
    limit_name: str
    turn: int
    retry_granted: bool = False
    deadline_turn: DeadlineTurn | None = None


class AskForAnswer(NamedTuple):
    """Withdraw the tools and ask for the final answer: conclude now (R18, R20).

    Attributes:
        trigger: What raised it.
        turn: The turn after which it is asked.
    """

    trigger: Trigger
    turn: int


class EvaluateAnswer(NamedTuple):
    """The answer counts, whatever was raised before (R16).

    Attributes:
        turn: The turn that answered.
        valid: The host's check, None when there was none.
        progress: Always ``answer`` (R28).
    """

    turn: int
    valid: bool | None
    progress: Progress = Progress.ANSWER


class CloseAttempt(NamedTuple):
    """The attempt is over and its record final.

    Attributes:
        outcome: How it ended.
        code: Why it failed, if it did.
    """

    outcome: Outcome
    code: Code | None


Effect = DenyCall | DeliverResult | StopAttempt | AskForAnswer | EvaluateAnswer | CloseAttempt
