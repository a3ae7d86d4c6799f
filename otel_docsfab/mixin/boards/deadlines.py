"""Deadlines and answers: who runs out of time, and which answers come from partial reading."""

from __future__ import annotations

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.catalogue.attributes import DEADLINE_CODES
from otel_docsfab.core.codes import Code, Outcome
from otel_docsfab.mixin.alerts import ASK_DENIALS
from otel_docsfab.mixin.config import MixinConfig
from otel_docsfab.mixin.panels import (
    RANGE,
    RESOLUTION,
    Board,
    Panel,
    Row,
    View,
    chosen,
    one,
    trace_condition,
)
from otel_docsfab.mixin.promql import above, added, counted, or_zero, quantile, rate, share, sum_by, top


def board(config: MixinConfig) -> Board:
    """Which attempts does the timer end, which answers were asked for early, are asks obeyed?"""
    return Board(
        "docsfab-deadlines-and-answers",
        "DocsFab / Deadlines and answers",
        "Which attempts does the timer end, and where; which answers come from partial reading; are asks obeyed?",
        (
            Row("Now", _now(config), height=4),
            Row("Timers", _timers()),
            Row("Early answers", _asks()),
            Row("Outcomes", _outcomes()),
        ),
    )


def _now(config: MixinConfig) -> tuple[Panel, ...]:
    attempts = added(chosen(m.ATTEMPTS), config.long)
    asks = added(chosen(m.CONCLUDE_NOW_ASKS), config.long)
    stalls = chosen(m.ATTEMPT_DEADLINES, {"code": Code.DEADLINE_AWAITING_PROVIDER})
    in_loop = chosen(m.ATTEMPTS, {"code": Code.DEADLINE_IN_TOOL_LOOP})
    timed = chosen(m.ATTEMPTS, {"code": DEADLINE_CODES})
    rejected = chosen(m.ATTEMPTS, {"outcome": Outcome.REJECTED})
    denied = chosen(m.TOOL_CALLS_DENIED, {"trigger": ASK_DENIALS})
    none = "no attempt ended in that time"
    return (
        Panel(
            f"Provider stalls, last {config.soon}",
            View.STAT,
            one(or_zero(counted(stalls, config.soon))),
            "Timers that fired while a request was out and no byte had come back.",
            width=4,
            colours=((1, "orange"), (config.provider_stalls, "red")),
            traces=trace_condition("docsfab.stop.code", f'= "{Code.DEADLINE_AWAITING_PROVIDER}"'),
        ),
        Panel(
            f"Ended in a tool loop, last {config.long}",
            View.STAT,
            one(or_zero(counted(in_loop, config.long))),
            "Attempts that were still calling tools when their timer fired.",
            width=4,
            colours=((1, "orange"), (config.tool_loop_deadlines, "red")),
            traces=trace_condition("docsfab.stop.code", f'= "{Code.DEADLINE_IN_TOOL_LOOP}"'),
        ),
        Panel(
            f"Ended by the timer, last {config.long}",
            View.STAT,
            one(share(added(timed, config.long), attempts)),
            "Share of the attempts that ended.",
            unit="percentunit",
            width=4,
            empty=none,
        ),
        Panel(
            f"Asked early, last {config.long}",
            View.STAT,
            one(share(asks, attempts)),
            "Asks for an early answer as a share of the attempts that ended: answers from partial reading.",
            unit="percentunit",
            width=4,
            colours=((config.early_answer_share / 2, "orange"), (config.early_answer_share, "red")),
            empty=none,
        ),
        Panel(
            f"Rejected answers, last {config.long}",
            View.STAT,
            one(share(added(rejected, config.long), attempts)),
            "Share of the attempts whose answer failed the host's check.",
            unit="percentunit",
            width=4,
            empty=none,
        ),
        Panel(
            f"Calls denied for each ask, last {config.long}",
            View.STAT,
            one(share(added(denied, config.long), asks)),
            "How many tool calls an agent tries after it was asked for its answer.",
            width=4,
            colours=((config.ignored_calls_per_ask, "orange"),),
            empty="nobody was asked in that time",
        ),
    )


def _timers() -> tuple[Panel, ...]:
    timed = chosen(m.ATTEMPTS, {"code": DEADLINE_CODES})
    return (
        Panel(
            "Deadlines by position",
            View.BARS,
            one(counted(chosen(m.ATTEMPT_DEADLINES), RESOLUTION, "position"), "{{position}}", exemplars=True),
            "Where the timer found the attempts: the provider's time, the answer's, or the tools'.",
            traces=trace_condition("docsfab.deadline_turn"),
        ),
        Panel(
            "Deadlines by code",
            View.BARS,
            one(counted(chosen(m.ATTEMPT_DEADLINES), RESOLUTION, "code"), "{{code}}"),
            "What the attempts failed with.",
        ),
        Panel(
            "Who runs out of time",
            View.TABLE,
            one(top(20, above(counted(timed, RANGE, "step", "agent", "model", "code"), 0)), "Attempts"),
            "Steps, agents and models whose timer fired, in the time shown.",
            empty="no timer fired in that time",
        ),
    )


def _asks() -> tuple[Panel, ...]:
    asks = chosen(m.CONCLUDE_NOW_ASKS)
    return (
        Panel(
            "Asks by trigger",
            View.BARS,
            one(counted(asks, RESOLUTION, "trigger"), "{{trigger}}", exemplars=True),
            "Why answers were asked for before the agents came to them.",
            traces=trace_condition("docsfab.conclude_now.trigger"),
        ),
        Panel(
            "Asks by step and agent",
            View.TABLE,
            one(top(20, above(counted(asks, RANGE, "step", "agent", "trigger", "enforced"), 0)), "Asks"),
            "Whose answers come from partial reading, in the time shown.",
            empty="nobody was asked in that time",
        ),
        Panel(
            "Denied calls by trigger",
            View.BARS,
            one(counted(chosen(m.TOOL_CALLS_DENIED), RESOLUTION, "trigger"), "{{trigger}}"),
            "Calls that came after an ask or past the ceiling.",
        ),
    )


def _outcomes() -> tuple[Panel, ...]:
    duration = chosen(m.ATTEMPT_DURATION, part="bucket")
    none = "no attempt ended in that time"
    return (
        Panel(
            "Attempts by outcome",
            View.AREA,
            one(sum_by(rate(chosen(m.ATTEMPTS), RESOLUTION), "outcome"), "{{outcome}}"),
            "How attempts end.",
            unit="cps",
            colour_of={"answered": "green", "failed": "red", "rejected": "orange"},
        ),
        Panel(
            "Length of attempts, by step",
            View.LINES,
            (
                *one(quantile(0.5, duration, RESOLUTION, "step"), "{{step}}, half"),
                *one(quantile(0.95, duration, RESOLUTION, "step"), "{{step}}, 95 of 100"),
            ),
            "Near the timer there is no time left for the answer.",
            unit="s",
            empty=none,
        ),
        Panel(
            "Length of attempts",
            View.HEATMAP,
            one(sum_by(rate(duration, RESOLUTION), "le"), "{{le}}", exemplars=True),
            "How many attempts took how long, s.",
            empty=none,
        ),
    )
