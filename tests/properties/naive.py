"""A plain second reading of the rules: one list of facts, and every question answered by scanning all of it.

Written from the rules' text alone. It is slow on purpose: it keeps no count, no set and no flag, only what happened and
what was decided, in order. Where the machine and this page differ, one of them misreads a rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from otel_docsfab.core import (
    SUBMIT_TOOL,
    AnswerPath,
    AnswerReturned,
    AskForAnswer,
    AttemptEnded,
    AttemptRecord,
    CallStarted,
    Category,
    CloseAttempt,
    Code,
    Compacted,
    ConcludeNow,
    DeadlineTurn,
    DeliverResult,
    Denial,
    DenyCall,
    Effect,
    EvaluateAnswer,
    Event,
    Evicted,
    Limits,
    Outcome,
    Output,
    OutputStarted,
    Progress,
    ReadEvidence,
    RequestEnded,
    RequestSent,
    ResultReturned,
    RetryOf,
    Stall,
    Step,
    StepKind,
    Stop,
    StopAttempt,
    TimePassed,
    ToolClass,
    Trigger,
    TurnBegan,
    TurnEnded,
    Unjudged,
    Verdict,
)


class Refused(Exception):  # noqa: N818 - a finding, not a fault
    """The event cannot be taken now."""


@dataclass(frozen=True)
class Setting:
    """What an attempt is set up with."""

    step: Step = Step()
    limits: Limits = Limits()
    number: int = 1
    retry_of: RetryOf | None = None
    timer_ms: int | None = None
    max_results: int = 65_536


@dataclass(frozen=True)
class Fact:
    """Something that happened (``event``) or was decided (``effect``), in the turn ``turn``."""

    turn: int
    event: Event | None = None
    effect: Effect | None = None
    started: CallStarted | None = None  # of a result: the call that returned
    mark: int = 0  # of a started call: asks and stops before it
    due: bool = False  # the ask's time was noticed here
    charged_cross: bool | None = None  # of a notice-only read or a charged denial: to which allowance


FULL = (Verdict.DELIVER, Verdict.DELIVER_WITH_NOTICE)


class Naive:
    """An attempt as the list of its facts."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.facts: list[Fact] = []
        self.now_ms = 0

    # -- in

    def take(self, event: Event, at_ms: int) -> tuple[Effect, ...]:
        """What follows from one more event."""
        if self.closed():
            raise Refused
        if isinstance(event, CallStarted) and event.call in self.running():
            raise Refused
        if isinstance(event, ResultReturned) and event.call not in self.running():
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
                self.turn_ends(asking=False)
                self.add(event)
                self.decide(EvaluateAnswer(self.turn(), event.valid))
            case AttemptEnded():
                self.turn_ends(asking=False)
                self.add(event)
                self.decide(CloseAttempt(self.outcome(), self.code()))
            case Compacted() | Evicted() | RequestSent() | OutputStarted() | RequestEnded():
                self.add(event)
            case TimePassed():
                pass
        return tuple(fact.effect for fact in self.facts[before:] if fact.effect is not None)

    def add(self, event: Event, **more: Any) -> None:
        self.facts.append(Fact(more.pop("turn", self.turn()), event, **more))

    def decide(self, effect: Effect, **more: Any) -> None:
        self.facts.append(Fact(self.turn(), None, effect, **more))

    # -- what happened: one scan a question

    def events(self, *kinds: type) -> list[Fact]:
        return [fact for fact in self.facts if isinstance(fact.event, kinds)]

    def effects(self, *kinds: type) -> list[Any]:
        return [fact.effect for fact in self.facts if isinstance(fact.effect, kinds)]

    def turn(self) -> int:
        return len(self.events(TurnBegan))

    def turn_open(self) -> bool:
        marks = self.events(TurnBegan, TurnEnded)
        return bool(marks) and isinstance(marks[-1].event, TurnBegan)

    def late_results(self) -> bool:
        """Results that came after the turn's end."""
        marks = self.events(TurnEnded, ResultReturned)
        return bool(marks) and isinstance(marks[-1].event, ResultReturned)

    def tool_turns(self) -> set[int]:
        return {fact.turn for fact in self.events(CallStarted)}

    def closed(self) -> bool:
        return bool(self.events(AttemptEnded))

    def answered(self) -> bool:
        return bool(self.events(AnswerReturned))

    def stop(self) -> StopAttempt | None:
        return next(iter(self.effects(StopAttempt)), None)

    def ask(self) -> AskForAnswer | None:
        return next(iter(self.effects(AskForAnswer)), None)

    def mark(self) -> int:
        return len(self.effects(AskForAnswer, StopAttempt))

    def mark_of(self, kind: type) -> int | None:
        """How many asks and stops there were when the first of this kind had been made."""
        made = [type(effect) for effect in self.effects(AskForAnswer, StopAttempt)]
        return made.index(kind) + 1 if kind in made else None

    def denied(self) -> list[DenyCall]:
        return self.effects(DenyCall)

    def running(self) -> dict[Hashable, CallStarted]:
        calls: dict[Hashable, CallStarted] = {}
        for fact in self.facts:
            if isinstance(fact.event, CallStarted):
                calls[fact.event.call] = fact.event
            elif isinstance(fact.effect, DenyCall):
                del calls[fact.effect.call]
            elif isinstance(fact.event, ResultReturned):
                del calls[fact.event.call]
        return calls

    def ran(self) -> int:
        return len(self.events(CallStarted)) - len(self.denied())

    # -- R1 to R13: reads

    def judged_reads(self, upto: int | None = None) -> list[tuple[int, Fact]]:
        """Position and fact of each successful, known read."""
        return [
            (position, fact)
            for position, fact in enumerate(self.facts[:upto])
            if isinstance(fact.event, ResultReturned)
            and fact.event.ok
            and not fact.event.own_notice
            and fact.started is not None
            and fact.started.tool_class is ToolClass.READ
            and isinstance(fact.effect, DeliverResult)
            and fact.effect.unjudged is None
        ]

    def identities(self) -> set[tuple[str, bytes | None, bytes | None]]:
        return {identity(fact) for _, fact in self.judged_reads()}

    def is_reset(self, position: int) -> bool:
        """R10, R11, R29: a successful progress-class call whose tool and arguments had not yet succeeded."""
        fact = self.facts[position]
        return is_progress_success(fact) and not any(
            is_progress_success(earlier) and same_call(earlier, fact) for earlier in self.facts[:position]
        )

    def last_reset(self) -> int:
        return max((i for i in range(len(self.facts)) if self.is_reset(i)), default=-1)

    def epoch_start(self, upto: int | None = None) -> int:
        return max((i for i, f in enumerate(self.facts[:upto]) if isinstance(f.event, Compacted)), default=-1)

    def in_context(self, wanted: object, upto: int | None = None) -> bool:
        """R12, R12a: a full delivery of this epoch that no later eviction names."""
        return any(
            i > self.epoch_start(upto)
            and identity(fact) == wanted
            and fact.effect.verdict in FULL
            and not any(evicts(later, fact) for later in self.facts[i + 1 : upto])
            for i, fact in self.judged_reads(upto)
        )

    def arrivals(self, wanted: object) -> list[tuple[int, Fact]]:
        """The reads that brought this content into the context: new, or free after it had left."""
        return [
            (i, fact)
            for i, fact in self.judged_reads()
            if identity(fact) == wanted and fact.effect.verdict is Verdict.DELIVER
        ]

    def counted_since(self, position: int) -> list[Fact]:
        return [fact for i, fact in self.judged_reads() if i > position and fact.effect.repeats is not None]

    def repeats(self, wanted: object) -> int:
        """Counted re-reads of one result since the newest of: a reset, a compaction, its leaving the context."""
        since = max(self.last_reset(), self.epoch_start(), self.arrivals(wanted)[-1][0])
        return sum(identity(fact) == wanted for fact in self.counted_since(since))

    def cross_result(self) -> int:
        return len(self.counted_since(self.last_reset()))

    def charges(self, *, cross: bool) -> int:
        """Notice-only reads and charged denials since the last reset, by allowance (R7, R19)."""
        return sum(fact.charged_cross is cross for fact in self.facts[self.last_reset() + 1 :])

    def one_result_only(self) -> bool:
        """R15: since the last reset, all counted re-reads were of one result and none left the context."""
        since = self.last_reset()
        left = any(self.made_a_result_leave(i) for i in range(since + 1, len(self.facts)))
        return len({identity(fact) for fact in self.counted_since(since)}) <= 1 and not left

    def made_a_result_leave(self, position: int) -> bool:
        event = self.facts[position].event
        if isinstance(event, Compacted):
            return True
        return isinstance(event, Evicted) and any(
            self.in_context(known, position) and not self.in_context(known, position + 1)
            for known in self.identities()
        )

    def read(self, call: CallStarted, event: ResultReturned) -> tuple[DeliverResult, bool | None]:
        given = DeliverResult(call.call, call.tool, call.tool_class, Verdict.DELIVER, self.turn(), call.subject)
        if call.arguments is None:
            return given._replace(unjudged=call.arguments_reason), None
        if event.result is None:
            return given._replace(unjudged=event.result_reason), None
        wanted = (call.tool, call.arguments, event.result)
        if wanted not in self.identities():
            if len(self.identities()) >= self.setting.max_results:
                return given._replace(unjudged=Unjudged.TOO_MANY_RESULTS), None
            return given._replace(progress=Progress.NEW_CONTENT), None
        if not self.in_context(wanted):
            return given, None
        limits = self.setting.limits
        repeats, cross = self.repeats(wanted) + 1, self.cross_result() + 1
        counted = given._replace(
            first_turn=self.arrivals(wanted)[-1][1].turn, repeats=repeats, cross_result=cross
        )
        if repeats > limits.repeat_streak:
            return counted._replace(verdict=Verdict.NOTICE_ONLY), False
        if cross > limits.unchanged_re_reads:
            return counted._replace(verdict=Verdict.NOTICE_ONLY), True
        return counted._replace(verdict=Verdict.DELIVER_WITH_NOTICE), None

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

    def turn_ends(self, *, asking: bool = True) -> None:
        if not self.turn_open() and not self.late_results():
            return
        stop = None if self.stop() else self.bound_crossed()
        if stop is not None:
            self.decide(stop)
        elif asking and not self.stop() and not self.ask() and not self.answered():
            if self.loop_raised():
                self.decide(AskForAnswer(Trigger.READ_LOOP, self.turn()))
            elif self.due_noticed() and self.tool_turns():
                self.decide(AskForAnswer(self.ask_time()[1], self.turn()))
        self.add(TurnEnded())

    def bound_crossed(self) -> StopAttempt | None:
        limits = self.setting.limits
        by_result, by_cross = self.charges(cross=False), self.charges(cross=True)
        withheld, cross = by_result + by_cross, self.cross_result()
        if withheld > limits.withheld_reads:
            if by_cross > by_result and cross > limits.unchanged_re_reads and not self.one_result_only():
                name, observed, limit = "execution.readLoopUnchangedReReads", cross, limits.unchanged_re_reads
                return self.bound(Code.UNCHANGED_RE_READS, f"{observed} exceeds {name} = {limit}", observed, limit, name)
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

    def asked_of_this_step(self) -> bool:
        return self.setting.step.kind is StepKind.READ_ONLY

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

    def ask_time(self) -> tuple[int, Trigger]:
        step, limits, timer_ms = self.setting.step, self.setting.limits, self.setting.timer_ms
        assert timer_ms is not None
        words = (step.id or "").split("-")
        name = words[0] + "".join(word.capitalize() for word in words[1:])
        tokens = step.answer_tokens or limits.answer_tokens.get(name, limits.default_answer_tokens)
        continuations = ceil(Fraction(tokens, limits.max_output_tokens)) - 1
        reserve = Fraction(tokens * 1_000, limits.decode_tokens_per_second) + limits.turn_latency_ms * (1 + continuations)
        at_ms = max(timer_ms - ceil(reserve), 0)
        share_ms = ceil(Fraction(timer_ms * limits.elapsed_share_bp, 10_000))
        if step.judgment and share_ms < at_ms:
            return share_ms, Trigger.READING_BUDGET
        return at_ms, Trigger.ATTEMPT_DEADLINE

    def due_noticed(self) -> bool:
        return any(fact.due for fact in self.facts)

    def time_passes(self) -> None:
        timer_ms = self.setting.timer_ms
        if timer_ms is None or self.stop() or self.answered():
            return
        if self.asked_of_this_step() and self.now_ms >= self.ask_time()[0] and not self.due_noticed():
            self.facts.append(Fact(self.turn(), due=True))
            if self.tool_turns() and not (self.running() or self.answering() or self.loop_raised() or self.ask()):
                self.decide(AskForAnswer(self.ask_time()[1], self.turn()))
        if self.now_ms >= timer_ms:
            self.timer_fires(timer_ms)

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

    # -- R16, R24: the record

    def outcome(self) -> Outcome:
        answers = self.events(AnswerReturned)
        if answers:
            return Outcome.REJECTED if answers[-1].event.valid is False else Outcome.ANSWERED  # type: ignore[union-attr]
        if self.stop():
            return Outcome.FAILED
        ended = self.events(AttemptEnded)
        return ended[0].event.outcome if ended else Outcome.OPEN  # type: ignore[union-attr]

    def code(self) -> Code | None:
        stop, outcome = self.stop(), self.outcome()
        if outcome is Outcome.FAILED and stop:
            return stop.code
        return Code.ANSWER_REJECTED if outcome is Outcome.REJECTED else None

    def record(self) -> AttemptRecord:
        stop, ask = self.stop(), self.ask()
        reads = [fact.effect for _, fact in self.judged_reads()]
        counted = [read for read in reads if read.repeats is not None]
        delivered = self.effects(DeliverResult)
        return AttemptRecord(
            step_id=self.setting.step.id,
            step_kind=self.setting.step.kind,
            attempt=self.setting.number,
            retry_of=self.setting.retry_of,
            outcome=self.outcome(),
            code=self.code(),
            stop=stop
            and Stop(
                stop.code,
                stop.message,
                stop.observed,
                stop.limit,
                stop.limit_name,
                stop.turn,
                stop.retry_granted and self.outcome() is Outcome.FAILED,
            ),
            conclude_now=ConcludeNow(ask.trigger, ask.turn) if ask else None,
            deadline_turn=stop.deadline_turn if stop else None,
            turns=self.turn(),
            calls=self.ran(),
            denied=tally(deny.reason for deny in self.denied()),
            calls_after_stop=sum(deny.reason is Denial.STOPPED for deny in self.denied()),
            verdicts=tally(read.verdict for read in reads),
            unjudged=tally(effect.unjudged for effect in delivered if effect.unjudged),
            progress=tally(effect.progress for effect in self.effects(DeliverResult, EvaluateAnswer) if effect.progress),
            read_evidence=ReadEvidence(
                len(counted),
                sum(fact.charged_cross is not None for fact in self.facts),
                max(read.repeats for read in counted),
                max(read.cross_result for read in counted),
            )
            if counted
            else None,
            stall=self.stall(),
            duration_ms=self.now_ms,
        )

    def stall(self) -> Stall:
        """R24: the longest stretches between two progresses, and the repeats that stop nothing."""
        longest_calls = calls = longest_turns = progressed_in = 0
        for fact in self.facts:
            if isinstance(fact.effect, DeliverResult | EvaluateAnswer) and fact.effect.progress:
                calls, progressed_in = 0, fact.turn
            elif is_unfruitful(fact):
                calls += 1
                longest_calls = max(longest_calls, calls)
            if isinstance(fact.event, TurnEnded):
                longest_turns = max(longest_turns, fact.turn - progressed_in)
        return Stall(
            longest_calls,
            longest_turns,
            most_repeated(f for f in self.facts if is_return(f, ToolClass.READ) and not f.event.ok),  # type: ignore[union-attr]
            most_repeated(f for f in self.facts if is_return(f, ToolClass.PROGRESS)),
        )


