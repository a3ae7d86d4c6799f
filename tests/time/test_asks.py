"""R20 to R22 by the clock: the source's numbers, and what never happens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_docsfab import Supervisor, Trigger
from otel_docsfab.core import SUBMIT_TOOL
from otel_docsfab.core.record import ConcludeNow
from otel_docsfab.testing import ManualClock, MemorySink

DEADLINE, BUDGET = Trigger.ATTEMPT_DEADLINE, Trigger.READING_BUDGET
JUDGMENT = ("review-documentation", "evaluate-document-quality")


def supervised(**options):
    sink, clock = MemorySink(), ManualClock()
    return Supervisor(sinks=[sink], clock=clock, **{"mode": "enforce", **options}), sink, clock


def read(attempt, path="a.md"):
    with attempt.turn():
        attempt.gate(lambda path: f"content of {path}", tool="read")(path=path)


@pytest.mark.parametrize(
    ("step", "timeout_ms", "at_ms", "trigger"),
    [
        (JUDGMENT[0], 300_000, 181_250, DEADLINE),
        (JUDGMENT[1], 300_000, 102_500, DEADLINE),
        (JUDGMENT[0], 1_800_000, 1_260_000, BUDGET),
        (JUDGMENT[1], 1_800_000, 1_260_000, BUDGET),
        ("some-step", 300_000, 245_000, DEADLINE),
        ("some-step", 1_800_000, 1_745_000, DEADLINE),
    ],
)
def test_r20_r21_the_ask_comes_by_itself_at_its_millisecond(step, timeout_ms, at_ms, trigger):
    supervisor, sink, clock = supervised()
    with supervisor.attempt(step, kind="read-only", timeout_ms=timeout_ms) as attempt:
        read(attempt)
        clock.advance(at_ms - 1)
        assert (sink.decisions, attempt.conclude_request) == ([], None)
        clock.advance(1)
        assert attempt.conclude_request is not None
        (decision,) = sink.decisions
        assert (decision.action, decision.trigger, decision.turn, decision.enforced) == ("conclude", trigger, 1, True)
        clock.advance(timeout_ms - at_ms)
    assert [decision.action for decision in sink.decisions] == ["conclude", "stop"]
    assert sink.records[0].conclude_now == ConcludeNow(trigger, 1)


@pytest.mark.parametrize("timeout_ms", [1, 1_000, 54_999, 55_000])
def test_r20_a_timer_shorter_than_the_reserve_asks_at_the_end_of_the_first_tool_turn(timeout_ms):
    supervisor, sink, clock = supervised()
    with supervisor.attempt("some-step", kind="read-only", timeout_ms=timeout_ms) as attempt:
        clock.advance(0)
        assert sink.decisions == []
        read(attempt)
        assert [(decision.action, decision.turn) for decision in sink.decisions] == [("conclude", 1)]
        clock.advance(timeout_ms)
    assert [decision.action for decision in sink.decisions] == ["conclude", "stop"]


@pytest.mark.parametrize("options", [{"kind": "write"}, {}], ids=["write", "undeclared"])
def test_r22_only_a_declared_read_only_step_is_asked(options):
    supervisor, sink, clock = supervised()
    with supervisor.attempt("some-step", timeout_ms=300_000, **options) as attempt:
        read(attempt)
        clock.advance(299_999)
        assert sink.decisions == []
        clock.advance(1)
    assert [decision.action for decision in sink.decisions] == ["stop"]


def test_r22_after_the_ask_the_first_submit_of_each_turn_runs_and_nothing_else():
    supervisor, sink, clock = supervised()
    with supervisor.attempt(JUDGMENT[1], answer_path="tool-call") as attempt:
        read(attempt)
        clock.advance(102_500)
        submit = attempt.gate(lambda score: "taken", tool=SUBMIT_TOOL)
        for _ in range(2):
            read(attempt, "b.md")
            with attempt.turn():
                assert submit(score=1) == "taken"
                assert submit(score=1) != "taken"
    assert sink.records[0].denied == {DEADLINE: 4}
    assert sink.records[0].read_evidence is None


def test_r20_an_attempt_that_is_only_observed_is_asked_and_not_changed():
    supervisor, sink, clock = supervised(mode="observe")
    with supervisor.attempt("some-step", kind="read-only", timeout_ms=100_000) as attempt:
        read(attempt)
        clock.advance(45_000)
        assert attempt.conclude_request is None
        read(attempt, "b.md")
        clock.advance(55_000)
        assert not attempt.stopped
    assert [(decision.action, decision.enforced) for decision in sink.decisions] == [
        ("conclude", False),
        ("stop", False),
    ]


# What never happens, whatever the attempt does

KINDS = st.sampled_from(["read-only", "write", None])
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("pass"), st.integers(0, 60_000)),
        st.tuples(st.just("suspend"), st.integers(0, 60_000)),
        st.tuples(st.just("turn"), st.just(0)),
        st.tuples(st.just("start"), st.integers(0, 3)),
        st.tuples(st.just("finish"), st.integers(0, 3)),
        st.tuples(st.just("sent"), st.just(0)),
        st.tuples(st.sampled_from(["answer", "tool-call", "other"]), st.just(0)),
        st.tuples(st.just("ended"), st.just(0)),
        st.tuples(st.just("compact"), st.just(0)),
        st.tuples(st.just("edit"), st.integers(0, 3)),
        st.tuples(st.just("answered"), st.just(0)),
    ),
    max_size=40,
)


class Life:
    """An attempt that does what it is told, and notes in what state each decision found it."""

    def __init__(self, kind, judgment, timeout_ms, retry_of):
        self.supervisor, self.sink, self.clock = supervised(on_decision=self.hear)
        self.heard = []
        self.answering = self.answered = self.turn_marked = False
        self.running = {}
        self.tool_turns = 0
        self.attempt = self.supervisor.attempt(
            "some-step", 1, kind=kind, judgment=judgment, timeout_ms=timeout_ms, retry_of=retry_of
        )

    def hear(self, decision):
        state = (self.clock.now_ms, self.tool_turns, self.answering, self.answered)
        self.heard.append((decision, *state))

    def do(self, deed, n):  # noqa: C901 - one deed a branch
        attempt = self.attempt
        if deed == "pass":
            self.clock.advance(n)
        elif deed == "suspend":
            self.clock.now_ms += n
        elif deed == "turn":
            self.answering = False
            attempt.turn().__enter__()
        elif deed in ("start", "edit"):
            self.tool_turns += 1  # before it is told: the call's own event may find the time past
            tool = "edit" if deed == "edit" else "read"
            admission = attempt.start_call(tool, {"path": str(n)})
            if admission.denied is None:
                self.running.setdefault(n, []).append(admission)
        elif deed == "finish":
            if self.running.get(n):
                attempt.finish_call(self.running[n].pop(), "same")
        elif deed == "sent":
            self.answering = False
            attempt.request_sent()
        elif deed in ("answer", "tool-call", "other"):
            attempt.output_started(deed)
            self.answering = deed == "answer"
        elif deed == "ended":
            attempt.request_ended()
            self.answering = False
        elif deed == "compact":
            attempt.compacted()
        elif deed == "answered":
            attempt.answered()
            self.answered, self.answering = True, False


@given(KINDS, st.booleans(), st.sampled_from([1, 54_000, 56_000, 100_000, 400_000]), st.booleans(), DEEDS)
def test_r20_r22_what_never_happens(kind, judgment, timeout_ms, is_retry, deeds):
    life = Life(kind, judgment, timeout_ms, "no-progress" if is_retry else None)
    for deed in deeds:
        life.do(*deed)
    record = life.attempt.record()
    stops = [entry for entry in life.heard if entry[0].action == "stop"]
    asks = [entry for entry in life.heard if entry[0].action == "conclude"]

    assert len(asks) <= 1
    assert len(stops) <= 1
    assert (record.conclude_now is not None) == bool(asks)
    for decision, now_ms, tool_turns, _, answered in asks:
        assert kind == "read-only"
        assert now_ms < timeout_ms  # never after the timer, however late anybody woke
        assert tool_turns > 0
        assert not answered
        assert stops == [] or life.heard[0][0] is decision  # never after a stop
        if decision.trigger is not Trigger.READ_LOOP:
            assert now_ms >= min(timeout_ms - 55_000, timeout_ms * 7 // 10 if judgment else timeout_ms)
    for decision, now_ms, _, _, answered in stops:
        if record.deadline_turn is not None:
            assert decision.observed == now_ms >= timeout_ms
        assert not answered
    if life.clock.now_ms >= timeout_ms and not life.answered:
        life.clock.advance(0)
        assert life.attempt.decision.action == "stop"
    assert sum(life.supervisor.faults.counts().values()) == 0
