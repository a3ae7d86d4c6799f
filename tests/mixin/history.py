"""Hours of history of four jobs, written as OpenMetrics and made into blocks that a real Prometheus serves.

``busy`` counts everything all the time; ``quiet`` had one attempt two hours ago and idles since; ``fresh`` runs but had
no attempt yet; ``gone`` stopped reporting an hour ago.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from otel_docsfab.catalogue import METRICS, Kind, Metric, Zero
from otel_docsfab.catalogue import metrics as m
from otel_docsfab.mixin.rules import Rules
from tests.services.prometheus import promtool

HOURS = 3
STEP_S = 60
NEW_FOR_S = 1_800
WHO = [
    {"step": "review-documentation", "agent": "editor", "model": "large", "tool": "read"},
    {"step": "write-section", "agent": "author", "model": "small", "tool": "other"},
    {"step": "other", "agent": "author", "model": "small", "tool": "grep"},
]
NEWCOMER = {"step": "new-step", "agent": "author", "model": "newest", "tool": "find"}

Line = tuple[str, Mapping[str, str], Callable[[float], float]]


def write_history(directory: Path, now: float) -> None:
    """Fill ``directory/data`` with blocks whose newest samples are of ``now``."""
    source = directory / "history.txt"
    with source.open("w") as sink:
        for line in _lines(now):
            sink.write(line)
        sink.write("# EOF\n")
    promtool("tsdb", "create-blocks-from", "openmetrics", source, directory / "data")


def _lines(now: float) -> Iterator[str]:
    start = now - HOURS * 3_600
    series = [
        *(("busy", start, now, line) for who in WHO for line in _all_series(who, _rising)),
        *(("busy", now - NEW_FOR_S, now, line) for line in _all_series(NEWCOMER, _rising, tied=False)),
        *(("quiet", now - 7_200, now, line) for line in _all_series(WHO[0], _once)),
        *(("fresh", now - 7_200, now, line) for line in _at_start()),
        *(("gone", start, now - 3_600, line) for line in _at_start()),
    ]
    seen = set()
    for job, first, last, (name, labels, value) in series:
        text = ",".join(f'{key}="{of}"' for key, of in {"job": job, "instance": f"{job}:1", **labels}.items())
        if (name, text) in seen:
            continue
        seen.add((name, text))
        for number in range(int((last - first) // STEP_S) + 1):
            at = last - ((last - first) // STEP_S - number) * STEP_S
            yield f"{name}{{{text}}} {value(at - first):g} {at:.3f}\n"
    yield from _recorded_before(now)


def _recorded_before(now: float) -> Iterator[str]:
    """The stopped share as it was recorded an hour, a day and a week ago."""
    for ago in (7 * 86_400, 86_400, 3_600):
        for number in range(-4, 5):
            at = now - ago + number * STEP_S
            yield f'{Rules().stop_share.name}{{job="busy",step="review-documentation"}} 0.01 {at:.3f}\n'


def _rising(metric: Metric, labels: Mapping[str, str]) -> Callable[[float], float]:
    """A counter that adds one a minute, more where a share has to be large."""
    faster = {m.TOOL_CALLS_DENIED: 60, m.CONCLUDE_NOW_ASKS: 2}
    per_minute = 5 if labels.get("verdict") == "unjudged" else faster.get(metric, 1)
    return lambda age: math.floor(age / 60) * per_minute


def _once(metric: Metric, labels: Mapping[str, str]) -> Callable[[float], float]:
    """A counter that has been what it is since the first sample: 1 where one answered attempt counts, else 0."""
    ended = labels.get("outcome") == "answered" and metric is not m.RETRIES
    value = float(ended or (metric is m.READ_RESULTS and labels["verdict"] == "deliver"))
    return lambda _: value


def _all_series(
    who: Mapping[str, str],
    count: Callable[[Metric, Mapping[str, str]], Callable[[float], float]],
    *,
    tied: bool = True,
) -> Iterator[Line]:
    """Every series of one step, agent, model and tool; ``tied`` adds those without open labels."""
    for metric in METRICS:
        if not (tied or metric.open_labels):
            continue
        fixed = {name: who[name] for name in metric.label_names if name in who}
        for closed in metric.closed_combinations():
            labels = {**closed, **fixed}
            if metric.kind is Kind.GAUGE:
                stuck = 0 if count is _once else 700
                yield metric.prometheus_name, labels, lambda _, value=stuck: value
            elif metric.kind is Kind.COUNTER:
                yield metric.prometheus_name, labels, count(metric, labels)
            else:
                yield from _histogram(metric, labels, count is _once)


def _histogram(metric: Metric, labels: Mapping[str, str], once: bool) -> Iterator[Line]:
    """Half of the attempts in the last bucket, half past every bound."""
    base = metric.prometheus_name

    def total(age: float) -> float:
        return 1.0 if once else math.floor(age / 60)

    for bound in (*metric.bounds, math.inf):
        share = 1.0 if once or bound == math.inf else 0.5 * (bound == metric.bounds[-1])
        le = "+Inf" if bound == math.inf else f"{bound:g}"
        yield f"{base}_bucket", {**labels, "le": le}, lambda age, share=share: math.floor(total(age) * share)
    yield f"{base}_sum", labels, lambda age: total(age) * 100
    yield f"{base}_count", labels, total


def _at_start() -> Iterator[Line]:
    """What a process exports before its first attempt."""
    for metric in METRICS:
        if metric.zero is Zero.AT_START or metric.kind is Kind.GAUGE:
            for labels in metric.closed_combinations():
                yield metric.prometheus_name, labels, lambda _: 0.0