def identity(fact: Fact) -> tuple[str, bytes | None, bytes | None]:
    assert fact.started is not None
    assert isinstance(fact.event, ResultReturned)
    return fact.started.tool, fact.started.arguments, fact.event.result


def same_call(one: Fact, other: Fact) -> bool:
    """Tool and canonical arguments; what is unknown is never the same."""
    assert one.started is not None
    assert other.started is not None
    known = one.started.arguments is not None
    return known and (one.started.tool, one.started.arguments) == (other.started.tool, other.started.arguments)


def is_return(fact: Fact, tool_class: ToolClass) -> bool:
    """A call of this class returned something that is not our own notice."""
    return (
        isinstance(fact.event, ResultReturned)
        and not fact.event.own_notice
        and fact.started is not None
        and fact.started.tool_class is tool_class
    )


def is_progress_success(fact: Fact) -> bool:
    return is_return(fact, ToolClass.PROGRESS) and fact.event.ok  # type: ignore[union-attr]


def is_unfruitful(fact: Fact) -> bool:
    """A call without progress: returned (own notices apart), or denied by anything but a stop."""
    if isinstance(fact.effect, DenyCall):
        return fact.effect.reason is not Denial.STOPPED
    return isinstance(fact.event, ResultReturned) and not fact.event.own_notice


def evicts(later: Fact, delivered: Fact) -> bool:
    call, event = delivered.started, later.event
    assert call is not None
    return isinstance(event, Evicted) and (
        (call.call_id is not None and call.call_id in event.call_ids) or (call.tool, call.arguments) in event.calls
    )


def tally(words: Iterable[Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def most_repeated(facts: Iterable[Fact]) -> int:
    """How often the most repeated call came again."""
    calls = tally((f.started.tool, f.started.arguments) for f in facts if f.started and f.started.arguments is not None)
    return max(calls.values(), default=1) - 1
