"""Conclude now: when the answer is asked for, and which calls are denied after it (R18 to R22)."""

from __future__ import annotations

from typing import Final

from otel_docsfab.core.codes import AnswerPath, Denial, RetryOf, StepKind, Trigger
from otel_docsfab.core.effects import DeliverResult
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.record import ConcludeNow
from otel_docsfab.core.reserve import ask_time
from otel_docsfab.core.steps import Step
from otel_docsfab.core.tools import SUBMIT_TOOL

_DENIALS: Final = {trigger: Denial(trigger.value) for trigger in Trigger}


class Asking:
    """The one ask of an attempt, from its triggers to its denials.

    Attributes:
        made: The ask, once it was made.
        charges_cross: Whether denials after a read-loop ask are charged to the cross-result allowance (R19).
    """

    __slots__ = (
        "_due",
        "_for_loop",
        "_limits",
        "_loop_in_turn",
        "_mark",
        "_step",
        "_submit_called",
        "_waiting",
        "charges_cross",
        "made",
    )

    def __init__(self, step: Step, limits: Limits, timer_ms: int | None, retry_of: RetryOf | None) -> None:
        """Nothing asked yet."""
        self.made: ConcludeNow | None = None
        self.charges_cross = False
        self._step = step
        self._limits = limits
        self._due = ask_time(step, timer_ms, limits)
        self._for_loop = retry_of is not None and step.kind is StepKind.READ_ONLY
        self._loop_in_turn = False  # this turn had a retry's notice-only read
        self._waiting: Trigger | None = None  # its time has come; it waits for the end of a tool turn
        self._mark = 0
        self._submit_called = False

    @property
    def due_ms(self) -> int | None:
        """When time alone raises the ask, ms since the attempt began; None when it cannot."""
        return self._due.at_ms if self._due is not None and self.made is None else None

    def read_withheld(self, effect: DeliverResult) -> None:
        """A read was notice-only: in a retry of R17 the first one raises the ask (R18)."""
        if self._for_loop and self.made is None and not self._loop_in_turn:
            self._loop_in_turn = True
            self.charges_cross = effect.repeats is not None and effect.repeats <= self._limits.repeat_streak

    def time_passed(self, now_ms: int, *, at_once: bool) -> Trigger | None:
        """The trigger whose time has come and that can be asked now; otherwise it waits for a turn's end (R20).

        Args:
            now_ms: Ms since the attempt began.
            at_once: Whether a tool turn has been, no call is running and no answer streams.
        """
        if self._due is None or now_ms < self._due.at_ms:
            return None
        trigger, self._due = self._due.trigger, None
        if self.made is not None:
            return None
        self._waiting = trigger
        return trigger if at_once and not self._loop_in_turn else None

    def turn_began(self) -> None:
        """Each turn has its own first submit call (R22)."""
        self._submit_called = False

    def turn_ended(self, *, tool_turn_was: bool) -> Trigger | None:
        """What is asked at the end of a turn; of two triggers it is ``read-loop`` (R22).

        Args:
            tool_turn_was: Whether any turn has called tools.
        """
        loop, self._loop_in_turn = self._loop_in_turn, False
        if self.made is not None:
            return None
        if loop:
            return Trigger.READ_LOOP
        return self._waiting if tool_turn_was else None

    def make(self, trigger: Trigger, turn: int, mark: int) -> None:
        """The ask is made after this turn; calls that start at or after ``mark`` are later than it."""
        self.made, self._mark, self._waiting = ConcludeNow(trigger, turn), mark, None

    def denial(self, tool: str, mark: int) -> Denial | None:
        """Why the ask denies a call that started at ``mark``; a turn's first submit call is R22's exception."""
        first_submit = tool == SUBMIT_TOOL and not self._submit_called
        self._submit_called |= first_submit
        if self.made is None or mark < self._mark:
            return None
        trigger = self.made.trigger
        if trigger is not Trigger.READ_LOOP and self._step.answer_path is AnswerPath.TOOL_CALL and first_submit:
            return None
        return _DENIALS[trigger]
