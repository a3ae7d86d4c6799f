"""Alerts: what needs a person, each with a runbook."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.catalogue.words import LeaseResult
from otel_docsfab.core.codes import Code, Denial
from otel_docsfab.mixin.config import MixinConfig
from otel_docsfab.mixin.promql import (
    Query,
    above,
    added,
    at_least,
    both,
    but_not,
    count_by,
    counted,
    max_by,
    recorded,
    seen_within,
    select,
    sum_by,
    times,
    whole,
)
from otel_docsfab.mixin.rules import Rules

ASK_DENIALS = (Denial.READ_LOOP, Denial.ATTEMPT_DEADLINE, Denial.READING_BUDGET)


class Severity(StrEnum):
    """Who is told, and when."""

    CRITICAL = "critical"  # a person, now
    WARNING = "warning"  # the team, in working hours


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert.

    Attributes:
        name: Name, prefixed ``Docsfab``.
        query: What fires it, one alert a series.
        severity: Who is told.
        summary: One sentence with the alert's labels.
        description: What it means and what to do first.
        hold: How long it must be true before it fires.
        board: Uid of the board to open.
    """

    name: str
    query: Query
    severity: Severity
    summary: str
    description: str
    hold: str = "0m"
    board: str = "docsfab-read-loops"


def alerts(config: MixinConfig) -> tuple[Alert, ...]:
    """Every alert of a configuration, in the order of the file."""
    return (*_read_loops(config), *_answers(config), *_lease(config), *_health(config))


def _read_loops(config: MixinConfig) -> tuple[Alert, ...]:
    rules = Rules(config)

    def stops(enforced: str) -> Query:
        series = select(m.READ_LOOP_STOPS, {"enforced": enforced})
        return above(counted(series, config.soon, "job", "step", "agent", "code"), 0)

    return (
        Alert(
            "DocsfabReadLoopStops",
            stops("true"),
            Severity.WARNING,
            "{{ $labels.agent }} was stopped in step {{ $labels.step }}: {{ $labels.code }}",
            f"Ended for lack of progress in {config.soon}: {{{{ $value }}}}. The step failed unless its "
            "retry answered.",
        ),
        Alert(
            "DocsfabReadLoopStopsObserved",
            stops("false"),
            Severity.CRITICAL,
            "{{ $labels.agent }} loops in step {{ $labels.step }} and nothing stops it: {{ $labels.code }}",
            f"Passed a bound in {config.soon}, but only observed: {{{{ $value }}}}. The agent goes on reading "
            "what it knows until its own limits end it.",
        ),
        Alert(
            "DocsfabReadLoopStopShareHigh",
            both(
                above(recorded(rules.stop_share), config.stop_share),
                at_least(recorded(rules.attempts), config.least_attempts),
            ),
            Severity.CRITICAL,
            "{{ $value | humanizePercentage }} of the attempts of step {{ $labels.step }} are stopped",
            f"More than {config.stop_share:.0%} of at least {config.least_attempts} attempts in {config.long} went on "
            "reading what they knew. A prompt, a model or a tool has changed.",
            hold="10m",
        ),
        Alert(
            "DocsfabLongStretchWithoutProgress",
            at_least(whole(recorded(rules.long_stretches)), config.long_stretches),
            Severity.WARNING,
            "{{ $labels.agent }} works in step {{ $labels.step }} without getting anywhere",
            f"In {config.long}, {{{{ $value }}}} attempts made more than {config.stretch_calls:.0f} tool calls between "
            "two progresses. Repeated failed reads and identical edits look like this, and no bound ends them.",
            board="docsfab-lease-and-progress",
        ),
    )


