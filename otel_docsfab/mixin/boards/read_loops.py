"""Read loops: the board a person on call opens first."""

from __future__ import annotations

from typing import Final

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.core.codes import Outcome, Verdict
from otel_docsfab.mixin.config import MixinConfig
from otel_docsfab.mixin.panels import (
    RANGE,
    RESOLUTION,
    Board,
    Panel,
    Row,
    Target,
    View,
    chosen,
    one,
    trace_condition,
)
from otel_docsfab.mixin.promql import (
    above,
    added,
    but_not,
    count_by,
    counted,
    or_zero,
    quantile,
    rate,
    recorded,
    seen_within,
    share,
    sum_by,
    top,
)
from otel_docsfab.mixin.rules import Rules

_STOPPED: Final = trace_condition("docsfab.stop.code")
_VERDICT_COLOURS: Final = {
    "deliver": "green",
    "deliver-with-notice": "yellow",
    "notice-only": "red",
    "unjudged": "text",
}


def board(config: MixinConfig) -> Board:
    """Are agents looping now, where, what does it cost, do retries rescue it, what changed?"""
    return Board(
        "docsfab-read-loops",
        "DocsFab / Read loops",
        "Are agents looping now, in which step, with which tool; what does it cost; do retries help; what changed?",
        (
            Row("Now", _now(config), height=4),
            Row("Where", _where()),
            Row("What they read", _reads()),
            Row("What follows", _follows()),
            Row("What changed", _changes(Rules(config))),
        ),
    )


def _now(config: MixinConfig) -> tuple[Panel, ...]:
    def stops(enforced: str) -> tuple[Target, ...]:
        return one(or_zero(counted(chosen(m.READ_LOOP_STOPS, {"enforced": enforced}), config.soon)))

    withheld = chosen(m.READ_BYTES, {"verdict": Verdict.NOTICE_ONLY})
    return (
        Panel(
            f"Stopped, last {config.soon}",
            View.STAT,
            stops("true"),
            "Attempts ended for lack of progress. Their step failed unless a retry answered.",
            width=4,
            colours=((1, "orange"),),
            traces=_STOPPED,
        ),
        Panel(
            f"Looping unstopped, last {config.soon}",
            View.STAT,
            stops("false"),
            "Attempts that passed a bound where verdicts are only observed: they go on.",
            width=4,
            colours=((1, "red"),),
            traces=_STOPPED,
        ),
        Panel(
            f"Stopped share, last {config.long}",
            View.STAT,
            one(share(added(chosen(m.READ_LOOP_STOPS), config.long), added(chosen(m.ATTEMPTS), config.long))),
            "Stops as a share of the attempts that ended, observed ones included.",
            unit="percentunit",
            width=4,
            colours=((config.stop_share / 2, "orange"), (config.stop_share, "red")),
            empty="no attempt ended in that time",
        ),
        Panel(
            "Calls after a stop",
            View.STAT,
            one(or_zero(counted(chosen(m.TOOL_CALLS_AFTER_STOP), RANGE))),
            "Tool calls that runtimes made after their attempt was stopped, in the time shown: work for nothing.",
            width=4,
            colours=((1, "orange"),),
        ),
        Panel(
            "Context withheld",
            View.STAT,
            one(or_zero(added(withheld, RANGE))),
            "Bytes of unchanged content that were replaced by a notice, or would have been, in the time shown.",
            unit="bytes",
            width=4,
        ),
        Panel(
            "Retries that answered",
            View.STAT,
            one(share(added(chosen(m.RETRIES, {"outcome": Outcome.ANSWERED}), RANGE), added(chosen(m.RETRIES), RANGE))),
            "Share of the retries after a stop that ended with an answer, in the time shown.",
            unit="percentunit",
            width=4,
            empty="no retry ended in that time",
        ),
    )


