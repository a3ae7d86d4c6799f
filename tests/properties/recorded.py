"""R16 and R24: outcome and record, by scanning the whole history."""

from __future__ import annotations

from otel_docsfab.core import (
    AnswerReturned,
    AttemptEnded,
    AttemptRecord,
    Code,
    ConcludeNow,
    DeliverResult,
    Denial,
    EvaluateAnswer,
    Outcome,
    ReadEvidence,
    Stall,
    Stop,
    StopAttempt,
    ToolClass,
    TurnEnded,
)
from tests.properties.clock import Clock
from tests.properties.story import is_return, is_unfruitful, most_repeated, tally


class Recorded(Clock):
    """What is left of an attempt."""

    def outcome(self) -> Outcome:
        answers = self.events(AnswerReturned)
        if answers:
            return Outcome.REJECTED if answers[-1].event.valid is False else Outcome.ANSWERED
        if self.stop():
            return Outcome.FAILED
        ended = self.events(AttemptEnded)
        return ended[0].event.outcome if ended else Outcome.OPEN

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
            progress=tally(
                effect.progress for effect in self.effects(DeliverResult, EvaluateAnswer) if effect.progress
            ),
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
        stopped = False
        for fact in self.facts:
            stopped = stopped or isinstance(fact.effect, StopAttempt)
            if isinstance(fact.effect, DeliverResult | EvaluateAnswer) and fact.effect.progress:
                calls, progressed_in = 0, fact.turn
            elif is_unfruitful(fact):
                calls += 1
                longest_calls = max(longest_calls, calls)
            if isinstance(fact.event, TurnEnded) and not stopped:
                longest_turns = max(longest_turns, fact.turn - progressed_in)
        return Stall(
            longest_calls,
            longest_turns,
            most_repeated(f for f in self.facts if is_return(f, ToolClass.READ) and not f.event.ok),
            most_repeated(f for f in self.facts if is_return(f, ToolClass.PROGRESS)),
        )
