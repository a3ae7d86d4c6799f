"""R1 to R13 and R29 by scanning the whole history."""

from __future__ import annotations

from otel_docsfab.core import (
    CallStarted,
    Compacted,
    DeliverResult,
    Evicted,
    Progress,
    ResultReturned,
    ToolClass,
    Unjudged,
    Verdict,
)
from tests.properties.story import FULL, Fact, Story, evicts, identity, is_progress_success, same_call


class Reads(Story):
    """R1 to R13, R29: what a read is, by scanning all reads before it."""

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
            self.in_context(known, position) and not self.in_context(known, position + 1) for known in self.identities()
        )

    def read(self, call: CallStarted, event: ResultReturned) -> tuple[DeliverResult, bool | None]:
        given = DeliverResult(call.call, call.tool, call.tool_class, Verdict.DELIVER, self.turn(), call.subject)
        unknown = call.arguments_reason if call.arguments is None else event.result_reason
        if call.arguments is None or event.result is None:
            return given._replace(unjudged=unknown), None
        wanted = (call.tool, call.arguments, event.result)
        if wanted not in self.identities():
            full = len(self.identities()) >= self.setting.max_results
            new = {"unjudged": Unjudged.TOO_MANY_RESULTS} if full else {"progress": Progress.NEW_CONTENT}
            return given._replace(**new), None
        if not self.in_context(wanted):
            return given, None
        limits = self.setting.limits
        repeats, cross = self.repeats(wanted) + 1, self.cross_result() + 1
        counted = given._replace(first_turn=self.arrivals(wanted)[-1][1].turn, repeats=repeats, cross_result=cross)
        if repeats > limits.repeat_streak:
            return counted._replace(verdict=Verdict.NOTICE_ONLY), False
        if cross > limits.unchanged_re_reads:
            return counted._replace(verdict=Verdict.NOTICE_ONLY), True
        return counted._replace(verdict=Verdict.DELIVER_WITH_NOTICE), None