def _answers(config: MixinConfig) -> tuple[Alert, ...]:
    rules, board = Rules(config), "docsfab-deadlines-and-answers"
    asks = select(m.CONCLUDE_NOW_ASKS, {"enforced": "true"})
    denied = select(m.TOOL_CALLS_DENIED, {"trigger": ASK_DENIALS, "enforced": "true"})
    stalls = select(m.ATTEMPT_DEADLINES, {"code": Code.DEADLINE_AWAITING_PROVIDER})
    in_loop = select(m.ATTEMPTS, {"code": Code.DEADLINE_IN_TOOL_LOOP})
    return (
        Alert(
            "DocsfabConcludeAskIgnored",
            above(
                added(denied, config.soon, "job"),
                times(added(asks, config.soon, "job"), config.ignored_calls_per_ask, minimum=1),
            ),
            Severity.WARNING,
            "Agents of {{ $labels.job }} go on calling tools after they were asked for their answer",
            f"More than {config.ignored_calls_per_ask:g} calls were denied for each ask in {config.soon}. The model "
            "does not see the ask, or its tools are still offered.",
            board=board,
        ),
        Alert(
            "DocsfabProviderStalls",
            at_least(counted(stalls, config.soon, "job"), config.provider_stalls),
            Severity.CRITICAL,
            "The model provider of {{ $labels.job }} does not answer",
            f"The timer of {{{{ $value }}}} attempts fired in {config.soon} while a request was out and no byte had "
            "come back.",
            board=board,
        ),
        Alert(
            "DocsfabDeadlineInToolLoop",
            at_least(
                counted(in_loop, config.long, "job", "step", "agent"),
                config.tool_loop_deadlines,
            ),
            Severity.WARNING,
            "{{ $labels.agent }} runs out of time between tool calls in step {{ $labels.step }}",
            f"{{{{ $value }}}} attempts in {config.long} were still calling tools when their timer fired.",
            board=board,
        ),
        Alert(
            "DocsfabEarlyAnswerShareHigh",
            both(
                above(recorded(rules.early_share), config.early_answer_share),
                at_least(recorded(rules.attempts), config.least_attempts),
            ),
            Severity.WARNING,
            "{{ $value | humanizePercentage }} of the answers of step {{ $labels.step }} come from partial reading",
            f"More than {config.early_answer_share:.0%} of at least {config.least_attempts} attempts in {config.long} "
            "were asked for their answer before they came to it.",
            hold="10m",
            board=board,
        ),
    )


def _lease(config: MixinConfig) -> tuple[Alert, ...]:
    board = "docsfab-lease-and-progress"
    refused = select(m.LEASE_RENEWALS, {"result": LeaseResult.REFUSED})
    return (
        Alert(
            "DocsfabLeaseRefusals",
            at_least(counted(refused, config.soon, "job"), config.lease_refusals),
            Severity.WARNING,
            "Leases of {{ $labels.job }} are not renewed",
            f"{{{{ $value }}}} renewals were refused in {config.soon}, because nothing had progressed since the last "
            "one. The work will pass to another worker.",
            board=board,
        ),
        Alert(
            "DocsfabLeaseProgressStale",
            above(max_by(select(m.LEASE_PROGRESS_AGE), "job", "instance"), config.progress_age_s),
            Severity.CRITICAL,
            "An attempt on {{ $labels.instance }} has made no progress for {{ $value | humanizeDuration }}",
            "The live attempt that has waited longest for progress is older than any attempt timer allows by default.",
            hold="5m",
            board=board,
        ),
    )


def _health(config: MixinConfig) -> tuple[Alert, ...]:
    rules, board = Rules(config), "docsfab-supervisor-health"
    live = select(m.LIVE_ATTEMPTS)
    return (
        Alert(
            "DocsfabReadsUnjudged",
            both(
                above(recorded(rules.unjudged_share), config.unjudged_share),
                at_least(sum_by(recorded(rules.reads), "job"), config.least_reads),
            ),
            Severity.WARNING,
            "{{ $value | humanizePercentage }} of the reads of {{ $labels.job }} cannot be judged",
            f"More than {config.unjudged_share:.0%} of at least {config.least_reads} reads in {config.long} came "
            "without result or arguments. Loops among them are not seen.",
            hold="15m",
            board=board,
        ),
        Alert(
            "DocsfabSupervisorErrors",
            above(counted(select(m.SUPERVISOR_ERRORS), config.soon, "job", "site"), 0),
            Severity.WARNING,
            "The supervisor of {{ $labels.job }} caught an error of its own at {{ $labels.site }}",
            f"Errors in {config.soon}: {{{{ $value }}}}. The agents were not disturbed, but verdicts may be missing.",
            board=board,
        ),
        Alert(
            "DocsfabTelemetryAbsent",
            but_not(count_by(seen_within(live, config.seen_within), "job"), count_by(live, "job")),
            Severity.CRITICAL,
            "{{ $labels.job }} sends no telemetry any more",
            f"Metrics of this job were seen in the last {config.seen_within} and are gone. Loops are not seen either.",
            hold="10m",
            board=board,
        ),
    )
