"""The attempt machine: events in, effects out, time as an argument.

Every rule of SPEC sections 3 to 7 is applied here, for one attempt; the counting is the ledger's. The machine does no
input or output, keeps digests and counts only, and takes constant time an event. A refused event changes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from otel_docsfab.core import deadline, wording
from otel_docsfab.core.codes import (
    FINDINGS,
    AnswerPath,
    Code,
    Denial,
    Outcome,
    Progress,
    RetryOf,
    StepKind,
    ToolClass,
    Trigger,
    Unjudged,
    Verdict,
)
from otel_docsfab.core.effects import (
    AskForAnswer,
    CloseAttempt,
    DeliverResult,
    DenyCall,
    Effect,
    EvaluateAnswer,
    StopAttempt,
)
from otel_docsfab.core.events import (
    AnswerReturned,
    AttemptEnded,
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
from otel_docsfab.core.identity import call_key, result_key
from otel_docsfab.core.ledger import Ledger
from otel_docsfab.core.limits import Limits
from otel_docsfab.core.record import AttemptRecord, ConcludeNow, ReadEvidence, Stop
from otel_docsfab.core.reserve import ask_time
from otel_docsfab.core.retry import retry_granted
from otel_docsfab.core.stall import StallMeter
from otel_docsfab.core.steps import UNDECLARED, Step
from otel_docsfab.core.tools import DOCSFAB_TOOLS, SUBMIT_TOOL, Toolset
from otel_docsfab.errors import RefusedEvent

MAX_RESULTS: Final = 65_536
_TRIGGER_DENIALS: Final = {trigger: Denial(trigger.value) for trigger in Trigger}


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
    """

    def __init__(  # noqa: PLR0913 - one attempt has that many facts
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
        self._retries_used = retries_used if retries_used is not None else (number - 1 if retry_of else 0)
        self._max_results = max_results
        self._now_ms = 0
        self._ask_time = ask_time(self.step, timer_ms, self.limits)
        self._ledger = Ledger(self.limits, max_results)
        self._stall = StallMeter(max_results)
        self._request = deadline.RequestState()
        self._open: dict[Hashable, CallStarted] = {}
        self._done_progress: set[bytes] = set()
        self._ran = 0
        self._tool_turns = 0
        self._turn_open = False
        self._turn_called = False
        self._submit_ran = False
        self._loop_ask = False  # this turn had a retry's first notice-only read
        self._loop_ask_by_cross = False
        self._time_ask: Trigger | None = None  # its time has come, it waits for the turn's end
        self._ask: ConcludeNow | None = None
        self._ask_mark = 0
        self._stop: StopAttempt | None = None
        self._stop_mark = 0
        self._outcome = Outcome.OPEN
        self._closed = False
        self._calls_after_stop = 0
        self._denied: dict[Denial, int] = {}
        self._verdicts: dict[Verdict, int] = {}
        self._unjudged: dict[Unjudged, int] = {}
        self._progress: dict[Progress, int] = {}

    # ------------------------------------------------------------------ in

    def apply(self, event: Event, at_ms: int) -> tuple[Effect, ...]:
        """Take one event.

        Args:
            event: What happened.
            at_ms: When, ms since the attempt began, >= 0; a time before the newest one counts as the newest.

        Returns:
            What is to be done, in order.

        Raises:
            RefusedEvent: The event cannot be taken now. The state is unchanged.
        """
        handler = _HANDLERS.get(type(event))
        if handler is None or at_ms < 0:
            raise RefusedEvent(f"no event of an attempt, or no time: {type(event).__name__} at {at_ms} ms")
        self._refuse(event)
        effects: list[Effect] = []
        if at_ms > self._now_ms:
            self._now_ms = at_ms
        if self.timer_ms is not None:
            self._watch_time(effects)
        handler(self, event, effects)
        return tuple(effects)

    def _refuse(self, event: Event) -> None:
        if self._closed:
            raise RefusedEvent(f"{type(event).__name__}: the attempt is closed")
        if type(event) is CallStarted:
            if event.call in self._open:
                raise RefusedEvent("CallStarted: a call of this key is running")
        elif type(event) is ResultReturned and event.call not in self._open:
            raise RefusedEvent("ResultReturned: no call of this key is running")

    # --------------------------------------------------------------- turns

    def _turn_began(self, _: TurnBegan, effects: list[Effect]) -> None:
        self._end_turn(effects)
        self.turn += 1
        self._turn_open = True
        self._turn_called = False
        self._submit_ran = False

    def _turn_ended(self, _: TurnEnded, effects: list[Effect]) -> None:
        self._end_turn(effects)

    def _end_turn(self, effects: list[Effect], *, may_ask: bool = True) -> None:
        """Look at the bounds, on the counts as they now are (R14); an answer needs no ask."""
        if not self._turn_open:
            return
        self._turn_open = False
        self._stall.turn_ended(self.turn)
        loop_ask, self._loop_ask = self._loop_ask, False
        if self._stop is not None:
            return
        stop = self._bound_crossed()
        if stop is not None:
            self._raise_stop(stop, effects)
        elif not may_ask or self._ask is not None:
            return
        elif loop_ask:
            self._raise_ask(Trigger.READ_LOOP, effects)
        elif self._time_ask is not None and self._tool_turns:
            self._raise_ask(self._time_ask, effects)

    def _bound_crossed(self) -> StopAttempt | None:
        ledger, limits = self._ledger, self.limits
        withheld = ledger.withheld_since_reset
        if withheld > limits.withheld_reads:
            cross = ledger.cross_result
            if (
                ledger.withheld_by_cross > ledger.withheld_by_result
                and cross > limits.unchanged_re_reads
                and not ledger.one_result_only
            ):
                return self._stop_of(
                    Code.UNCHANGED_RE_READS,
                    cross,
                    "execution.readLoopUnchangedReReads",
                    limits.unchanged_re_reads,
                )
            return self._stop_of(
                Code.WITHHELD_READS,
                withheld,
                "execution.readLoopWithheldReads",
                limits.withheld_reads,
            )
        if self._ran >= limits.tool_call_ceiling:
            return self._stop_of(
                Code.TOOL_CALL_CEILING,
                self._ran,
                "execution.toolCallCeiling",
                limits.tool_call_ceiling,
            )
        return None

    def _stop_of(self, code: Code, observed: int, limit_name: str, limit: int) -> StopAttempt:
        return StopAttempt(
            code=code,
            category=FINDINGS[code].category,
            message=wording.bound_message(code, observed, limit_name, limit),
            detail=wording.stop_detail(code, self._ledger.most_read),
            observed=observed,
            limit=limit,
            limit_name=limit_name,
            turn=self.turn,
            retry_granted=retry_granted(code, self._retries_used, self.limits) is not None,
        )

    def _raise_stop(self, stop: StopAttempt, effects: list[Effect]) -> None:
        self.mark += 1
        self._stop, self._stop_mark = stop, self.mark
        effects.append(stop)

    def _raise_ask(self, trigger: Trigger, effects: list[Effect]) -> None:
        self.mark += 1
        self._ask, self._ask_mark = ConcludeNow(trigger, self.turn), self.mark
        self._time_ask = None
        effects.append(AskForAnswer(trigger, self.turn))

    # --------------------------------------------------------------- calls

    def _call_started(self, event: CallStarted, effects: list[Effect]) -> None:
        if not self._turn_open:
            self._turn_began(TurnBegan(), effects)
        if not self._turn_called:
            self._turn_called = True
            self._tool_turns += 1
        reason = self._denial(event)
        if reason is None:
            self._ran += 1
            self._open[event.call] = event
            return
        if reason is Denial.STOPPED:
            self._calls_after_stop += 1
        else:
            if reason is Denial.READ_LOOP:
                self._ledger.withhold(by_cross=self._loop_ask_by_cross)
            self._stall.call(None, self.turn)
        self._denied[reason] = self._denied.get(reason, 0) + 1
        effects.append(DenyCall(event.call, event.tool, self.turn, reason))

    def _denial(self, event: CallStarted) -> Denial | None:
        """Why a call must not run: a stop, an ask it is later than, or the ceiling (R16, R17, R19, R22)."""
        mark = self.mark if event.mark is None else event.mark
        if self._stop is not None and mark >= self._stop_mark:
            return Denial.STOPPED
        if self._ask is not None and mark >= self._ask_mark:
            trigger = self._ask.trigger
            if (
                trigger is Trigger.READ_LOOP
                or self.step.answer_path is not AnswerPath.TOOL_CALL
                or event.tool != SUBMIT_TOOL
                or self._submit_ran
            ):
                return _TRIGGER_DENIALS[trigger]
            self._submit_ran = True
        if self._ran >= self.limits.tool_call_ceiling:
            return Denial.CEILING
        return None

    def _result_returned(self, event: ResultReturned, effects: list[Effect]) -> None:
        call = self._open.pop(event.call)
        self._turn_open = True  # a late result is looked at when the turn ends again
        if event.own_notice:
            effects.append(self._delivered(call))
        elif not event.ok:
            if call.tool_class is not ToolClass.NEUTRAL and call.arguments is not None:
                key = call_key(call.tool, call.arguments)
                self._stall.repeated(key, failed_read=call.tool_class is ToolClass.READ)
            self._finish(self._delivered(call, ok=False), effects)
        elif call.tool_class is ToolClass.READ:
            self._finish(self._read(call, event), effects)
        elif call.tool_class is ToolClass.PROGRESS:
            self._finish(self._delivered(call, progress=self._progress_call(call)), effects)
        else:
            self._finish(self._delivered(call, progress=Progress.NEUTRAL_RESULT), effects)

    def _delivered(
        self,
        call: CallStarted,
        *,
        ok: bool = True,
        progress: Progress | None = None,
        unjudged: Unjudged | None = None,
    ) -> DeliverResult:
        return DeliverResult(
            call.call,
            call.tool,
            call.tool_class,
            Verdict.DELIVER,
            self.turn,
            call.subject,
            unjudged=unjudged,
            progress=progress,
            ok=ok,
        )

    def _finish(self, effect: DeliverResult, effects: list[Effect]) -> None:
        if effect.progress is not None:
            self._progress[effect.progress] = self._progress.get(effect.progress, 0) + 1
        self._stall.call(effect.progress, self.turn)
        effects.append(effect)

    def _progress_call(self, call: CallStarted) -> Progress | None:
        """Reset the counts for a new one (R10); an identical one leaves them (R11)."""
        if call.arguments is None:
            self._ledger.reset()  # R29: counts as new, but is no progress
            return None
        key = call_key(call.tool, call.arguments)
        self._stall.repeated(key, failed_read=False)
        if key in self._done_progress:
            return None
        if len(self._done_progress) < self._max_results:
            self._done_progress.add(key)
        self._ledger.reset()
        return Progress.PROGRESS_CALL

    def _read(self, call: CallStarted, event: ResultReturned) -> DeliverResult:
        if call.arguments is None:
            return self._not_judged(call, call.arguments_reason)
        if event.result is None:
            return self._not_judged(call, event.result_reason)
        called = call_key(call.tool, call.arguments)
        key = result_key(called, event.result)
        ledger = self._ledger
        read = ledger.read(key, called, call.call_id, self.turn, call.tool, call.subject)
        if read is None:
            return self._not_judged(call, Unjudged.TOO_MANY_RESULTS)
        verdict = read.verdict
        self._verdicts[verdict] = self._verdicts.get(verdict, 0) + 1
        if verdict is Verdict.NOTICE_ONLY and not self._loop_ask and self._may_ask_for_loop():
            self._loop_ask = True
            self._loop_ask_by_cross = read.repeats is not None and (read.repeats <= self.limits.repeat_streak)
        return DeliverResult(
            call.call,
            call.tool,
            call.tool_class,
            verdict,
            self.turn,
            call.subject,
            read.first_turn,
            read.repeats,
            read.cross_result,
            None,
            Progress.NEW_CONTENT if read.new else None,
        )

    def _may_ask_for_loop(self) -> bool:
        """Only a retry of R17, of a step declared read-only, is asked for a loop, and once (R18, R20)."""
        return (
            self.retry_of is not None
            and self.step.kind is StepKind.READ_ONLY
            and self._ask is None
            and self._stop is None
        )

    def _not_judged(self, call: CallStarted, reason: Unjudged) -> DeliverResult:
        self._unjudged[reason] = self._unjudged.get(reason, 0) + 1
        return self._delivered(call, unjudged=reason)

    # --------------------------------------------- answers, context, ending

    def _answer_returned(self, event: AnswerReturned, effects: list[Effect]) -> None:
        self._end_turn(effects, may_ask=False)
        self._outcome = Outcome.REJECTED if event.valid is False else Outcome.ANSWERED
        self._progress[Progress.ANSWER] = self._progress.get(Progress.ANSWER, 0) + 1
        self._stall.progressed(self.turn)
        self._request.ended()
        effects.append(EvaluateAnswer(self.turn, event.valid))

    def _compacted(self, _: Compacted, __: list[Effect]) -> None:
        self._ledger.compact()

    def _evicted(self, event: Evicted, _: list[Effect]) -> None:
        for call_id in event.call_ids:
            self._ledger.evict_call(call_id)
        for tool, arguments in event.calls:
            self._ledger.evict_results_of(call_key(tool, arguments))

    def _request_sent(self, event: RequestSent, _: list[Effect]) -> None:
        self._request.sent(output_visible=event.output_visible)

    def _output_started(self, event: OutputStarted, _: list[Effect]) -> None:
        self._request.output(event.kind)

    def _request_ended(self, _: RequestEnded, __: list[Effect]) -> None:
        self._request.ended()

    def _time_passed(self, _: TimePassed, __: list[Effect]) -> None:
        """Nothing: ``apply`` watches the time before each event."""

    def _attempt_ended(self, event: AttemptEnded, effects: list[Effect]) -> None:
        self._end_turn(effects, may_ask=False)
        self._closed = True
        if self._outcome is Outcome.OPEN:
            self._outcome = Outcome.FAILED if self._stop is not None else event.outcome
        self._open.clear()
        effects.append(CloseAttempt(self.outcome, self.code))

    # ---------------------------------------------------------------- time

    def _watch_time(self, effects: list[Effect]) -> None:
        """Ask when the ask's time has come, stop when the timer fires (R20 to R23)."""
        if self._outcome is not Outcome.OPEN or self._stop is not None:
            return
        if self.timer_ms is not None and self._now_ms >= self.timer_ms:
            self._deadline(self.timer_ms, effects)
            return
        due = self._ask_time
        if due is None or self._now_ms < due.at_ms:
            return
        self._ask_time = None
        if self._ask is not None:
            return
        self._time_ask = due.trigger
        if self._tool_turns and not (self._open or self._loop_ask or self._request.answering):
            self._raise_ask(due.trigger, effects)

    def _deadline(self, timer_ms: int, effects: list[Effect]) -> None:
        position = self._request.position()
        code = deadline.deadline_code(
            position,
            asked=self._ask is not None,
            any_tool_turn=self._tool_turns > 0,
            earlier_tool_turn=self._tool_turns > (self._turn_open and self._turn_called),
        )
        name = "compositionExecution.timeoutMs"
        stop = StopAttempt(
            code=code,
            category=FINDINGS[code].category,
            message=wording.deadline_message(code, timer_ms, name),
            detail="",
            observed=self._now_ms,
            limit=timer_ms,
            limit_name=name,
            turn=self.turn,
            deadline_turn=position,
        )
        self._raise_stop(stop, effects)

    def next_wakeup_ms(self) -> int | None:
        """When time alone can change something: the ask or the timer, ms since the attempt began; None for never."""
        if self.timer_ms is None or self._outcome is not Outcome.OPEN or self._stop is not None:
            return None
        if self._ask_time is not None and self._ask is None:
            return min(self._ask_time.at_ms, self.timer_ms)
        return self.timer_ms

    # ----------------------------------------------------------------- out

    @property
    def outcome(self) -> Outcome:
        """How the attempt ended; ``failed`` once stopped, unless an answer came (R16)."""
        if self._outcome is Outcome.OPEN and self._stop is not None:
            return Outcome.FAILED
        return self._outcome

    @property
    def code(self) -> Code | None:
        """Why the attempt failed; None unless it did."""
        outcome = self.outcome
        if outcome is Outcome.FAILED and self._stop is not None:
            return self._stop.code
        return Code.ANSWER_REJECTED if outcome is Outcome.REJECTED else None

    @property
    def stopped(self) -> StopAttempt | None:
        """The stop that was raised."""
        return self._stop

    @property
    def asked(self) -> ConcludeNow | None:
        """The ask that was made."""
        return self._ask

    @property
    def running(self) -> int:
        """Calls in flight."""
        return len(self._open)

    @property
    def closed(self) -> bool:
        """Whether the attempt has ended."""
        return self._closed

    def record(self) -> AttemptRecord:
        """What is known of the attempt so far (R24)."""
        ledger, stop = self._ledger, self._stop
        evidence = None
        if ledger.unchanged_re_reads:
            evidence = ReadEvidence(
                ledger.unchanged_re_reads,
                ledger.withheld,
                ledger.max_repeats,
                ledger.max_cross_result,
            )
        return AttemptRecord(
            step_id=self.step.id,
            step_kind=self.step.kind,
            attempt=self.number,
            retry_of=self.retry_of,
            outcome=self.outcome,
            code=self.code,
            stop=stop
            and Stop(
                stop.code,
                stop.message,
                stop.observed,
                stop.limit,
                stop.limit_name,
                stop.turn,
                stop.retry_granted and self.outcome is Outcome.FAILED,
            ),
            conclude_now=self._ask,
            deadline_turn=stop.deadline_turn if stop else None,
            turns=self.turn,
            calls=self._ran,
            denied=dict(self._denied),
            calls_after_stop=self._calls_after_stop,
            verdicts=dict(self._verdicts),
            unjudged=dict(self._unjudged),
            progress=dict(self._progress),
            read_evidence=evidence,
            stall=self._stall.stall(),
            duration_ms=self._now_ms,
        )


_HANDLERS: Final[dict[type, Any]] = {
    TurnBegan: AttemptMachine._turn_began,  # noqa: SLF001 - the machine's own table
    TurnEnded: AttemptMachine._turn_ended,  # noqa: SLF001
    CallStarted: AttemptMachine._call_started,  # noqa: SLF001
    ResultReturned: AttemptMachine._result_returned,  # noqa: SLF001
    AnswerReturned: AttemptMachine._answer_returned,  # noqa: SLF001
    Compacted: AttemptMachine._compacted,  # noqa: SLF001
    Evicted: AttemptMachine._evicted,  # noqa: SLF001
    RequestSent: AttemptMachine._request_sent,  # noqa: SLF001
    OutputStarted: AttemptMachine._output_started,  # noqa: SLF001
    RequestEnded: AttemptMachine._request_ended,  # noqa: SLF001
    TimePassed: AttemptMachine._time_passed,  # noqa: SLF001
    AttemptEnded: AttemptMachine._attempt_ended,  # noqa: SLF001
}
