"""What a session file says happened, as a stream of small typed events.

Every event names its attempt, because a file may hold several agents side by side. Content (arguments, results) is
passed through for judging and is never kept. Times are ms since the epoch, 0 where a format has none; within an
attempt events come in the order in which they are to be judged.
"""

from __future__ import annotations

from typing import NamedTuple

from otel_docsfab.core import Outcome, Unjudged


class AttemptOpened(NamedTuple):
    """One prompt, one attempt.

    Attributes:
        attempt: Key of the attempt, the same in every copy of it: forked and resumed sessions repeat older attempts.
        run_id: Id of the session, if the file names one.
        agent: Name of the agent.
        at_ms: When.
        model: Name of the model, when it is known this early.
    """

    attempt: str
    run_id: str | None
    agent: str
    at_ms: int
    model: str | None = None


class TurnBegan(NamedTuple):
    """A model response began; the turn before it is over.

    Attributes:
        attempt: Key of the attempt.
        at_ms: When.
        model: Name of the model, if the response has it.
    """

    attempt: str
    at_ms: int
    model: str | None = None


class Call(NamedTuple):
    """The response asks for a tool.

    Attributes:
        attempt: Key of the attempt.
        call: Number of the call in its attempt, from 1; what ``Result`` names.
        tool: Tool name.
        arguments: Parsed arguments, or their text when it is no JSON; None when they are unknown.
        at_ms: When it started.
        call_id: The runtime's own id, which evictions name; None when it has none.
        reason: Why the arguments are unknown.
    """

    attempt: str
    call: int
    tool: str
    arguments: object
    at_ms: int
    call_id: str | None = None
    reason: Unjudged | None = None


class Result(NamedTuple):
    """What a call returned.

    Attributes:
        attempt: Key of the attempt.
        call: Number of the call.
        result: Result as the model got it, without the runtime's envelope: text, or a JSON value of text parts; None
            when it is unknown.
        ok: False when it failed or was interrupted.
        at_ms: When.
        reason: Why the result is unknown, or cannot be judged although it is known.
    """

    attempt: str
    call: int
    result: object
    ok: bool
    at_ms: int
    reason: Unjudged | None = None


class Compacted(NamedTuple):
    """The context was compacted (R12)."""

    attempt: str
    at_ms: int


class Evicted(NamedTuple):
    """Single results left the context (R12a).

    Attributes:
        attempt: Key of the attempt.
        call_ids: The runtime's ids of their calls; those of other attempts may be among them.
        at_ms: When.
    """

    attempt: str
    call_ids: tuple[str, ...]
    at_ms: int


class Answered(NamedTuple):
    """The last turn asked for no tool and said something: the answer (R16)."""

    attempt: str
    at_ms: int


class AttemptClosed(NamedTuple):
    """The attempt is over.

    Attributes:
        attempt: Key of the attempt.
        at_ms: When its last event was.
        outcome: What it is when there was neither answer nor stop: ``cancelled`` when somebody interrupted it, else
            ``abandoned``.
    """

    attempt: str
    at_ms: int
    outcome: Outcome


ScriptEvent = AttemptOpened | TurnBegan | Call | Result | Compacted | Evicted | Answered | AttemptClosed
