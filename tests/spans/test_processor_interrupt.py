"""``interrupt=True``: after a stop, the next tool span's start ends the run and the tool never runs."""

from __future__ import annotations

import logging

import pytest

from otel_docsfab import AttemptStopped, Outcome
from otel_docsfab.gate import span as gate_span
from otel_docsfab.spans.processor import INTERRUPTIBLE_SCOPES
from tests.spans.runtime import Runtime

ARGUMENTS = '{"path": "a.md", "text": "same"}'


def interrupting(scope="pydantic-ai", **options):
    return Runtime(scope=scope, interrupt=True, **options)


def one_more(runtime, ran, scope="pydantic-ai"):
    """A model turn and a tool of this scope."""
    runtime.model(calls=True)
    tracer = runtime.provider.get_tracer(scope)
    with tracer.start_as_current_span("execute_tool bash", attributes={"gen_ai.operation.name": "execute_tool"}):
        ran.append("bash")


def looping_agent(runtime, ran, scope="pydantic-ai"):
    """An agent that loops, is stopped, and goes on."""
    with runtime.agent():
        runtime.loop()
        one_more(runtime, ran, scope)


@pytest.mark.parametrize("scope", sorted(INTERRUPTIBLE_SCOPES))
def test_the_next_tool_span_raises_and_its_body_never_runs(scope):
    runtime, ran = interrupting(), []
    with pytest.raises(AttemptStopped) as stop:
        looping_agent(runtime, ran, scope)
    assert ran == []
    assert stop.value.code == "execution-read-loop-withheld-reads-bound"
    assert stop.value.message == f"{stop.value.code}: 9 exceeds execution.readLoopWithheldReads = 8 count."
    assert not isinstance(stop.value, Exception)
    record = runtime.record
    assert (record.outcome, record.calls, record.calls_after_stop) == (Outcome.FAILED, 18, 1)


def test_an_interrupted_call_leaves_nothing_behind():
    runtime = interrupting()
    with pytest.raises(AttemptStopped):
        looping_agent(runtime, [])
    assert len(runtime.processor.tracker) == 0
    assert runtime.supervisor.live_attempts == 0
    assert runtime.faults == {}


def test_nothing_is_raised_before_a_stop_nor_for_spans_that_are_no_tools():
    runtime, ran = interrupting(), []
    with runtime.agent():
        runtime.loop(17)
        one_more(runtime, ran)
        runtime.loop(1)
        runtime.model()
        with runtime.span("SELECT"):
            ran.append("query")
    assert ran == ["bash", "query"]


def test_a_tool_that_shows_itself_only_at_its_end_is_known_by_scope_and_name_after_a_stop():
    runtime, ran = interrupting("openinference.instrumentation.langchain"), []
    marks = {"openinference.span.kind": "TOOL", "tool.name": "read", "input.value": "a.md", "output.value": "same"}

    def late(name):
        with runtime.span("model", openinference__span__kind="LLM"):
            pass
        with runtime.span(name) as span:
            ran.append(name)
            span.set_attributes(marks)

    def agent():
        with runtime.span("reader", openinference__span__kind="AGENT"):
            for name in [*["read_file"] * 18, "some other work", "read_file"]:
                late(name)

    with pytest.raises(AttemptStopped):
        agent()
    assert ran == ["read_file"] * 18 + ["some other work"]


@pytest.mark.parametrize(("strict", "level"), [(False, logging.WARNING), (True, logging.ERROR)])
def test_where_it_was_not_tested_it_says_so_once_and_does_nothing(caplog, strict, level):
    runtime, ran = interrupting(strict=strict), []
    with runtime.agent():
        runtime.loop()
        one_more(runtime, ran, "strands.telemetry.tracer")
        one_more(runtime, ran, "strands.telemetry.tracer")
    assert ran == ["bash"] * 2
    (line,) = caplog.records
    assert line.levelno == level
    assert "strands.telemetry.tracer" in line.getMessage()
    assert runtime.record.calls_after_stop == 2


def test_without_interrupt_nothing_is_raised():
    runtime, ran = Runtime(scope="pydantic-ai"), []
    looping_agent(runtime, ran)
    assert ran == ["bash"]


def test_the_gate_s_own_spans_are_left_to_the_gate(monkeypatch, caplog):
    runtime = interrupting()
    monkeypatch.setattr(gate_span, "_tracer", runtime.provider.get_tracer("otel_docsfab"))
    with runtime.supervisor.attempt() as attempt, runtime.agent():
        read = attempt.gate(lambda path: "same", tool="read")
        with attempt.turn():
            for _ in range(18):
                read(path="a.md")
        assert read(path="a.md").startswith("[docsfab] read was not run.")
    assert caplog.records == []
    assert runtime.record.calls_after_stop == 1


def test_a_span_that_tells_of_the_same_call_again_raises_nothing():
    """The outer span of a call that was running when the stop came lets its inner one start."""
    runtime, ran = interrupting(), []
    with runtime.agent() as agent:
        runtime.loop(17)
        runtime.model(calls=True)
        with runtime.tool():
            (attempt,) = runtime.supervisor._attempts.all()
            span = runtime.start_tool(parent=agent)
            for name, value in (("arguments", ARGUMENTS), ("result", "same")):
                span.set_attribute(f"gen_ai.tool.call.{name}", value)
            span.end()
            with attempt.turn():
                pass  # the host looks at the bounds
            assert attempt.machine.stop is not None
            with runtime.tool():
                ran.append("inner")
    assert ran == ["inner"]


def test_warnings_about_scopes_are_bounded(caplog):
    runtime = interrupting()
    with runtime.agent() as agent:
        runtime.loop()
        runtime.model(calls=True)
        for number in range(120):
            tracer = runtime.provider.get_tracer(f"scope-{number}")
            with tracer.start_as_current_span("x", attributes={"gen_ai.operation.name": "execute_tool"}):
                pass
        assert agent.is_recording()
    assert len(caplog.records) == 100
