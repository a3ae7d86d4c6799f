"""Spans as the Python SDK prints them."""

from __future__ import annotations

import io

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

from otel_docsfab.replay.readers import Problems
from tests.replay.files import spans_of


@pytest.fixture
def printed():
    """What the console exporter printed, and the spans themselves."""
    out, kept = io.StringIO(), InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("scope")
    with tracer.start_as_current_span("agent") as agent:
        agent.set_attribute("text", 'a { b " } \\ \n c')
        agent.add_event("e", {"n": 1})
        with tracer.start_as_current_span("tool") as tool:
            tool.set_attribute("numbers", [1, 2])
            tool.set_status(Status(StatusCode.ERROR, "why"))
    provider.shutdown()
    return out.getvalue(), kept.get_finished_spans()


def _check(read, spans):
    assert [span.name for span in read] == ["tool", "agent"]
    tool, agent = read
    assert tool.parent_id == agent.span_id == format(spans[1].context.span_id, "016x")
    assert (tool.error, tool.status_description, tool.attributes) == (True, "why", {"numbers": [1, 2]})
    assert (agent.is_root, agent.parent_id, agent.error) == (True, None, False)
    assert agent.attributes["text"] == 'a { b " } \\ \n c'
    assert [(event.name, event.attributes) for event in agent.events] == [("e", {"n": 1})]
    assert abs(agent.start_unix_ns - spans[1].start_time) < 1000  # to_json rounds to microseconds
    assert agent.resource["telemetry.sdk.language"] == "python"


def test_pretty_printed_over_many_lines(tmp_path, printed):
    text, spans = printed
    (tmp_path / "t.json").write_text(text)
    _check(spans_of(tmp_path / "t.json"), spans)


def test_one_a_line(tmp_path, printed):
    (tmp_path / "t.jsonl").write_text("\n".join(span.to_json(indent=None) for span in printed[1]))
    _check(spans_of(tmp_path / "t.jsonl"), printed[1])


def test_log_lines_between_printed_spans_are_named_and_the_spans_read(tmp_path, printed):
    text, spans = printed
    (tmp_path / "t.json").write_text("starting up\n" + text.replace("\n}\n{", "\n}\nINFO: hello {\n{") + "bye\n")
    problems = Problems()
    _check(spans_of(tmp_path / "t.json", problems=problems), spans)
    assert problems.broken == len(problems.named) > 0
    assert all(problem.line for problem in problems.named)
