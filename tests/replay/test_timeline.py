"""Starts and ends of a trace in the order in which they happened."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_docsfab.replay.assemble import Assembler
from otel_docsfab.replay.timeline import What, timeline
from otel_docsfab.spans.view import EventView, RecordedSpan


def span(name, parent=None, start=0, end=0, host=None, events=(), trace="t"):
    return RecordedSpan(
        name,
        trace_id=trace,
        span_id=name,
        parent_id=parent,
        is_root=parent is None,
        start_unix_ns=start,
        end_unix_ns=end,
        resource={"host.name": host} if host else {},
        events=events,
    )


def told(spans):
    """``+a`` for a start, ``-a`` for an end, ``*a`` for an event."""
    return " ".join("+*-"[moment.what] + moment.span.name for moment in timeline(spans))


def test_parents_start_first_and_children_end_first_whatever_the_order_in_the_file():
    spans = [span("a", None, 0, 100), span("b", "a", 10, 50), span("c", "b", 10, 50), span("d", "a", 50, 90)]
    for seed in range(20):
        random.Random(seed).shuffle(spans)
        assert told(spans) == "+a +b +c -c -b +d -d -a"


def test_spans_without_length_stay_inside_their_parents():
    assert told([span("a", None, 0, 10), span("b", "a", 0, 0), span("c", "a", 10, 10)]) == "+a +b -b +c -c -a"
    assert told([span("a", None, 5, 5), span("b", "a", 5, 5)]) == "+a +b -b -a"
    assert told([span("a", None, 0, 10), span("b", "a", 0, 5), span("c", "a", 5, 5)]) == "+a +b -b +c -c -a"


def test_a_child_that_starts_after_its_parents_end_makes_the_parent_last_longer():
    assert told([span("a", None, 0, 10), span("b", "a", 20, 30), span("c", "b", 40, 50)]) == "+a +b +c -c -b -a"


def test_a_child_that_only_ends_later_does_not():
    assert told([span("a", None, 0, 10), span("b", "a", 5, 30)]) == "+a +b -a -b"


def test_missing_parents_own_parents_and_circles_are_topmost():
    spans = [span("a", "gone", 0, 9), span("b", "b", 1, 2), span("c", "d", 3, 6), span("d", "c", 4, 5)]
    moments = list(timeline(spans))
    assert len(moments) == 8
    assert {moment.span.name: moment.parent_id for moment in moments}["a"] is None
    assert all(moment.span.is_root for moment in moments if moment.parent_id is None)


def test_a_span_told_twice_counts_once():
    assert told([span("a", None, 0, 5), span("a", None, 0, 5)]) == "+a -a"


def test_another_hosts_clock_is_moved_into_the_parent():
    spans = [span("a", None, 1000, 2000, "one"), span("b", "a", 90, 290, "two"), span("c", "b", 100, 200, "two")]
    at = {(moment.what, moment.span.name): moment.at_ns for moment in timeline(spans)}
    assert told(spans) == "+a +b +c -c -b -a"
    assert at[What.START, "b"] == 1400
    assert at[What.START, "c"] == 1410
    assert at[What.END, "b"] == 1600


def test_a_possible_clock_is_left_alone():
    spans = [span("a", None, 1000, 2000, "one"), span("b", "a", 1100, 2500, "two")]
    assert {moment.at_ns for moment in timeline(spans)} == {1000, 1100, 2000, 2500}


def test_own_events_come_in_their_time_inside_their_span():
    def event(at):
        return EventView("docsfab.compaction", {}, at)

    spans = [
        span("a", None, 0, 100, events=[event(50), event(100), event(0), event(500), EventView("exception", {}, 60)]),
        span("b", "a", 10, 50),
        span("c", "a", 50, 100),
    ]
    assert told(spans) == "+a *a +b -b *a +c -c *a *a -a"


_spans = st.lists(
    st.tuples(st.integers(0, 9), st.integers(-1, 9), st.integers(0, 5), st.integers(0, 5), st.sampled_from("xy")),
    max_size=10,
    unique_by=lambda row: row[0],
)


@given(_spans, st.randoms(use_true_random=False))
def test_any_spans_give_one_start_and_one_end_each_and_parents_enclose_the_starts(rows, rng):
    spans = [
        span(str(name), str(parent) if parent >= 0 else None, start, start + length, host)
        for name, parent, start, length, host in rows
    ]
    moments = list(timeline(spans))
    assert sorted(moment.span.name for moment in moments if moment.what is What.START) == sorted(s.name for s in spans)
    assert sorted(moment.span.name for moment in moments if moment.what is What.END) == sorted(s.name for s in spans)
    open_now: set[str] = set()
    for moment in moments:
        name = moment.span.name
        if moment.what is What.START:
            assert moment.parent_id is None or moment.parent_id in open_now
            open_now.add(name)
        else:
            open_now.remove(name)
    times = [moment.at_ns for moment in moments]
    assert times == sorted(times)
    shuffled = list(spans)
    rng.shuffle(shuffled)
    assert {m.span.name: m.at_ns for m in timeline(shuffled)} == {m.span.name: m.at_ns for m in moments}


def _assembled(spans, **options):
    assembler = Assembler(**options)
    traces = [trace for one in spans for trace in assembler.add(one)]
    return traces + list(assembler.rest()), assembler


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(1, 50))
def test_every_span_comes_out_once_or_is_counted_late(ids, window):
    spans = [span(f"{n}", None if n % 3 else "0", trace=str(trace)) for n, trace in enumerate(ids)]
    traces, assembler = _assembled(spans, window=window)
    assert sum(len(trace) for trace in traces) + assembler.late == len(spans)
    assert all(len({s.trace_id for s in trace}) == 1 for trace in traces)


def test_a_trace_is_handed_out_when_its_root_was_seen_and_others_went_on():
    spans = [span("a1", "a0", trace="a"), span("a0", None, trace="a"), span("b1", "b0", trace="b")]
    spans += [span(f"c{n}", "c0", trace="c") for n in range(8)]
    traces, assembler = _assembled([*spans, span("late", "a0", trace="a")], window=5)
    assert [trace[0].trace_id for trace in traces] == ["a", "b", "c"]
    assert assembler.late == 1


@pytest.mark.parametrize("count", [100])
def test_spans_held_are_bounded(count):
    assembler = Assembler(max_held=10)
    for number in range(count):
        list(assembler.add(span(f"{number}", "x", trace=str(number))))
        assert assembler._held <= 10
    assert assembler.cut == count - 10
