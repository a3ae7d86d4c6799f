"""A plain second reading of the rules: one list of facts, and every question answered by scanning all of it.

Written from the rules' text alone. It is slow on purpose: it keeps no count, no set and no flag, only what happened and
what was decided, in order (``story``). Reads, time and the record have a page each; here is what follows from an event.
Where the machine and these pages differ, one of them misreads a rule.
"""

from __future__ import annotations

from dataclasses import replace

from otel_docsfab.core import (
    SUBMIT_TOOL,
    AnswerPath,
    AnswerReturned,
    AskForAnswer,
    AttemptEnded,
    CallDescribed,
    CallStarted,
    Category,
    CloseAttempt,
    Code,
    Compacted,
    DeadlineTurn,
    DeliverResult,
    Denial,
    DenyCall,
    Effect,
    EvaluateAnswer,
    Event,
    Evicted,
    OutputStarted,
    Progress,
    RequestEnded,
    RequestSent,
    ResultReturned,
    StopAttempt,
    TimePassed,
    ToolClass,
    Trigger,
    TurnBegan,
    TurnEnded,
    Verdict,
)
from tests.properties.recorded import Recorded
from tests.properties.story import Fact, is_progress_success


class Refused(Exception):  # noqa: N818 - a finding, not a fault
    """The event cannot be taken now."""