def _where() -> tuple[Panel, ...]:
    stops = chosen(m.READ_LOOP_STOPS)
    return (
        Panel(
            "Stops by step and code",
            View.BARS,
            one(counted(stops, RESOLUTION, "step", "code"), "{{step}}: {{code}}", exemplars=True),
            "When it began and which step it is. A point leads to the traces of stopped attempts.",
            width=12,
            traces=_STOPPED,
        ),
        Panel(
            "Where agents were stopped",
            View.TABLE,
            one(top(20, above(counted(stops, RANGE, "step", "agent", "code", "enforced"), 0)), "Stops"),
            "The steps and agents with most stops in the time shown.",
            width=12,
            empty="nobody was stopped in that time",
        ),
    )


def _reads() -> tuple[Panel, ...]:
    withheld = chosen(m.READ_RESULTS, {"verdict": (Verdict.NOTICE_ONLY, Verdict.DELIVER_WITH_NOTICE)})
    return (
        Panel(
            "Tools that re-read unchanged content",
            View.RANKING,
            one(top(10, above(counted(withheld, RANGE, "tool"), 0)), "{{tool}}"),
            "Results that came with a notice or were replaced by one, in the time shown.",
            colours=((1, "orange"),),
            empty="nothing unchanged was re-read in that time",
        ),
        Panel(
            "Reads by verdict",
            View.PERCENT,
            one(sum_by(rate(chosen(m.READ_RESULTS), RESOLUTION), "verdict"), "{{verdict}}"),
            "What became of the results of read-class tools.",
            colour_of=_VERDICT_COLOURS,
            empty="no read-class tool was called",
        ),
        Panel(
            "Bytes by verdict",
            View.AREA,
            one(sum_by(rate(chosen(m.READ_BYTES), RESOLUTION), "verdict"), "{{verdict}}"),
            "Bytes of the results; notice-only is context saved where it is enforced.",
            unit="Bps",
            colour_of=_VERDICT_COLOURS,
        ),
    )


def _follows() -> tuple[Panel, ...]:
    return (
        Panel(
            "Retries by outcome",
            View.BARS,
            one(counted(chosen(m.RETRIES), RESOLUTION, "outcome"), "{{outcome}}", exemplars=True),
            "How the retries after a stop ended.",
        ),
        Panel(
            "Calls after a stop, by step",
            View.BARS,
            one(counted(chosen(m.TOOL_CALLS_AFTER_STOP), RESOLUTION, "step"), "{{step}}"),
            "Runtimes that do not end when they are told to.",
        ),
        Panel(
            "Largest repeat count, by step",
            View.LINES,
            one(quantile(0.95, chosen(m.ATTEMPT_MAX_REPEATS, part="bucket"), RESOLUTION, "step"), "{{step}}"),
            "How often the most repeated result came back, in 95 of 100 attempts at most.",
            empty="no attempt ended in that time",
        ),
    )


def _changes(rules: Rules) -> tuple[Panel, ...]:
    attempts = chosen(m.ATTEMPTS)
    names = ("step", "agent", "model")

    def stopped(offset: str) -> tuple[Target, ...]:
        legend = f"{offset} ago" if offset else "Now"
        return one(recorded(rules.stop_share, {"job": "$job", "step": "$step"}, offset=offset), legend)

    return (
        Panel(
            "Stopped share by step: now, an hour, a day and a week ago",
            View.TABLE,
            (*stopped(""), *stopped("1h"), *stopped("1d"), *stopped("1w")),
            "A step that is worse than it was has a new prompt, model or tool.",
            unit="percentunit",
            width=12,
            empty="no attempt ended in the last hour",
        ),
        Panel(
            "New in the last hour",
            View.TABLE,
            one(
                but_not(count_by(attempts, *names), count_by(seen_within(attempts, "1d", offset="1h"), *names)),
                "Series",
            ),
            "Steps, agents and models that were not there in the day before.",
            width=6,
            empty="nothing is new",
        ),
        Panel(
            "Attempts by model",
            View.AREA,
            one(sum_by(rate(attempts, RESOLUTION), "model"), "{{model}}"),
            "A change of model shows here at the minute.",
            unit="cps",
            width=6,
        ),
    )
