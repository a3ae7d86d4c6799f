"""R20, R21 and the positions of R23, by scanning the whole history."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from otel_docsfab.core import (
    AnswerReturned,
    DeadlineTurn,
    Event,
    Output,
    OutputStarted,
    RequestEnded,
    RequestSent,
    StepKind,
    Trigger,
)
from tests.properties.reads import Reads


class Clock(Reads):
    """When the ask is due, and where the model request is."""

    def asked_of_this_step(self) -> bool:
        return self.setting.step.kind is StepKind.READ_ONLY

    def ask_time(self) -> tuple[int, Trigger]:
        step, limits, timer_ms = self.setting.step, self.setting.limits, self.setting.timer_ms
        assert timer_ms is not None
        words = (step.id or "").split("-")
        name = words[0] + "".join(word.capitalize() for word in words[1:])
        tokens = step.answer_tokens or limits.answer_tokens.get(name, limits.default_answer_tokens)
        continuations = ceil(Fraction(tokens, limits.max_output_tokens)) - 1
        reserve = Fraction(tokens * 1_000, limits.decode_tokens_per_second) + limits.turn_latency_ms * (
            1 + continuations
        )
        at_ms = max(timer_ms - ceil(reserve), 0)
        share_ms = ceil(Fraction(timer_ms * limits.elapsed_share_bp, 10_000))
        if step.judgment and share_ms < at_ms:
            return share_ms, Trigger.READING_BUDGET
        return at_ms, Trigger.ATTEMPT_DEADLINE

    def due_noticed(self) -> bool:
        return any(fact.due for fact in self.facts)

    def requests(self) -> list[Event | None]:
        """What is known of the model request that is out now; empty when none is."""
        last: list[Event | None] = []
        for fact in self.events(RequestSent, OutputStarted, RequestEnded, AnswerReturned):
            if isinstance(fact.event, RequestSent):
                last = [fact.event]
            elif isinstance(fact.event, OutputStarted):
                last = [*last, fact.event]
            else:
                last = []
        return last

    def answering(self) -> bool:
        return self.position() is DeadlineTurn.STREAMING_ANSWER

    def position(self) -> DeadlineTurn:
        request = self.requests()
        if not request:
            return DeadlineTurn.BETWEEN_REQUESTS
        newest = request[-1]
        if isinstance(newest, RequestSent):
            return DeadlineTurn.AWAITING_FIRST_BYTE if newest.output_visible else DeadlineTurn.STREAMING
        assert isinstance(newest, OutputStarted)
        return {
            Output.ANSWER: DeadlineTurn.STREAMING_ANSWER,
            Output.TOOL_CALL: DeadlineTurn.STREAMING_TOOL_CALL,
            Output.OTHER: DeadlineTurn.STREAMING,
        }[newest.kind]
