"""Lease and progress: is work being done, or only time spent?"""

from __future__ import annotations

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.catalogue.words import LeaseResult
from otel_docsfab.mixin.config import MixinConfig
from otel_docsfab.mixin.panels import RANGE, RESOLUTION, Board, Panel, Row, View, chosen, one
from otel_docsfab.mixin.promql import (
    above,
    added,
    counted,
    max_by,
    or_zero,
    quantile,
    rate,
    recorded,
    sum_by,
    top,
    whole,
)
from otel_docsfab.mixin.rules import Rules

_NO_ATTEMPT = "no attempt ended in that time"


def board(config: MixinConfig) -> Board:
    """Does anything progress, are leases renewed for it, and who works without getting anywhere?"""
    return Board(
        "docsfab-lease-and-progress",
        "DocsFab / Lease and progress",
        "Does anything progress, are leases renewed for it, and who works without getting anywhere?",
        (
            Row("Now", _now(config), height=4),
            Row("Progress", _progress(config)),
            Row("Stretches without progress", _stretches(config)),
        ),
    )


def _now(config: MixinConfig) -> tuple[Panel, ...]:
    refused = chosen(m.LEASE_RENEWALS, {"result": LeaseResult.REFUSED})
    lost = chosen(m.LEASE_RENEWALS, {"result": (LeaseResult.LOST, LeaseResult.ERROR)})
    return (
        Panel(
            "Oldest progress",
            View.STAT,
            one(max_by(chosen(m.LEASE_PROGRESS_AGE))),
            "Time since the newest progress of the live attempt that has waited longest.",
            unit="s",
            width=6,
            colours=((config.progress_age_s / 2, "orange"), (config.progress_age_s, "red")),
        ),
        Panel(
            "Live attempts",
            View.STAT,
            one(sum_by(chosen(m.LIVE_ATTEMPTS))),
            "Attempts under supervision now.",
            width=6,
        ),
        Panel(
            f"Renewals refused, last {config.soon}",
            View.STAT,
            one(or_zero(counted(refused, config.soon))),
            "Nothing had progressed since the last renewal.",
            width=6,
            colours=((1, "orange"), (config.lease_refusals, "red")),
        ),
        Panel(
            f"Leases lost or in error, last {config.soon}",
            View.STAT,
            one(or_zero(counted(lost, config.soon))),
            "Another worker holds the lease, or its store could not be asked.",
            width=6,
            colours=((1, "orange"),),
        ),
    )


def _progress(config: MixinConfig) -> tuple[Panel, ...]:
    return (
        Panel(
            "Progress by kind",
            View.AREA,
            one(sum_by(rate(chosen(m.LEASE_PROGRESS), RESOLUTION), "kind"), "{{kind}}"),
            "What renews a lease: new content, a new progress call, a neutral result, an answer.",
            unit="cps",
        ),
        Panel(
            "Oldest progress, by instance",
            View.LINES,
            one(max_by(chosen(m.LEASE_PROGRESS_AGE), "instance"), "{{instance}}"),
            "A line that only climbs is an attempt that is stuck.",
            unit="s",
            colours=((config.progress_age_s, "red"),),
        ),
        Panel(
            "Lease renewals by result",
            View.BARS,
            one(counted(chosen(m.LEASE_RENEWALS), RESOLUTION, "result"), "{{result}}"),
            "Renewals tried.",
            colour_of={"renewed": "green", "refused": "orange", "lost": "red", "error": "purple"},
        ),
    )


def _stretches(config: MixinConfig) -> tuple[Panel, ...]:
    stretch = chosen(m.ATTEMPT_LONGEST_STRETCH, part="bucket")
    long_ones = recorded(Rules(config).long_stretches, {"job": "$job", "step": "$step", "agent": "$agent"})
    return (
        Panel(
            f"More than {config.stretch_calls:.0f} calls without progress, last {config.long}",
            View.RANKING,
            one(top(10, above(whole(sum_by(long_ones, "step", "agent")), 0)), "{{step}}: {{agent}}"),
            "Attempts with such a stretch. Repeated failed reads and identical edits look like this.",
            colours=((1, "orange"), (config.long_stretches, "red")),
            empty="no attempt had one",
        ),
        Panel(
            "Longest stretch, by step",
            View.LINES,
            (
                *one(quantile(0.5, stretch, RESOLUTION, "step"), "{{step}}, half"),
                *one(quantile(0.95, stretch, RESOLUTION, "step"), "{{step}}, 95 of 100"),
            ),
            "Most tool calls between two progresses of an attempt.",
            empty=_NO_ATTEMPT,
        ),
        Panel(
            "Attempts by longest stretch",
            View.HEATMAP,
            one(added(stretch, RESOLUTION, "le"), "{{le}}"),
            "How many attempts had a stretch of how many calls.",
            empty=_NO_ATTEMPT,
        ),
        Panel(
            "Tool calls after a stop, by step",
            View.RANKING,
            one(top(10, above(counted(chosen(m.TOOL_CALLS_AFTER_STOP), RANGE, "step"), 0)), "{{step}}"),
            "Work for nothing, in the time shown.",
            empty="no call came after a stop",
            width=24,
        ),
    )
