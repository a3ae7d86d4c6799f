"""THE list of metrics: both recorders, the reference page, the dashboards and the alerts are made from it."""

from __future__ import annotations

from typing import Final

from otel_docsfab.catalogue import attributes as label
from otel_docsfab.catalogue.metric import Kind, Metric, Recorded, Stability, Zero

READ_RESULTS: Final = Metric(
    "docsfab.read.results",
    Kind.COUNTER,
    "{result}",
    "Successful results of read-class tools by what became of them",
    (label.TOOL, label.VERDICT, label.ENFORCED),
    recorded=Recorded.AT_COLLECTION,
)
READ_UNJUDGED: Final = Metric(
    "docsfab.read.unjudged",
    Kind.COUNTER,
    "{result}",
    "Successful reads that could not be judged, because result or arguments are unknown",
    (label.UNJUDGED_REASON,),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
)
READ_BYTES: Final = Metric(
    "docsfab.read.bytes",
    Kind.COUNTER,
    "By",
    "UTF-8 bytes of successful read results where known; notice-only is context saved, or that could have been saved",
    (label.VERDICT, label.ENFORCED),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
)
READ_LOOP_STOPS: Final = Metric(
    "docsfab.read_loop.stops",
    Kind.COUNTER,
    "{stop}",
    "Attempts stopped for lack of progress: a read-loop bound or the tool-call ceiling",
    (label.STOP_CODE, label.STEP, label.AGENT, label.ENFORCED),
    zero=Zero.AT_ATTEMPT,
)
CONCLUDE_NOW_ASKS: Final = Metric(
    "docsfab.conclude_now.asks",
    Kind.COUNTER,
    "{ask}",
    "Attempts asked for their answer before they came to it",
    (label.TRIGGER, label.STEP, label.AGENT, label.ENFORCED),
    zero=Zero.AT_ATTEMPT,
)
TOOL_CALLS_DENIED: Final = Metric(
    "docsfab.tool_calls.denied",
    Kind.COUNTER,
    "{call}",
    "Tool calls denied after an ask or past the ceiling; calls after a stop are counted apart",
    (label.DENIAL, label.ENFORCED),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
)
TOOL_CALLS_AFTER_STOP: Final = Metric(
    "docsfab.tool_calls.after_stop",
    Kind.COUNTER,
    "{call}",
    "Tool calls that a runtime made after its attempt was stopped",
    (label.STEP,),
    zero=Zero.AT_ATTEMPT,
)
ATTEMPTS: Final = Metric(
    "docsfab.attempts",
    Kind.COUNTER,
    "{attempt}",
    "Attempts that ended, by outcome and code",
    (label.STEP, label.AGENT, label.MODEL, label.OUTCOME, label.CODE, label.ENFORCED),
)
ATTEMPT_DURATION: Final = Metric(
    "docsfab.attempt.duration",
    Kind.HISTOGRAM,
    "s",
    "Length of an attempt",
    (label.STEP, label.OUTCOME),
    bounds=(1.5, 5.5, 15.5, 30.5, 60.5, 120.5, 300.5, 900.5, 3600.5),
)
ATTEMPT_MAX_REPEATS: Final = Metric(
    "docsfab.attempt.max_repeats",
    Kind.HISTOGRAM,
    "{repeat}",
    "Largest repeat count of one result in an attempt; 0 when nothing unchanged was re-read",
    (label.STEP,),
    bounds=(0.5, 1.5, 2.5, 4.5, 8.5, 16.5, 32.5, 64.5),
)
ATTEMPT_LONGEST_STRETCH: Final = Metric(
    "docsfab.attempt.longest_stretch",
    Kind.HISTOGRAM,
    "{call}",
    "Most tool calls between two progresses of an attempt",
    (label.STEP, label.AGENT),
    bounds=(0.5, 2.5, 5.5, 10.5, 25.5, 50.5, 100.5, 250.5),
    stability=Stability.DEVELOPMENT,
)
ATTEMPT_DEADLINES: Final = Metric(
    "docsfab.attempt.deadlines",
    Kind.COUNTER,
    "{attempt}",
    "Attempts that their timer ended, by where it found them",
    (label.POSITION, label.DEADLINE_CODE),
    zero=Zero.AT_START,
)
RETRIES: Final = Metric(
    "docsfab.retries",
    Kind.COUNTER,
    "{attempt}",
    "Retries after a stop for lack of progress that ended, by outcome",
    (label.RETRY_REASON, label.OUTCOME),
    zero=Zero.AT_START,
)
LEASE_RENEWALS: Final = Metric(
    "docsfab.lease.renewals",
    Kind.COUNTER,
    "{renewal}",
    "Lease renewals tried, by result",
    (label.LEASE_RESULT,),
    zero=Zero.AT_START,
)
LEASE_PROGRESS: Final = Metric(
    "docsfab.lease.progress",
    Kind.COUNTER,
    "{progress}",
    "Progress that renews a lease, by kind",
    (label.PROGRESS_KIND,),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
)
LEASE_PROGRESS_AGE: Final = Metric(
    "docsfab.lease.progress_age",
    Kind.GAUGE,
    "s",
    "Time since the newest progress of the live attempt that has waited longest; 0 without live attempts",
    (),
    recorded=Recorded.AT_COLLECTION,
)
LIVE_ATTEMPTS: Final = Metric(
    "docsfab.supervisor.live_attempts",
    Kind.GAUGE,
    "{attempt}",
    "Attempts under supervision now",
    (),
    recorded=Recorded.AT_COLLECTION,
)
SUPERVISOR_SPANS: Final = Metric(
    "docsfab.supervisor.spans",
    Kind.COUNTER,
    "{span}",
    "Spans that ended, by what was made of them",
    (label.SPAN_RESULT,),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
    stability=Stability.DEVELOPMENT,
)
SUPERVISOR_ERRORS: Final = Metric(
    "docsfab.supervisor.errors",
    Kind.COUNTER,
    "{error}",
    "Internal errors that were caught, by where; none of them reached the host",
    (label.ERROR_SITE,),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
)
SUPERVISOR_EVICTIONS: Final = Metric(
    "docsfab.supervisor.evictions",
    Kind.COUNTER,
    "{attempt}",
    "Attempts given up without their end, by why",
    (label.EVICTION_REASON,),
    recorded=Recorded.AT_COLLECTION,
    zero=Zero.AT_START,
)

METRICS: Final = (
    READ_RESULTS,
    READ_UNJUDGED,
    READ_BYTES,
    READ_LOOP_STOPS,
    CONCLUDE_NOW_ASKS,
    TOOL_CALLS_DENIED,
    TOOL_CALLS_AFTER_STOP,
    ATTEMPTS,
    ATTEMPT_DURATION,
    ATTEMPT_MAX_REPEATS,
    ATTEMPT_LONGEST_STRETCH,
    ATTEMPT_DEADLINES,
    RETRIES,
    LEASE_RENEWALS,
    LEASE_PROGRESS,
    LEASE_PROGRESS_AGE,
    LIVE_ATTEMPTS,
    SUPERVISOR_SPANS,
    SUPERVISOR_ERRORS,
    SUPERVISOR_EVICTIONS,
)
"""Every metric, in the order of the reference page."""

BY_NAME: Final = {metric.name: metric for metric in METRICS}
"""The metrics by their OpenTelemetry names."""
