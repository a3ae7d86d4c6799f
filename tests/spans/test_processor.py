"""The live processor: what it makes of a runtime's spans, and that it never hurts the runtime."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits
from opentelemetry.trace import NonRecordingSpan, SpanContext, StatusCode, TraceFlags

from otel_docsfab import Outcome, Supervisor
from otel_docsfab.core import wording
from otel_docsfab.spans import dialects
from otel_docsfab.spans.processor import LiveSpan
from otel_docsfab.supervisor import Site
from tests.spans.runtime import UNKNOWN, Runtime, keys

SECRET = "planted-secret-77b0"  # noqa: S105 - planted on purpose


@pytest.fixture
def runtime():
    return Runtime(mode="observe")


# What it sees


def test_an_agent_span_is_an_attempt_with_what_it_says_of_itself(runtime):
    facts = {
        "docsfab__run__id": "run-1",
        "docsfab__step__id": "plan",
        "docsfab__step__kind": "read-only",
        "docsfab__attempt__number": 2,
        "docsfab__attempt__retry_of": "no-progress",
    }
    with runtime.agent("reader", **facts) as span:
        runtime.loop(10)
        runtime.model(gen_ai__request__model="m-1")
        assert span.attributes["docsfab.conclude_now.trigger"] == "read-loop"
        assert span.attributes["docsfab.outcome"] == "open"
        assert span.attributes["docsfab.enforced"] is False
    record = runtime.record
    assert (record.run_id, record.step_id, record.step_kind) == ("run-1", "plan", "read-only")
    assert (record.attempt, record.retry_of, record.agent_name, record.model) == (2, "no-progress", "reader", "m-1")
    assert (record.outcome, record.conclude_now.turn, record.enforced) == (Outcome.ANSWERED, 10, False)
    assert (record.span_id, record.trace_id) == (f"{span.context.span_id:016x}", f"{span.context.trace_id:032x}")
    ref, _ = runtime.sink.opened_attempts[0]
    assert (ref.run_id, ref.span_id) == ("run-1", record.span_id)


@pytest.mark.parametrize(
    "odd",
    [
        {"docsfab.run.id": 7, "docsfab.step.id": "", "docsfab.step.kind": "readonly", "docsfab.attempt.number": -1},
        {"docsfab.attempt.number": True, "docsfab.attempt.timeout_ms": 0, "docsfab.step.judgment": "yes"},
        {"docsfab.attempt.retry_of": ("no-progress",), "docsfab.answer.path": "mail"},
    ],
)
def test_what_makes_no_sense_on_an_agent_span_is_left_out(runtime, odd):
    with runtime.agent() as span:
        span.set_attributes(odd)
    with runtime.span("invoke_agent", gen_ai__operation__name="invoke_agent", **odd):
        runtime.turn()
    assert (runtime.record.attempt, runtime.record.step_id, runtime.record.step_kind) == (1, None, None)
    assert runtime.faults == {}


def test_a_stop_is_written_on_the_still_open_agent_span(runtime):
    with runtime.agent() as span:
        runtime.loop()
        runtime.model()
        assert span.attributes["docsfab.stop.code"] == "execution-read-loop-withheld-reads-bound"
        assert span.attributes["docsfab.outcome"] == "failed"
    assert runtime.record.outcome is Outcome.ANSWERED  # R16: the last response asked for no tool
    assert runtime.sink.decisions[0].attempt.trace_id == f"{span.context.trace_id:032x}"


def test_r23_a_timer_that_fires_is_written_too(runtime):
    with runtime.agent(docsfab__attempt__timeout_ms=1_000) as span:
        runtime.turn()
        runtime.clock.now_ms = 1_000
        runtime.model()
        assert span.attributes["docsfab.deadline_turn"] == "between-requests"
        assert span.attributes["docsfab.stop.code"] == "attempt-deadline-in-tool-loop"


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_r16_a_response_at_the_output_limit_is_no_answer(runtime, reason):
    with runtime.agent():
        runtime.turn()
        runtime.model(reason=reason)
    assert runtime.record.outcome is Outcome.CANCELLED


def test_r16_a_response_that_failed_is_no_answer_and_no_turn(runtime):
    with runtime.agent():
        runtime.turn()
        runtime.model(error=True)
        runtime.model(error=True)
    assert runtime.record.outcome is Outcome.CANCELLED
    assert runtime.record.turns == 1


def test_r16_an_agent_that_failed_did_not_answer(runtime):
    with runtime.agent() as span:
        runtime.turn()
        runtime.model()
        span.set_status(StatusCode.ERROR)
    assert runtime.record.outcome is Outcome.CANCELLED


def test_an_agent_that_asks_for_nothing_and_does_nothing_is_no_attempt(runtime):
    with runtime.agent():
        pass
    assert runtime.sink.opened_attempts == []
    assert runtime.supervisor.live_attempts == 0


def test_without_model_spans_a_good_end_is_an_answer(runtime):
    with runtime.agent():
        for _ in range(3):
            runtime.call()
    assert (runtime.record.turns, runtime.record.outcome) == (3, Outcome.ANSWERED)


def test_r12_a_compaction_in_mid_turn_holds_for_the_calls_that_end_after_it(runtime):
    with runtime.agent() as agent:
        runtime.turn()
        runtime.model(calls=True)
        with runtime.tool():
            agent.add_event("docsfab.compaction")
        runtime.model(calls=True)
        with runtime.tool(), runtime.span("docsfab.compaction"):
            pass
    assert runtime.sink.verdicts == ["deliver"] * 3
    assert runtime.record.read_evidence is None


def test_r12_a_compaction_may_be_an_event_of_the_tool_span_itself(runtime):
    with runtime.agent():
        runtime.turn()
        runtime.model(calls=True)
        with runtime.tool() as span:
            span.add_event("docsfab.compaction")
            span.add_event("something.else")
    assert runtime.sink.verdicts == ["deliver"] * 2


def test_r12_a_compaction_before_anything_else_counts(runtime):
    with runtime.agent():
        with runtime.span("docsfab.compaction"):
            pass
        runtime.turn("a.md", "a.md")
    assert runtime.sink.verdicts == ["deliver", "deliver-with-notice"]


def test_r06_an_own_notice_that_comes_back_as_a_result_is_nothing(runtime):
    with runtime.agent():
        runtime.turn("a.md")
        for text in (wording.notice("read", "a.md", 1), wording.denial("read", "read-loop")):
            runtime.turn(("read", text))
        runtime.turn("a.md")
    assert runtime.sink.verdicts == ["deliver", "deliver-with-notice"]
    assert runtime.record.read_evidence.unchanged_re_reads == 1
    assert runtime.record.progress == {"new-content": 1}


def test_r29_a_value_that_the_sdk_may_have_cut_is_unknown():
    runtime = Runtime(span_limits=SpanLimits(max_span_attribute_length=40))
    with runtime.agent():
        for text in ("x" * 39, "x" * 39, "x" * 40, "x" * 40, "x" * 41):
            runtime.model(calls=True)
            runtime.call(result=text)
    assert runtime.sink.verdicts == ["deliver", "deliver-with-notice", "unjudged", "unjudged", "unjudged"]
    assert runtime.record.unjudged == {"result-cut": 3}


def test_r29_digests_judge_where_content_is_not_captured(runtime):
    digest = "sha256:" + "ab" * 32
    with runtime.agent():
        for _ in range(2):
            runtime.model(calls=True)
            marks = {"docsfab__result__digest": digest, "docsfab__arguments__digest": digest}
            runtime.call(result=UNKNOWN, arguments=UNKNOWN, **marks)
    assert runtime.sink.verdicts == ["deliver", "deliver-with-notice"]
    assert ("docsfab.read.bytes", ("deliver", "false")) not in runtime.supervisor.tallies.read()


def test_agents_in_parallel_tasks_do_not_mix(runtime):
    async def run(name):
        with runtime.agent(name):
            for _ in range(5):
                await asyncio.sleep(0)
                runtime.turn()
            runtime.model()

    async def main():
        await asyncio.gather(*(run(f"agent-{index}") for index in range(20)))

    asyncio.run(main())
    assert len(runtime.sink.records) == 20
    assert {record.read_evidence.unchanged_re_reads for record in runtime.sink.records} == {4}
    assert {record.turns for record in runtime.sink.records} == {6}


def test_parallel_tool_spans_of_worker_threads_are_all_counted():
    threads, calls = 16, 50
    runtime = Runtime(mode="observe", limits={"execution.toolCallCeiling": threads * calls + 1})
    with runtime.agent() as agent:
        runtime.model(calls=True)

        def work(index):
            for call in range(calls):
                span = runtime.start_tool(parent=agent)
                span.set_attribute("gen_ai.tool.call.arguments", '{"path": "a.md"}')
                span.set_attribute("gen_ai.tool.call.result", f"content {call}")
                span.end()

        workers = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        runtime.model()
    record = runtime.record
    total = threads * calls
    assert record.calls + sum(record.denied.values()) + record.calls_after_stop == total
    assert record.verdicts["deliver"] == calls
    assert record.read_evidence.unchanged_re_reads + calls == sum(record.verdicts.values())
    assert runtime.spans == {"judged": total, "ignored": 1}
    assert runtime.supervisor.live_attempts == 0


@pytest.mark.parametrize("around", ["agent", "span"])
def test_threads_that_come_first_at_the_same_time_open_one_attempt(around):
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30):
            runtime = Runtime(mode="observe")
            barrier = threading.Barrier(8)

            def work(parent, runtime=runtime, barrier=barrier):
                barrier.wait(30)
                span = runtime.start_tool(parent=parent)
                span.set_attribute("gen_ai.tool.call.arguments", '{"path": "a.md"}')
                span.set_attribute("gen_ai.tool.call.result", "same")
                barrier.wait(30)
                span.end()

            with getattr(runtime, around)("around") as parent:
                workers = [threading.Thread(target=work, args=(parent,)) for _ in range(8)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join(30)
            assert len(runtime.sink.opened_attempts) == 1
            assert runtime.record.calls == 8
            assert runtime.record.read_evidence.unchanged_re_reads == 7
            assert runtime.supervisor.live_attempts == 0
            assert runtime.faults == {}
    finally:
        sys.setswitchinterval(switch)


# That it never hurts the host


class BrokenDialect:
    name, scopes = "broken", frozenset({"broken.runtime"})

    def matches(self, view):
        raise RuntimeError(SECRET)

    role_at_start = start_tool = observe = matches


@pytest.fixture
def _broken_dialect(monkeypatch):
    registry = dialects.Registry()
    registry.register(BrokenDialect())
    monkeypatch.setattr(dialects, "REGISTRY", registry)


@pytest.mark.usefixtures("_broken_dialect")
def test_a_dialect_that_raises_is_nothing_to_the_host(caplog):
    runtime = Runtime(scope="broken.runtime")
    with runtime.agent():
        runtime.turn()
    assert runtime.sink.records == []
    assert SECRET not in caplog.text


class BrokenTools:
    def classify(self, tool, arguments=None):
        raise RuntimeError(SECRET)


def test_a_toolset_that_raises_leaves_no_call_open():
    runtime = Runtime(toolset=BrokenTools())
    with runtime.agent():
        runtime.turn("a.md", "a.md")
        runtime.model()
    assert runtime.record.outcome is Outcome.ANSWERED
    assert runtime.record.unjudged == {"arguments-not-captured": 2}
    assert runtime.supervisor.live_attempts == 0
    assert runtime.faults == {Site.ATTEMPT: 4}


class BrokenSink:
    def __getattr__(self, name):
        raise RuntimeError(SECRET)


def test_a_sink_and_a_callback_that_raise_are_nothing_to_the_host(caplog):
    def callback(decision):
        raise RuntimeError(decision.message)

    runtime = Runtime(sinks=[BrokenSink()], on_decision=callback)
    with runtime.agent():
        runtime.loop()
        runtime.model()
    assert set(runtime.faults) == {Site.SINK, Site.CALLBACK}
    assert not runtime.processor.force_flush(10)
    runtime.processor.shutdown()
    assert SECRET not in caplog.text
    assert "a.md" not in caplog.text


def test_a_fault_of_the_tracker_itself_is_counted(runtime, monkeypatch):
    monkeypatch.setattr(runtime.processor.tracker, "started", lambda *_, **__: 1 / 0)
    monkeypatch.setattr(runtime.processor.tracker, "ended", lambda *_, **__: 1 / 0)
    with runtime.agent():
        runtime.turn()
    assert runtime.faults == {Site.PROCESSOR: 6}


@pytest.mark.parametrize(
    "value",
    ["", "{", "[1, 2", b"\xff\x00", 0, -1.5, True, float("nan"), ("a", "b"), (), "\ud800", "x" * 100_000, "[" * 5_000],
    ids=repr,
)
def test_attributes_of_any_kind_are_nothing_to_the_host(runtime, value, caplog):
    caplog.set_level("ERROR")  # the SDK's own warnings about such values
    names = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.name", "gen_ai.tool.call.id")
    with runtime.agent():
        for name in names:
            runtime.model(calls=True)
            with runtime.span("execute_tool", gen_ai__operation__name="execute_tool") as span:
                span.set_attribute(name, value)
        with runtime.span("m", gen_ai__operation__name="chat", gen_ai__response__finish_reasons=value):
            pass
        for kind in ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind"):
            with runtime.span("any", **{kind.replace(".", "__"): value}):
                pass
        with runtime.span("docsfab.compaction", docsfab__evicted__call_ids=value) as span:
            span.add_event("docsfab.compaction", {"docsfab.evicted.call_ids": value})
            span.add_event("docsfab.output_started", {"kind": value})
    assert len(runtime.sink.records) == 1
    assert runtime.faults == {}


def test_spans_ended_twice_or_unknown_are_nothing(runtime):
    stranger = ReadableSpan("stranger", context=SpanContext(1, 2, is_remote=False))
    runtime.processor.on_end(stranger)
    runtime.processor.on_end(ReadableSpan("without context"))
    with runtime.agent() as agent:
        runtime.model(calls=True)
        span = runtime.start_tool(parent=agent)
        span.end()
        runtime.processor.on_end(span)
        runtime.processor.on_end(span)
    runtime.processor.on_end(agent)
    assert runtime.record.calls == 1
    assert runtime.faults == {}


def test_a_tool_span_that_ends_after_its_agent_still_belongs_to_it(runtime):
    with runtime.agent() as agent:
        runtime.turn()
        runtime.model(calls=True)
        late, later = runtime.start_tool(parent=agent), runtime.start_tool(parent=agent)
    assert runtime.sink.records == []
    later.set_status(StatusCode.ERROR)
    later.end()
    late.set_attribute("gen_ai.tool.call.arguments", '{"path": "a.md", "text": "same"}')
    late.set_attribute("gen_ai.tool.call.result", "same")
    assert runtime.sink.records == []
    late.end()
    assert runtime.record.read_evidence.unchanged_re_reads == 1
    assert runtime.supervisor.live_attempts == 0


def test_spans_out_of_order_are_nothing_to_the_host(runtime):
    tracer = runtime.tracer
    agent = tracer.start_span("a", attributes=keys({"gen_ai__operation__name": "invoke_agent"}))
    tool = runtime.start_tool(parent=agent)
    agent.end()
    below = runtime.start_tool(parent=tool)
    orphan = runtime.start_tool(parent=agent)
    tool.end()
    below.end()
    orphan.end()
    assert runtime.supervisor.live_attempts == 0
    assert len(runtime.processor.tracker) == 0
    assert runtime.faults == {}


def test_after_shutdown_spans_are_nothing_to_the_host(runtime):
    with runtime.agent() as agent:
        runtime.turn()
        span = runtime.start_tool(parent=agent)
        runtime.provider.shutdown()
        span.end()
        runtime.turn()
    assert [record.outcome for record in runtime.sink.records] == [Outcome.ABANDONED]
    with runtime.agent():
        runtime.loop()
        runtime.model()
    assert len(runtime.sink.records) == 1
    assert runtime.sink.is_shut_down
    assert runtime.provider.force_flush()


def test_closed_attempts_and_ended_spans_are_forgotten(runtime):
    for _ in range(50):
        with runtime.agent():
            runtime.turn()
            runtime.model()
    assert len(runtime.processor.tracker) == 0
    assert runtime.supervisor.live_attempts == 0
    from otel_docsfab.supervisor import Attempt  # noqa: PLC0415 - only counted here

    gc.collect()
    alive = [
        thing for thing in gc.get_objects() if isinstance(thing, Attempt) and thing.supervisor is runtime.supervisor
    ]
    assert alive == []


def test_a_remote_parent_is_nobody_s_agent(runtime):
    parent = SpanContext(5, 6, is_remote=True, trace_flags=TraceFlags(1))
    context = trace.set_span_in_context(NonRecordingSpan(parent))
    span = runtime.tracer.start_span("tool", context, attributes={"gen_ai.operation.name": "execute_tool"})
    assert LiveSpan(span).is_root
    span.end()
    assert runtime.record.calls == 1


def test_a_live_span_tells_what_it_is(runtime):
    with runtime.agent() as agent, runtime.tool() as span:
        view = LiveSpan(span)
        assert (view.name, view.scope, view.is_root) == ("execute_tool read", "some.runtime", False)
        assert LiveSpan(agent).is_root
        assert (view.error, view.explicit_ok, view.status_description) == (False, False, "")
        assert view.value_length_limit is None
        span.set_status(StatusCode.OK)
        assert view.explicit_ok
    bare = LiveSpan(ReadableSpan("bare"))
    assert (bare.scope, bare.attributes, bare.events, bare.value_length_limit) == ("", {}, [], None)


def test_unsampled_and_foreign_spans_cost_nothing_and_open_nothing(runtime):
    with runtime.span("GET /"), runtime.span("SELECT"):
        pass
    assert runtime.sink.opened_attempts == []
    assert runtime.spans == {"ignored": 2}
    assert len(runtime.processor.tracker) == 0


def test_a_processor_of_a_supervisor_that_is_off_judges_nothing():
    runtime = Runtime(mode="off")
    with runtime.agent():
        runtime.loop(20)
    assert runtime.sink.judgements == runtime.sink.records == runtime.sink.decisions == []
    assert runtime.supervisor.live_attempts == 0
    assert runtime.faults == {}


def test_a_blocking_callback_holds_up_its_own_agent_only():
    entered, release = threading.Event(), threading.Event()

    def block(decision):
        if decision.attempt.agent_name == "blocked":
            entered.set()
            assert release.wait(30)

    runtime = Runtime(on_decision=block)

    def run():
        with runtime.agent("blocked"):
            runtime.loop()
            runtime.model()

    thread = threading.Thread(target=run)
    thread.start()
    assert entered.wait(30)
    with runtime.agent("free"):
        runtime.loop()
        runtime.model()
    assert [record.agent_name for record in runtime.sink.records] == ["free"]
    release.set()
    thread.join(30)
    assert [record.agent_name for record in runtime.sink.records] == ["free", "blocked"]


def test_a_callback_that_makes_spans_and_calls_back_does_not_lock_up():
    def call_back(decision):
        if decision.attempt.agent_name == "first":
            with runtime.agent("from the callback"):
                runtime.turn()
            (attempt,) = runtime.supervisor._attempts.all()
            attempt.record()
            attempt.answered()

    runtime = Runtime(on_decision=call_back)
    with runtime.agent("first"):
        runtime.loop()
        runtime.model()
    assert [record.agent_name for record in runtime.sink.records] == ["from the callback", "first"]
    assert runtime.faults == {}


def test_one_supervisor_may_serve_two_providers():
    one, two = Runtime(), Runtime()
    two.processor.supervisor = one.supervisor
    with contextlib.ExitStack() as stack:
        stack.enter_context(one.agent("one"))
        one.turn()
    assert one.record.calls == 1
    assert isinstance(two.supervisor, Supervisor)