class Naive(Recorded):
    """Takes events; decides what follows."""

    def take(self, event: Event, at_ms: int) -> tuple[Effect, ...]:  # noqa: C901 - one arm an event
        """What follows from one more event."""
        if self.closed():
            raise Refused
        if isinstance(event, CallStarted) and event.call in self.running():
            raise Refused
        if isinstance(event, ResultReturned | CallDescribed) and event.call not in self.running():
            raise Refused
        before = len(self.facts)
        self.now_ms = max(self.now_ms, at_ms)
        self.time_passes()
        match event:
            case TurnBegan():
                self.turn_begins()
            case TurnEnded():
                self.turn_ends(asking=not self.answering())
            case CallStarted():
                self.call_starts(event)
            case ResultReturned():
                self.result_returns(event)
            case AnswerReturned():
                self.turn_ends(asking=False, answering=True)
                self.add(event)
                self.decide(EvaluateAnswer(self.turn(), event.valid))
            case AttemptEnded():
                self.turn_ends(asking=False)
                self.add(event)
                self.decide(CloseAttempt(self.outcome(), self.code()))
            case CallDescribed() | Compacted() | Evicted() | RequestSent() | OutputStarted() | RequestEnded():
                self.add(event)
            case TimePassed():
                pass
        return tuple(fact.effect for fact in self.facts[before:] if fact.effect is not None)

    # -- calls

    def call_starts(self, event: CallStarted) -> None:
        if not self.turn_open():
            self.turn_begins()
        mark = self.mark() if event.mark is None else event.mark
        reason = self.denial(event, mark)
        self.add(event, mark=mark)
        if reason is not None:
            charged = self.ask_was_for_cross() if reason is Denial.READ_LOOP else None
            self.decide(DenyCall(event.call, event.tool, self.turn(), reason), charged_cross=charged)

    def denial(self, event: CallStarted, mark: int) -> Denial | None:
        """R16, then R19 and R22, then R17."""
        stop_mark, ask_mark, ask = self.mark_of(StopAttempt), self.mark_of(AskForAnswer), self.ask()
        if stop_mark is not None and mark >= stop_mark:
            return Denial.STOPPED
        if ask is not None and ask_mark is not None and mark >= ask_mark and not self.submit_runs(event, ask):
            return Denial(ask.trigger.value)
        if self.ran() >= self.setting.limits.tool_call_ceiling:
            return Denial.CEILING
        return None

    def submit_runs(self, event: CallStarted, ask: AskForAnswer) -> bool:
        """R22: on the tool-call path, the first submit call of a turn, unless the ask was R18's."""
        return (
            ask.trigger is not Trigger.READ_LOOP
            and self.setting.step.answer_path is AnswerPath.TOOL_CALL
            and event.tool == SUBMIT_TOOL
            and not any(
                isinstance(fact.event, CallStarted) and fact.event.tool == SUBMIT_TOOL and fact.turn == self.turn()
                for fact in self.facts
            )
        )

    def ask_was_for_cross(self) -> bool | None:
        """The allowance that the first notice-only read of the asking turn was charged to."""
        ask = self.ask()
        assert ask is not None
        return next(
            fact.charged_cross
            for fact in self.facts
            if isinstance(fact.event, ResultReturned) and fact.turn == ask.turn and fact.charged_cross is not None
        )

    def result_returns(self, event: ResultReturned) -> None:
        call = self.running()[event.call]
        effect = DeliverResult(call.call, call.tool, call.tool_class, Verdict.DELIVER, self.turn(), call.subject)
        charged = None
        if event.own_notice:
            pass
        elif not event.ok:
            effect = effect._replace(ok=False)
        elif call.tool_class is ToolClass.READ:
            effect, charged = self.read(call, event)
        elif call.tool_class is ToolClass.NEUTRAL:
            effect = effect._replace(progress=Progress.NEUTRAL_RESULT)
        self.facts.append(Fact(self.turn(), event, effect, call, charged_cross=charged))
        if is_progress_success(self.facts[-1]) and call.arguments is not None and self.is_reset(len(self.facts) - 1):
            self.facts[-1] = replace(self.facts[-1], effect=effect._replace(progress=Progress.PROGRESS_CALL))

    # -- R14 to R18: the end of a turn

    def turn_begins(self) -> None:
        self.turn_ends()
        self.add(TurnBegan(), turn=self.turn() + 1)

    def turn_ends(self, *, asking: bool = True, answering: bool = False) -> None:
        if not self.turn_open() and not self.late_results():
            return
        decision = self.decision(asking=asking)
        self.add(TurnEnded())
        if isinstance(decision, StopAttempt) and (answering or self.answered()):
            decision = decision._replace(retry_granted=False)  # R16: no retry follows
        if decision is not None:
            self.decide(decision)

    def decision(self, *, asking: bool) -> StopAttempt | AskForAnswer | None:
        if self.stop():
            return None
        stop = self.bound_crossed()
        if stop is not None:
            return stop
        if not asking or self.ask() or self.answered():
            return None
        if self.loop_raised():
            return AskForAnswer(Trigger.READ_LOOP, self.turn())
        if self.due_noticed() and self.tool_turns():
            return AskForAnswer(self.ask_time()[1], self.turn())
        return None

    def bound_crossed(self) -> StopAttempt | None:
        limits = self.setting.limits
        by_result, by_cross = self.charges(cross=False), self.charges(cross=True)
        withheld, cross = by_result + by_cross, self.cross_result()
        if withheld > limits.withheld_reads:
            if by_cross > by_result and cross > limits.unchanged_re_reads and not self.one_result_only():
                name, observed, limit = "execution.readLoopUnchangedReReads", cross, limits.unchanged_re_reads
                return self.bound(
                    Code.UNCHANGED_RE_READS, f"{observed} exceeds {name} = {limit}", observed, limit, name
                )
            name, limit = "execution.readLoopWithheldReads", limits.withheld_reads
            return self.bound(Code.WITHHELD_READS, f"{withheld} exceeds {name} = {limit}", withheld, limit, name)
        if self.ran() >= limits.tool_call_ceiling:
            name, limit = "execution.toolCallCeiling", limits.tool_call_ceiling
            return self.bound(Code.TOOL_CALL_CEILING, f"{self.ran()} reaches {name} = {limit}", self.ran(), limit, name)
        return None

    def bound(self, code: Code, words: str, observed: int, limit: int, name: str) -> StopAttempt:
        used = self.setting.number - 1 if self.setting.retry_of else 0
        return StopAttempt(
            code=code,
            category=Category.NO_PROGRESS,
            message=f"{code.value}: {words} count.",
            detail="",
            observed=observed,
            limit=limit,
            limit_name=name,
            turn=self.turn(),
            retry_granted=used < self.setting.limits.max_no_progress_retries,
        )

    def loop_raised(self) -> bool:
        """R18: a notice-only read since the turn began or was last looked at, in a retry of a read-only step."""
        if self.setting.retry_of is None or not self.asked_of_this_step():
            return False
        ends = [i for i, fact in enumerate(self.facts) if isinstance(fact.event, TurnBegan | TurnEnded)]
        begun = max(ends, default=-1) + 1
        return any(
            isinstance(fact.effect, DeliverResult) and fact.effect.verdict is Verdict.NOTICE_ONLY
            for fact in self.facts[begun:]
        )

    # -- R20 to R23: time

    def time_passes(self) -> None:
        timer_ms = self.setting.timer_ms
        if timer_ms is None or self.stop() or self.answered():
            return
        if self.now_ms >= timer_ms:
            self.timer_fires(timer_ms)
        elif self.asked_of_this_step() and self.now_ms >= self.ask_time()[0] and not self.due_noticed():
            self.facts.append(Fact(self.turn(), due=True))
            if self.tool_turns() and not (self.running() or self.answering() or self.loop_raised() or self.ask()):
                self.decide(AskForAnswer(self.ask_time()[1], self.turn()))

    def timer_fires(self, timer_ms: int) -> None:
        position = self.position()
        earlier = self.tool_turns() - ({self.turn()} if self.turn_open() else set())
        if position is DeadlineTurn.AWAITING_FIRST_BYTE:
            code, category = Code.DEADLINE_AWAITING_PROVIDER, Category.PROVIDER_STALL
        elif position is DeadlineTurn.STREAMING_ANSWER or (
            position is not DeadlineTurn.BETWEEN_REQUESTS and self.ask()
        ):
            code, category = Code.TIMEOUT, Category.TIMEOUT
        elif self.tool_turns() if position is DeadlineTurn.BETWEEN_REQUESTS else earlier:
            code, category = Code.DEADLINE_IN_TOOL_LOOP, Category.NO_PROGRESS
        else:
            code, category = Code.TIMEOUT, Category.TIMEOUT
        name = "compositionExecution.timeoutMs"
        self.decide(
            StopAttempt(
                code=code,
                category=category,
                message="",
                detail="",
                observed=self.now_ms,
                limit=timer_ms,
                limit_name=name,
                turn=self.turn(),
                deadline_turn=position,
            )
        )
