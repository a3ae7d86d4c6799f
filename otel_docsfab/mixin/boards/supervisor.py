"""Supervisor health: can the other boards be believed?"""

from __future__ import annotations

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.catalogue.attributes import UNJUDGED
from otel_docsfab.catalogue.words import OTHER
from otel_docsfab.mixin.config import MixinConfig
from otel_docsfab.mixin.panels import RANGE, RESOLUTION, Board, Panel, Row, View, chosen, one
from otel_docsfab.mixin.promql import above, added, count_by, counted, or_zero, rate, share, sum_by, top


def board(config: MixinConfig) -> Board:
    """Is telemetry whole: are reads judged, spans understood, errors absent?"""
    return Board(
        "docsfab-supervisor-health",
        "DocsFab / Supervisor health",
        "Can the other boards be believed: are reads judged, spans understood, errors absent, labels within caps?",
        (
            Row("Now", _now(config), height=4),
            Row("What cannot be judged", _judging()),
            Row("The supervisor itself", _itself()),
        ),
    )


def _now(config: MixinConfig) -> tuple[Panel, ...]:
    reads = added(chosen(m.READ_RESULTS), config.long)
    return (
        Panel(
            "Processes that report",
            View.STAT,
            one(count_by(chosen(m.LIVE_ATTEMPTS))),
            "Instances whose metrics are here now.",
            width=6,
        ),
        Panel(
            f"Unjudged reads, last {config.long}",
            View.STAT,
            one(share(added(chosen(m.READ_RESULTS, {"verdict": UNJUDGED}), config.long), reads)),
            "Share of the reads whose result or arguments did not come through. Loops among them are not seen.",
            unit="percentunit",
            width=6,
            colours=((config.unjudged_share / 2, "orange"), (config.unjudged_share, "red")),
            empty="no read-class tool was called in that time",
        ),
        Panel(
            f"Internal errors, last {config.soon}",
            View.STAT,
            one(or_zero(counted(chosen(m.SUPERVISOR_ERRORS), config.soon))),
            "Errors that were caught before they could disturb the host.",
            width=6,
            colours=((1, "red"),),
        ),
        Panel(
            "Attempts given up",
            View.STAT,
            one(or_zero(counted(chosen(m.SUPERVISOR_EVICTIONS), RANGE))),
            "Attempts that never ended, or were too many, in the time shown.",
            width=6,
            colours=((1, "orange"),),
        ),
    )


def _judging() -> tuple[Panel, ...]:
    unjudged = chosen(m.READ_RESULTS, {"verdict": UNJUDGED})
    return (
        Panel(
            "Unjudged reads by reason",
            View.BARS,
            one(counted(chosen(m.READ_UNJUDGED), RESOLUTION, "reason"), "{{reason}}"),
            "What the runtime leaves out: the reason says which setting to change.",
        ),
        Panel(
            "Unjudged reads by tool",
            View.RANKING,
            one(top(10, above(counted(unjudged, RANGE, "tool"), 0)), "{{tool}}"),
            "Tools whose results are not seen, in the time shown.",
            empty="every read could be judged",
            colours=((1, "orange"),),
        ),
        Panel(
            "Spans by what was made of them",
            View.AREA,
            one(sum_by(rate(chosen(m.SUPERVISOR_SPANS), RESOLUTION), "result"), "{{result}}"),
            "Ignored spans are no tool calls, or calls that the gate judged.",
            unit="cps",
        ),
    )


def _itself() -> tuple[Panel, ...]:
    return (
        Panel(
            "Internal errors by site",
            View.BARS,
            one(counted(chosen(m.SUPERVISOR_ERRORS), RESOLUTION, "site"), "{{site}}"),
            "Where errors were caught.",
        ),
        Panel(
            "Attempts given up, by reason",
            View.BARS,
            one(counted(chosen(m.SUPERVISOR_EVICTIONS), RESOLUTION, "reason"), "{{reason}}"),
            "Idle ones never ended; at the cap there are too many; a fork drops those of its parent.",
        ),
        Panel(
            "Live attempts, by instance",
            View.LINES,
            one(sum_by(chosen(m.LIVE_ATTEMPTS), "instance"), "{{instance}}"),
            "A line that only climbs is a runtime whose attempts never end.",
        ),
        Panel(
            "Reads of tools past the cap",
            View.STAT,
            one(or_zero(counted(chosen(m.READ_RESULTS, {"tool": OTHER}), RANGE))),
            "Results of tools that have no name in these metrics, because there are too many, in the time shown.",
            width=12,
            colours=((1, "orange"),),
        ),
        Panel(
            "Attempts of steps past the cap",
            View.STAT,
            one(or_zero(counted(chosen(m.ATTEMPTS, {"step": OTHER}), RANGE))),
            "Attempts of steps that have no name in these metrics, because there are too many, in the time shown.",
            width=12,
            colours=((1, "orange"),),
        ),
    )
