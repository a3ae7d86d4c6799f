"""The catalogue is one consistent list."""

import math
import re

import pytest

from otel_docsfab.catalogue import BY_NAME, LOG_EVENTS, METRICS, SPAN_ATTRIBUTES, Kind, Metric, Recorded, Zero
from otel_docsfab.catalogue import attributes as label
from otel_docsfab.catalogue.metric import MAX_SERIES
from otel_docsfab.core.codes import Code, DeadlineTurn, Outcome
from otel_docsfab.core.deadline import deadline_code
from otel_docsfab.supervisor.faults import Site

BY_METRIC = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def test_names_are_unique_in_both_worlds():
    assert len(BY_NAME) == len(METRICS)
    series = [name for metric in METRICS for name in metric.series_names]
    assert len(series) == len(set(series))


@pytest.mark.parametrize(
    ("name", "kind", "unit", "prometheus"),
    [
        ("docsfab.read.results", Kind.COUNTER, "{result}", "docsfab_read_results_total"),
        ("docsfab.read.bytes", Kind.COUNTER, "By", "docsfab_read_bytes_total"),
        ("docsfab.sent", Kind.COUNTER, "By", "docsfab_sent_bytes_total"),
        ("docsfab.attempt.duration", Kind.HISTOGRAM, "s", "docsfab_attempt_duration_seconds"),
        ("docsfab.lease.progress_age", Kind.GAUGE, "s", "docsfab_lease_progress_age_seconds"),
        ("docsfab.supervisor.live_attempts", Kind.GAUGE, "{attempt}", "docsfab_supervisor_live_attempts"),
    ],
)
def test_prometheus_names_follow_the_usual_rules(name, kind, unit, prometheus):
    assert Metric(name, kind, unit, "", ()).prometheus_name == prometheus


@BY_METRIC
def test_names_units_and_texts_are_well_formed(metric):
    assert re.fullmatch(r"docsfab(\.[a-z][a-z_]*)+", metric.name)
    assert re.fullmatch(r"s|By|\{[a-z]+\}", metric.unit)
    assert metric.description
    assert not metric.description.endswith(".")


@BY_METRIC
def test_labels_are_closed_or_capped_and_never_name_an_id(metric):
    for one in metric.labels:
        assert bool(one.values) != bool(one.cap), one
        assert len(set(one.values)) == len(one.values)
        assert re.fullmatch(r"[a-z_]+", one.name)
        assert one.name not in {"job", "instance", "le", "quantile"}, "Prometheus sets these itself"


@BY_METRIC
def test_a_metric_stays_under_a_thousand_series(metric):
    closed = len(list(metric.closed_combinations()))
    per_combination = len(metric.bounds) + 3 if metric.kind is Kind.HISTOGRAM else 1
    assert closed * per_combination * metric.max_open_combinations <= MAX_SERIES < 1_000
    assert metric.max_open_combinations >= (10 if metric.open_labels else 1)


@BY_METRIC
def test_only_histograms_have_bounds_and_none_is_whole(metric):
    assert bool(metric.bounds) == (metric.kind is Kind.HISTOGRAM)
    assert list(metric.bounds) == sorted(set(metric.bounds))
    assert not any(math.floor(bound) == bound for bound in metric.bounds)


@BY_METRIC
def test_series_that_can_start_at_zero_do(metric):
    if metric.zero is Zero.AT_START:
        assert not metric.open_labels
        assert metric.kind is Kind.COUNTER
    if metric.zero is Zero.AT_ATTEMPT:
        assert {one.name for one in metric.open_labels} <= {"step", "agent"}
    if metric.kind is Kind.COUNTER and not metric.open_labels:
        assert metric.zero is Zero.AT_START
    if any(one.name == "tool" for one in metric.labels):
        assert metric.recorded is Recorded.AT_COLLECTION


def test_the_closed_combinations_keep_what_is_known():
    known = {"step": "review", "agent": "a", "enforced": "true", "model": "m"}
    assert list(BY_NAME["docsfab.read_loop.stops"].closed_combinations(known)) == [
        {"code": code, "step": "review", "agent": "a", "enforced": "true"} for code in label.STOP_CODE.values
    ]


def test_an_outcome_and_a_code_go_together_as_the_record_says():
    pairs = {
        (labels["outcome"], labels["code"])
        for labels in BY_NAME["docsfab.attempts"].closed_combinations({"enforced": "true"})
    }
    assert ("answered", "none") in pairs
    assert ("rejected", "answer-rejected") in pairs
    assert {outcome for outcome, code in pairs if code not in ("none", "answer-rejected")} == {Outcome.FAILED}
    assert {code for _, code in pairs} == {"none", *Code}


def test_r23_positions_and_codes_are_those_of_the_deadline_table():
    """Every input of the rule is tried; the catalogue's pairs are what comes out."""
    reached = {
        (position, deadline_code(position, asked=asked, any_tool_turn=any_turn, earlier_tool_turn=earlier))
        for position in DeadlineTurn
        for asked in (True, False)
        for any_turn in (True, False)
        for earlier in (True, False)
        if any_turn or not earlier
    }
    assert label.PAIRS["position", "code"] == reached


def test_sites_of_errors_are_those_that_the_supervisor_counts():
    assert set(label.ERROR_SITE.values) == set(Site)


def test_events_hold_closed_words_and_no_content():
    names = [event.name for event in LOG_EVENTS]
    assert names[:2] == ["docsfab.read_loop.stop", "docsfab.conclude_now"]
    for event in LOG_EVENTS:
        attributes = [one.name for one in event.attributes]
        assert len(set(attributes)) == len(attributes)
        assert "docsfab.enforced" in attributes
        forbidden = ("message", "path", "argument", "result", "prompt", "content")
        assert not [name for name in attributes if any(word in name for word in forbidden)]


def test_no_attribute_is_the_namespace_of_another():
    for names in (
        {one.name for one in SPAN_ATTRIBUTES},
        *({one.name for one in event.attributes} for event in LOG_EVENTS),
    ):
        assert not [name for name in names if any(other.startswith(name + ".") for other in names)]
