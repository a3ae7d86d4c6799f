"""The attempt machine: events in, effects out, time as an argument.

The rules of SPEC sections 3 to 7 meet here, for one attempt: ``judge`` and ``ledger`` count, ``asking`` asks,
``bounds`` stops. The machine does no input or output, keeps digests and counts only, and takes constant time an
event. A refused event changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Final

from otel_docsfab.core import deadline
from otel_docsfab.core.asking import Asking
from otel_docsfab.core.bounds import crossed_bound, timer_fired
from otel_docsfab.core.codes import Code, Denial, Outcome, Progress, RetryOf, Trigger, Verdict
from otel_docsfab.core.effects import AskForAnswer, CloseAttempt, DenyCall, Effect, EvaluateAnswer, StopAttempt
from otel_docsfab.core.events import (
    AnswerReturned,
    AttemptEnded,
    CallDescribed,
    CallStarted,
    Compacted,
    Event,
    Evicted,
    OutputStarted,
    RequestEnded,
    RequestSent,
    ResultReturned,
    TimePassed,
    TurnBegan,
    TurnEnded,
)
from otel_docsfab.core.identity import call_key
from otel_docsfab.core.judge import Judge
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.record import AttemptRecord, ConcludeNow, Stop
from otel_docsfab.core.steps import UNDECLARED, Step
from otel_docsfab.core.tools import DOCSFAB_TOOLS, Toolset
from otel_docsfab.errors import RefusedEvent

MAX_RESULTS: Final = 65_536
_OPEN: Final = Outcome.OPEN  # bound once, as in `judge`
_NOTICE_ONLY: Final = Verdict.NOTICE_ONLY
_OF_CALLS: Final = frozenset({CallStarted, ResultReturned, CallDescribed})


class AttemptMachine:
    """One attempt of one step.

    Args:
        step: The step; an undeclared one is never asked (R20).
        limits: Values of SPEC section 2.
        toolset: For drivers that ask the machine how to class a call.
        number: Number of the attempt, from 1.
        retry_of: Why it is a retry of R17; None when it is none.
        timer_ms: Length of the attempt, ms, > 0; None without a timer.
        retries_used: Retries of R17 the step has had; by default ``number - 1`` in a retry, else 0.
        max_results: Results remembered; reads past them are unjudged.

    Attributes:
        mark: Asks and stops so far; tells whether a call started before or after one of them.
        turn: Number of the newest turn, 0 before the first.
        stop: The stop that was raised.
        closed: Whether the attempt has ended.
    """

    def __init__(
        self,
        step: Step | None = None,
        limits: Limits | None = None,
        toolset: Toolset | None = None,
        number: int = 1,
        retry_of: RetryOf | None = None,
        *,
        timer_ms: int | None = None,
        retries_used: int | None = None,
        max_results: int = MAX_RESULTS,
    ) -> None:
        """Begin an attempt at 0 ms."""
        self.step = step or UNDECLARED
        self.limits = limits or Limits()
        self.toolset = toolset or DOCSFAB_TOOLS
        self.number = number
        self.retry_of = retry_of
        self.timer_ms = timer_ms
        self.mark = 0
        self.turn = 0
        self.stop: StopAttempt | None = None
        self.closed = False
        self._retries_used = retries_used if retries_used is not None else (number - 1 if retry_of else 0)
        self._now_ms = 0
        self._judge = Judge(self.limits, max_results)
        self._asking = Asking(self.step, self.limits, timer_ms, retry_of)
        self._request = deadline.RequestState()
        self._running: dict[Hashable, CallStarted] = {}
        self._ran = 0
        self._tool_turns = 0
        self._turn_open = False
        self._turn_late = False  # results came after the turn's end
        self._turn_called = False
        self._stop_mark = 0
        self._outcome = Outcome.OPEN
        self._calls_after_stop = 0
        self._denied: dict[str, int] = {}

    def apply(self, event: Event, at_ms: int) -> tuple[Effect, ...]:
        """Take one event.

        Time passes with events alone: wake the machine with ``TimePassed`` at each ``next_wakeup_ms()``, or an ask
        whose moment lay between two events is lost when the second one comes after the timer.

        Args:
            event: What happened.
            at_ms: When, ms since the attempt began, >= 0; a time before the newest one counts as the newest.

        Returns:
            What is to be done, in order.

        Raises:
            RefusedEvent: The event cannot be taken now. The state is unchanged.
        """
        handler = self._HANDLERS.get(type(event))
        if handler is None or at_ms < 0:
            raise RefusedEvent(f"no event of an attempt, or no time: {type(event).__name__} at {at_ms} ms")
        if self.closed or type(event) in _OF_CALLS:
            self._refuse(event)
        effects: list[Effect] = []
        if at_ms > self._now_ms:  # noqa: PLR1730 - on every event; calling max() takes three times as long
            self._now_ms = at_ms
        if self.timer_ms is not None:
            self._watch_time(self.timer_ms, effects)
        handler(self, event, effects)
        return tuple(effects)

    def _refuse(self, event: Event) -> None:
        if self.closed:
            raise RefusedEvent(f"{type(event).__name__}: the attempt is closed")
        if type(event) is CallStarted:
            if event.call in self._running:
                raise RefusedEvent("CallStarted: a call of this key is running")
        elif event.call not in self._running:  # type: ignore[union-attr]  # only events of calls come here
            raise RefusedEvent(f"{type(event).__name__}: no call of this key is running")

    # Turns, rule R14

    def _turn_began(self, _: TurnBegan, effects: list[Effect]) -> None:
        self._end_turn(effects)
        self.turn += 1
        self._turn_open = True
        self._turn_called = False
        self._asking.turn_began()

    def _turn_ended(self, _: TurnEnded, effects: list[Effect]) -> None:
        self._end_turn(effects, may_ask=not self._request.answering)

    def _end_turn(self, effects: list[Effect], *, may_ask: bool = True, answered: bool = False) -> None:
        """Look at the bounds, on the counts as they now are; an answer that came needs neither ask nor retry."""
        if not self._turn_open and not self._turn_late:
            return
        self._turn_open = self._turn_late = False
        trigger = self._asking.turn_ended(tool_turn_was=self._tool_turns > 0)
        if self.stop is not None:
            return
        self._judge.stall.turn_ended(self.turn)
        stop = crossed_bound(self._judge.ledger, self._ran, self.limits, self.turn, self._retries_used)
        if stop is not None:
            if answered or self._outcome is not Outcome.OPEN:
                stop = stop._replace(retry_granted=False)
            self._raise_stop(stop, effects)
        elif trigger is not None and may_ask and self._outcome is _OPEN:
            self._raise_ask(trigger, effects)

    def _raise_stop(self, stop: StopAttempt, effects: list[Effect]) -> None:
        self.mark += 1
        self.stop, self._stop_mark = stop, self.mark
        effects.append(stop)

    def _raise_ask(self, trigger: Trigger, effects: list[Effect]) -> None:
        self.mark += 1
        self._asking.make(trigger, self.turn, self.mark)
        effects.append(AskForAnswer(trigger, self.turn))

    # Calls: R1 to R11, R16, R17, R19, R22

    def _call_started(self, event: CallStarted, effects: list[Effect]) -> None:
        if not self._turn_open:
            self._turn_began(TurnBegan(), effects)
        if not self._turn_called:
            self._turn_called = True
            self._tool_turns += 1
        reason = self._denial(event)
        if reason is None:
            self._ran += 1
            self._running[event.call] = event
            return
        if reason is Denial.STOPPED:
            self._calls_after_stop += 1
        else:
            if reason is Denial.READ_LOOP:
                self._judge.ledger.withhold(by_cross=self._asking.charges_cross)
            self._judge.stall.no_progress()
        self._denied[reason] = self._denied.get(reason, 0) + 1
        effects.append(DenyCall(event.call, event.tool, self.turn, reason))

    def _denial(self, event: CallStarted) -> Denial | None:
        """Why a call must not run: a stop or an ask it is later than, or the ceiling."""
        mark = self.mark if event.mark is None else event.mark
        reason = self._asking.denial(event.tool, mark)
        if self.stop is not None and mark >= self._stop_mark:
            return Denial.STOPPED
        if reason is None and self._ran >= self.limits.tool_call_ceiling:
            return Denial.CEILING
        return reason

    def _call_described(self, event: CallDescribed, _: list[Effect]) -> None:
        self._running[event.call] = self._running[event.call]._replace(
            tool_class=event.tool_class,
            arguments=event.arguments,
            subject=event.subject,
            call_id=event.call_id,
            arguments_reason=event.arguments_reason,
        )

    def _result_returned(self, event: ResultReturned, effects: list[Effect]) -> None:
        effect = self._judge.judge(self._running.pop(event.call), event, self.turn)
        self._turn_late = not self._turn_open  # a late result is looked at when the next turn begins or ends
        if effect.verdict is _NOTICE_ONLY:
            self._asking.read_withheld(effect)
        effects.append(effect)

    # Context and answers: R12, R12a, R16

    def _compacted(self, _: Compacted, __: list[Effect]) -> None:
        self._judge.ledger.compact()

    def _evicted(self, event: Evicted, _: list[Effect]) -> None:
        for call_id in event.call_ids:
            self._judge.ledger.evict_call(call_id)
        for tool, arguments in event.calls:
            self._judge.ledger.evict_results_of(call_key(tool, arguments))

    def _answer_returned(self, event: AnswerReturned, effects: list[Effect]) -> None:
        self._end_turn(effects, may_ask=False, answered=True)
        self._outcome = Outcome.REJECTED if event.valid is False else Outcome.ANSWERED
        self._judge.progressed(Progress.ANSWER, self.turn)
        self._request.ended()
        effects.append(EvaluateAnswer(self.turn, event.valid))

    def _attempt_ended(self, event: AttemptEnded, effects: list[Effect]) -> None:
        self._end_turn(effects, may_ask=False)
        self.closed = True
        self._running.clear()
        if self._outcome is _OPEN:
            self._outcome = Outcome.FAILED if self.stop is not None else event.outcome
        effects.append(CloseAttempt(self.outcome, self.code))

    # Time: R20 to R23

    def _request_sent(self, event: RequestSent, _: list[Effect]) -> None:
        self._request.sent(output_visible=event.output_visible)

    def _output_started(self, event: OutputStarted, _: list[Effect]) -> None:
        self._request.output(event.kind)

    def _request_ended(self, _: RequestEnded, __: list[Effect]) -> None:
        self._request.ended()

    def _time_passed(self, _: TimePassed, __: list[Effect]) -> None:
        """Nothing more: ``apply`` watches the time before each event."""

    def _watch_time(self, timer_ms: int, effects: list[Effect]) -> None:
        """Stop when the timer has fired, else ask when the ask's time has come: never after the timer."""
        if self._outcome is not _OPEN or self.stop is not None:
            return
        if self._now_ms >= timer_ms:
            position = self._request.position()
            code = deadline.deadline_code(
                position,
                asked=self._asking.made is not None,
                any_tool_turn=self._tool_turns > 0,
                earlier_tool_turn=self._tool_turns > (self._turn_open and self._turn_called),
            )
            self._raise_stop(timer_fired(code, position, self._now_ms, timer_ms, self.turn), effects)
            return
        at_once = self._tool_turns > 0 and not self._running and not self._request.answering
        trigger = self._asking.time_passed(self._now_ms, at_once=at_once)
        if trigger is not None:
            self._raise_ask(trigger, effects)

    def next_wakeup_ms(self) -> int | None:
        """When time alone can change something: the ask or the timer, ms since the attempt began; None for never."""
        if self.timer_ms is None or self._outcome is not _OPEN or self.stop is not None:
            return None
        due_ms = self._asking.due_ms
        return self.timer_ms if due_ms is None else min(due_ms, self.timer_ms)

    # What is known

    @property
    def outcome(self) -> Outcome:
        """How the attempt ended; ``failed`` once stopped, unless an answer came (R16)."""
        return Outcome.FAILED if self._outcome is _OPEN and self.stop is not None else self._outcome

    @property
    def code(self) -> Code | None:
        """Why the attempt failed; None unless it did."""
        if self.outcome is Outcome.REJECTED:
            return Code.ANSWER_REJECTED
        return self.stop.code if self.stop is not None and self.outcome is Outcome.FAILED else None

    @property
    def asked(self) -> ConcludeNow | None:
        """The ask that was made (R18)."""
        return self._asking.made

    @property
    def turn_called_tools(self) -> bool:
        """Whether the newest turn called tools."""
        return self._turn_called

    @property
    def running(self) -> int:
        """Calls in flight."""
        return len(self._running)

    def record(self) -> AttemptRecord:
        """What is known of the attempt so far (R24)."""
        judge, stop = self._judge, self.stop
        return AttemptRecord(
            step_id=self.step.id,
            step_kind=self.step.kind,
            attempt=self.number,
            retry_of=self.retry_of,
            outcome=self.outcome,
            code=self.code,
            stop=Stop.of(stop, failed=self.outcome is Outcome.FAILED) if stop else None,
            conclude_now=self._asking.made,
            deadline_turn=stop.deadline_turn if stop else None,
            turns=self.turn,
            calls=self._ran,
            denied=dict(self._denied),
            calls_after_stop=self._calls_after_stop,
            verdicts=dict(judge.verdicts),
            unjudged=dict(judge.unjudged),
            progress=dict(judge.progress),
            read_evidence=judge.ledger.evidence(),
            stall=judge.stall.stall(),
            duration_ms=self._now_ms,
        )

    _HANDLERS: ClassVar[dict[type, Callable[[Any, Any, list[Effect]], None]]] = {
        TurnBegan: _turn_began,
        TurnEnded: _turn_ended,
        CallStarted: _call_started,
        CallDescribed: _call_described,
        ResultReturned: _result_returned,
        AnswerReturned: _answer_returned,
        Compacted: _compacted,
        Evicted: _evicted,
        RequestSent: _request_sent,
        OutputStarted: _output_started,
        RequestEnded: _request_ended,
        TimePassed: _time_passed,
        AttemptEnded: _attempt_ended,
    }
