"""Gate and processor on one attempt: every call is judged once, by the one that can do something about it."""

from __future__ import annotations

import threading

import pytest

from otel_docsfab import Outcome
from otel_docsfab.gate import span as gate_span
from tests.spans.runtime import UNKNOWN, Runtime


@pytest.fixture
def runtime(monkeypatch):
    runtime = Runtime()
    monkeypatch.setattr(gate_span, "_tracer", runtime.provider.get_tracer("otel_docsfab"))
    return runtime


def results(runtime):
    counts = runtime.supervisor.tallies.read().items()
    return {labels: count for (name, labels), count in counts if name == "docsfab.read.results"}


def test_r10_an_ungated_edit_that_the_processor_sees_resets_the_gated_read(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        for _ in range(3):
            runtime.model(calls=True)
            read(path="a.md")
        runtime.turn(("edit", "ok"))
        runtime.model(calls=True)
        read(path="a.md")
        runtime.turn(("edit", "ok"))  # the same edit again leaves the counts
        runtime.model(calls=True)
        read(path="a.md")
    reads = [effect.repeats for _, effect, _ in runtime.sink.judgements if effect.tool == "read"]
    assert reads == [None, 1, 2, 1, 2]
    assert runtime.record.read_evidence.max_repeats_of_one_result == 2
    assert runtime.record.calls == 7
    assert runtime.record.turns == 7
    assert runtime.faults == {}


def test_r30_the_gated_call_is_enforced_and_the_other_is_only_observed(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        read(path="a.md")
        runtime.turn(("grep", "found"))
    assert [(effect.tool, enforced) for _, effect, enforced in runtime.sink.judgements] == [
        ("read", True),
        ("grep", False),
    ]
    assert results(runtime) == {("read", "deliver", "true"): 1, ("grep", "deliver", "false"): 1}
    assert runtime.record.enforced


def test_a_gate_that_opens_its_own_span_counts_once(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        for _ in range(4):
            read(path="a.md")
    assert runtime.record.calls == 4
    assert sum(results(runtime).values()) == 4
    assert runtime.spans == {"ignored": 5}


def test_a_gate_that_writes_on_the_runtime_s_span_counts_once(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        for _ in range(4):
            runtime.model(calls=True)
            with runtime.tool(result=UNKNOWN) as span:
                span.set_attribute("gen_ai.tool.call.result", read(path="a.md"))
    assert runtime.record.calls == 4
    assert sum(results(runtime).values()) == 4
    assert runtime.record.read_evidence.unchanged_re_reads == 3


@pytest.mark.parametrize("known_at_start", [True, False])
def test_the_runtime_s_span_and_the_gate_s_own_below_it_count_once(runtime, known_at_start):
    """A runtime that says only at its span's end what it was leads to a span of the gate's own below."""
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        for _ in range(4):
            runtime.model(calls=True)
            marks = {"openinference.span.kind": "TOOL", "tool.name": "read"}
            with runtime.tracer.start_as_current_span("r", attributes=marks if known_at_start else {}) as span:
                text = read(path="a.md")
                span.set_attributes(marks | {"input.value": '{"path": "a.md"}', "output.value": text})
    assert runtime.record.calls == 4
    assert sum(results(runtime).values()) == 4
    assert runtime.faults == {}


def test_a_plain_span_around_everything_takes_no_call_from_the_gate(runtime):
    with (
        runtime.span("POST /chat"),
        runtime.supervisor.attempt() as attempt,
        attempt.turn(),
    ):
        read = attempt.gate(lambda path: "same", tool="read")
        for _ in range(4):
            read(path="a.md")
        assert attempt.span_owner.open_tools == 0
    assert runtime.record.calls == 4
    assert sum(results(runtime).values()) == 4
    assert runtime.supervisor.live_attempts == 0


def test_an_attempt_without_a_with_block_is_not_watched_a_second_time(runtime):
    attempt = runtime.supervisor.attempt(run_id="mine")
    read = attempt.gate(lambda path: "same", tool="read")
    for _ in range(4):
        read(path="a.md")
        with runtime.tool(result=UNKNOWN) as span:
            span.set_attribute("gen_ai.tool.call.result", read(path="b.md"))
    attempt.close()
    assert sum(results(runtime).values()) == 8
    mine = [ref.run_id for ref, _, _ in runtime.sink.judgements if ref.run_id == "mine"]
    assert len(mine) == 8


def test_a_worker_thread_without_context_is_not_watched_a_second_time(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        thread = threading.Thread(target=lambda: [read(path="a.md") for _ in range(5)])
        thread.start()
        thread.join(30)
        runtime.turn()
    assert runtime.record.calls == 5
    assert sum(results(runtime).values()) == 5
    assert len(runtime.sink.opened_attempts) == 1


def test_a_tool_that_the_gate_takes_over_in_mid_call_is_left_to_it(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        runtime.model(calls=True)
        with runtime.tool():
            attempt.gate(lambda path: "same", tool="read")(path="a.md")
        assert attempt.machine.running == 0
    assert runtime.record.verdicts == {"deliver": 1}
    assert sum(results(runtime).values()) == 1


def test_a_gated_tool_that_fails_is_judged_by_the_gate_alone(runtime):
    def fail(path):
        raise OSError

    with runtime.supervisor.attempt() as attempt, runtime.agent():
        for _ in range(3):
            with pytest.raises(OSError):  # noqa: PT011 - the tool's own
                attempt.gate(fail, tool="read")(path="a.md")
    assert runtime.record.calls == 3
    assert runtime.record.stall.max_repeated_failed_reads == 2


def test_an_agent_below_a_gated_tool_is_an_attempt_of_its_own(runtime):
    def ask_sub(question):
        with runtime.agent("sub"):
            runtime.turn("a.md", "a.md")
            runtime.model()
        return "done"

    with runtime.supervisor.attempt(run_id="main") as attempt, runtime.agent("main"):
        runtime.turn()
        runtime.model(calls=True)
        attempt.gate(ask_sub, tool="ask_sub")(question="?")
        runtime.model()
        attempt.answered()
    sub, main = runtime.sink.records
    assert (sub.agent_name, sub.calls, sub.turns, sub.outcome, sub.enforced) == ("sub", 2, 2, Outcome.ANSWERED, False)
    assert (main.agent_name, main.run_id, main.calls, main.turns) == ("main", "main", 2, 3)
    assert main.read_evidence is None


def test_the_first_agent_span_inside_an_attempt_is_that_attempt(runtime):
    with runtime.supervisor.attempt(run_id="mine", agent_name=None) as attempt:
        with runtime.agent("first") as span:
            runtime.loop()
            runtime.model()
            assert span.attributes["docsfab.stop.code"] == "execution-read-loop-withheld-reads-bound"
            assert span.attributes["docsfab.outcome"] == "failed"
            assert span.attributes["docsfab.enforced"] is True
        with runtime.agent("second"):
            runtime.turn()
        assert attempt.ref.span_id == f"{span.context.span_id:016x}"
        assert attempt.ref.trace_id == f"{span.context.trace_id:032x}"
    second, first = runtime.sink.records
    assert (first.run_id, first.agent_name, first.calls) == ("mine", "first", 18)
    assert (second.agent_name, second.calls) == ("second", 1)


def test_marked_turns_are_nobody_else_s_to_begin(runtime):
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        with attempt.turn():
            runtime.turn("a.md", "b.md")
            runtime.turn("c.md")
        runtime.call()
    assert runtime.record.turns == 2  # the marked one, and that of the call outside


def test_spans_in_an_attempt_of_another_supervisor_are_not_taken_for_its_own(runtime):
    other = Runtime()
    with other.supervisor.attempt() as attempt, runtime.agent():
        runtime.turn()
    assert attempt.record().calls == 0
    assert runtime.record.calls == 1


def test_spans_before_the_agent_s_belong_to_the_host_s_attempt(runtime):
    with runtime.supervisor.attempt(), runtime.span("prepare"):
        runtime.call()
        runtime.call()
    assert runtime.record.calls == 2
    assert runtime.record.read_evidence.unchanged_re_reads == 1
