"""What happened: the events a machine takes. Past tense, frozen, digests instead of content."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from otel_docsfab.core.codes import Outcome, Output, ToolClass, Unjudged


class TurnBegan(NamedTuple):
    """A new model response began; the turn before it ends (SPEC section 1)."""


class TurnEnded(NamedTuple):
    """The host says that the turn is over; the bounds are looked at (R14)."""


class CallStarted(NamedTuple):
    """A tool call is about to run; without an open turn it begins one.

    Attributes:
        call: Any key that is unique among the calls in flight; renaming it changes nothing.
        tool: Tool name.
        tool_class: Read, progress or neutral.
        arguments: Digest of the canonical arguments; None when they are unknown.
        subject: The path-like argument or a short form of the arguments, for messages (R6).
        call_id: The runtime's own id of the call, when it has one: evictions name it (R12a).
        mark: ``AttemptMachine.mark`` as it was when the call really started, for drivers that learn of a call only at
            its end; None for now. A call is later than an ask when it starts after it (R20).
        arguments_reason: Why the arguments are unknown.
    """

    call: Hashable
    tool: str
    tool_class: ToolClass
    arguments: bytes | None
    subject: str = ""
    call_id: str | None = None
    mark: int | None = None
    arguments_reason: Unjudged = Unjudged.ARGUMENTS_NOT_CAPTURED


class CallDescribed(NamedTuple):
    """What a running call is about, for drivers that learn of its arguments only at its end.

    Attributes:
        call: The key given to ``CallStarted``.
        tool_class: As for ``CallStarted``, like the rest.
        arguments: Digest of the canonical arguments; None when they are unknown.
        subject: The path-like argument.
        call_id: The runtime's own id of the call.
        arguments_reason: Why the arguments are unknown.
    """

    call: Hashable
    tool_class: ToolClass
    arguments: bytes | None
    subject: str = ""
    call_id: str | None = None
    arguments_reason: Unjudged = Unjudged.ARGUMENTS_NOT_CAPTURED


class ResultReturned(NamedTuple):
    """A call that was not denied returned, failed or was cancelled.

    Attributes:
        call: The key given to ``CallStarted``.
        result: Digest of the result as the model gets it, before any notice; None when it is unknown.
        ok: False when the call failed or was cancelled.
        own_notice: True when the result is a notice or denial of ours (R6).
        result_reason: Why the result is unknown.
    """

    call: Hashable
    result: bytes | None
    ok: bool = True
    own_notice: bool = False
    result_reason: Unjudged = Unjudged.RESULT_NOT_CAPTURED


class AnswerReturned(NamedTuple):
    """A turn without tool calls: an answer (R16).

    Attributes:
        valid: The host's check against the step's contract; None when it makes none.
    """

    valid: bool | None = None


class Compacted(NamedTuple):
    """Earlier results may have left the context: a new epoch (R12)."""


class Evicted(NamedTuple):
    """Single results left the context (R12a).

    Attributes:
        call_ids: Ids of the calls whose results are gone.
        calls: (tool, digest of the canonical arguments): every delivery under that call is gone.
    """

    call_ids: tuple[str, ...] = ()
    calls: tuple[tuple[str, bytes], ...] = ()


class RequestSent(NamedTuple):
    """A model request went out (R23).

    Attributes:
        output_visible: True when the driver would see the first byte come back. Otherwise the position is
            ``streaming``: never a provider stall without evidence.
    """

    output_visible: bool = True


class OutputStarted(NamedTuple):
    """Output of this kind began to come back (R23)."""

    kind: Output = Output.OTHER


class RequestEnded(NamedTuple):
    """No model request is out any more (R23)."""


class TimePassed(NamedTuple):
    """Nothing happened but time: the scheduler's wake-up."""


class AttemptEnded(NamedTuple):
    """The attempt is over; an open turn ends first.

    Attributes:
        outcome: What it is when there was neither answer nor stop: ``cancelled`` or ``abandoned``.
    """

    outcome: Outcome = Outcome.CANCELLED


Event = (
    TurnBegan
    | TurnEnded
    | CallStarted
    | CallDescribed
    | ResultReturned
    | AnswerReturned
    | Compacted
    | Evicted
    | RequestSent
    | OutputStarted
    | RequestEnded
    | TimePassed
    | AttemptEnded
)
