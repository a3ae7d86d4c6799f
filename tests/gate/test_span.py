"""The span on which the gate writes: the runtime's own, or one of ours; never content."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from otel_docsfab.gate import span as gate_span

SECRET = "planted-secret-5e1f"  # noqa: S105 - planted on purpose


class Traces:
    def __init__(self, monkeypatch):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("some.runtime")
        monkeypatch.setattr(gate_span, "_tracer", self.provider.get_tracer("otel_docsfab"))

    @property
    def spans(self):
        return self.exporter.get_finished_spans()


@pytest.fixture
def traces(monkeypatch):
    return Traces(monkeypatch)


def test_without_a_span_around_the_gate_opens_its_own(stage, traces):
    stage.thrice(lambda path: SECRET, path=SECRET)
    assert [span.name for span in traces.spans] == ["execute_tool read"] * 3
    told = [dict(span.attributes) for span in traces.spans]
    common = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}
    counted = {"docsfab.read.first_turn": 1}
    assert told == [
        common | {"docsfab.turn": 1, "docsfab.read.verdict": "deliver"},
        common
        | counted
        | {
            "docsfab.turn": 2,
            "docsfab.read.verdict": "deliver-with-notice",
            "docsfab.read.repeats": 1,
            "docsfab.read.cross_result": 1,
        },
        common
        | counted
        | {
            "docsfab.turn": 3,
            "docsfab.read.verdict": "notice-only",
            "docsfab.read.repeats": 2,
            "docsfab.read.cross_result": 2,
        },
    ]


@pytest.mark.parametrize(
    "marks",
    [
        {"gen_ai.operation.name": "execute_tool"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"},
        {"openinference.span.kind": "TOOL", "tool.name": "read"},
        {"traceloop.span.kind": "tool"},
    ],
)
def test_the_runtime_s_own_tool_span_is_written_on(stage, traces, marks):
    read = stage.attempt.gate(lambda path: "same", tool="read")
    with traces.tracer.start_as_current_span("the runtime's", attributes=marks):
        read(path="a")
    (span,) = traces.spans
    assert span.attributes["docsfab.read.verdict"] == "deliver"
    assert span.attributes["docsfab.turn"] == 1


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"gen_ai.operation.name": "invoke_agent"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search_and_read"},
    ],
)
def test_another_span_around_is_left_alone(stage, traces, attributes):
    read = stage.attempt.gate(lambda path: "same", tool="read")
    with traces.tracer.start_as_current_span("around", attributes=attributes):
        read(path="a")
    own, around = traces.spans
    assert own.name == "execute_tool read"
    assert own.parent.span_id == around.context.span_id
    assert dict(around.attributes) == attributes


def test_an_unjudged_read_says_so(stage, traces):
    stage.attempt.gate(lambda path: object(), tool="read")(path="a")
    assert traces.spans[0].attributes["docsfab.read.verdict"] == "unjudged"


def test_a_denial_is_written_and_the_tool_has_no_span_below(stage, traces):
    read = stage.attempt.gate(lambda path: "same", tool="read")
    with stage.attempt.turn():
        for _ in range(4):
            read(path="a")
    read(path="a")
    assert traces.spans[-1].attributes["docsfab.read.verdict"] == "denied"
    assert traces.spans[-1].attributes["docsfab.turn"] == 2


def test_r27_a_failing_tool_s_message_stays_out_of_our_span(stage, traces):
    def fail(path):
        raise PermissionError(SECRET)

    with pytest.raises(PermissionError):
        stage.attempt.gate(fail, tool="read")(path=SECRET)
    (span,) = traces.spans
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "PermissionError"
    assert SECRET not in span.to_json()
    assert span.events == ()


async def test_an_async_tool_runs_under_its_span(stage, traces):
    async def read_file(path):
        return trace.format_span_id(trace.get_current_span().get_span_context().span_id)

    inside = await stage.attempt.gate(read_file, tool="read")(path="a")
    (span,) = traces.spans
    assert inside == trace.format_span_id(span.context.span_id)


def test_mode_off_opens_no_span(stage_of, traces):
    stage_of(mode="off").thrice(lambda path: "same", path="a")
    assert traces.spans == ()


class Raising(SpanProcessor):
    def __init__(self, where):
        self.where = where

    def on_start(self, span, parent_context=None):
        if self.where == "start":
            raise RuntimeError(SECRET)

    def on_end(self, span):
        if self.where == "end":
            raise RuntimeError(SECRET)


@pytest.mark.parametrize("where", ["start", "end"])
def test_a_foreign_span_processor_that_raises_costs_neither_the_call_nor_its_result(stage, traces, where):
    traces.provider.add_span_processor(Raising(where))
    parents = []

    def read_file(path):
        parents.append(trace.get_current_span().get_span_context().is_valid)
        return "same"

    with pytest.raises(RuntimeError), traces.tracer.start_as_current_span("around"):
        pass  # the host sees its own processor's error in its own spans
    first, second, third = stage.thrice(read_file, path="a")
    assert first == "same"
    assert second != first
    assert third != second
    assert stage.faults == {"gate": 3}
