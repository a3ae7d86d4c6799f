"""Where the attempt timer found the attempt, and the code that follows (R23)."""

from __future__ import annotations

from otel_docsfab.core.codes import Code, DeadlineTurn, Output

_STREAMING = {
    Output.ANSWER: DeadlineTurn.STREAMING_ANSWER,
    Output.TOOL_CALL: DeadlineTurn.STREAMING_TOOL_CALL,
    Output.OTHER: DeadlineTurn.STREAMING,
}


class RequestState:
    """Where the model request is, as far as telemetry can tell."""

    __slots__ = ("_output", "_visible", "out")

    def __init__(self) -> None:
        """Begin between requests."""
        self.out = False
        self._visible = False
        self._output: Output | None = None

    def sent(self, *, output_visible: bool) -> None:
        """A request went out."""
        self.out, self._visible, self._output = True, output_visible, None

    def output(self, kind: Output) -> None:
        """Output came back; it proves a request that nobody reported."""
        self.out, self._output = True, kind

    def ended(self) -> None:
        """No request is out."""
        self.out, self._output = False, None

    @property
    def answering(self) -> bool:
        """Whether an answer is known to stream."""
        return self.out and self._output is Output.ANSWER

    def position(self) -> DeadlineTurn:
        """The position to record; what telemetry cannot tell is ``streaming`` (R23)."""
        if not self.out:
            return DeadlineTurn.BETWEEN_REQUESTS
        if self._output is None:
            return DeadlineTurn.AWAITING_FIRST_BYTE if self._visible else DeadlineTurn.STREAMING
        return _STREAMING[self._output]


def deadline_code(position: DeadlineTurn, *, asked: bool, any_tool_turn: bool, earlier_tool_turn: bool) -> Code:
    """Code of an attempt whose timer fired; the first row of R23's table that matches.

    Args:
        position: Where the timer found the attempt.
        asked: Whether the answer was asked for before.
        any_tool_turn: Whether any turn, the present one included, called tools.
        earlier_tool_turn: Whether a turn before the one that streams called tools.

    Returns:
        The code.

    Source: R23.
    """
    if position is DeadlineTurn.AWAITING_FIRST_BYTE:
        return Code.DEADLINE_AWAITING_PROVIDER
    if position is DeadlineTurn.STREAMING_ANSWER:
        return Code.TIMEOUT
    if position is DeadlineTurn.BETWEEN_REQUESTS:
        return Code.DEADLINE_IN_TOOL_LOOP if any_tool_turn else Code.TIMEOUT
    if asked:
        return Code.TIMEOUT
    return Code.DEADLINE_IN_TOOL_LOOP if earlier_tool_turn else Code.TIMEOUT
