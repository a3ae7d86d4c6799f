"""What spans tell while they are open, what a host's words leave on them, and what a replay makes of both."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_docsfab import ReadLoopSpanProcessor, Supervisor
from otel_docsfab.core import Step, StepKind
from otel_docsfab.spans.stream import OpenSpans
from otel_docsfab.testing import ManualClock, MemorySink
from tests.time.drivers import ASK_AT_MS, TIMER_MS, BySpans, facts_of, replayed

AGENT = {"gen_ai.operation.name": "invoke_agent"}
MODEL = {"gen_ai.operation.name": "chat"}


def test_events_of_any_open_span_of_a_timed_attempt_count():
    """Wherever the host could write: on the agent's span, the model's, or one that nobody knows."""
    for where in ("agent", "model", "unknown"):
        driver = BySpans(kind="write")
        driver.tool_turn()
        driver.begin_turn()
        spans = {"agent": driver.agent, "model": driver.model, "unknown": driver._start("POST", driver.model)}
        spans[where].add_event("docsfab.request_sent", timestamp=driver.now_ns)
        driver.until(TIMER_MS)
        spans["unknown"].end(driver.now_ns)
        assert driver.close().deadline_turn == "awaiting-first-byte", where


def test_each_event_is_read_once_and_before_the_end_of_its_request():
    """The end of a model span is the end of its request, whatever was not read of it until then."""
    driver = BySpans(kind="write")
    driver.tool_turn()
    driver.begin_turn()
    driver.sent()
    driver.output("tool-call")
    driver.ended()
    driver.until(TIMER_MS)
    assert driver.close().deadline_turn == "between-requests"


def test_an_event_on_the_agent_span_before_the_model_span_is_not_forgotten(tmp_path):
    driver = BySpans(kind="write")
    driver.tool_turn()
    driver.tick()
    driver.agent.add_event("docsfab.request_sent", timestamp=driver.now_ns)
    driver.begin_turn()
    driver.until(TIMER_MS)
    record = driver.close()
    assert record.deadline_turn == "awaiting-first-byte"
    assert driver.replay(tmp_path) == facts_of(record)


@pytest.mark.parametrize("ends", ["an event", "a tool"])
def test_without_model_spans_a_request_is_over_when_somebody_says_so_or_a_tool_starts(ends, tmp_path):
    driver = BySpans(kind="write")
    driver.agent.add_event("docsfab.request_sent", timestamp=driver.now_ns)
    driver.tick()
    driver.agent.add_event("docsfab.output_started", {"kind": "tool-call"}, timestamp=driver.now_ns)
    if ends == "an event":
        driver.tick()
        driver.agent.add_event("docsfab.request_ended", timestamp=driver.now_ns)
    else:
        driver.call()
    driver.until(TIMER_MS)
    record = driver.close()
    assert record.deadline_turn == "between-requests"
    assert driver.replay(tmp_path) == facts_of(record)


def test_a_kind_of_output_that_nobody_knows_is_other_output():
    driver = BySpans(kind="write")
    driver.begin_turn()
    driver.output("poetry")
    driver.until(TIMER_MS)
    assert driver.close().deadline_turn == "streaming"


def test_a_compaction_is_seen_while_its_span_is_open():
    """A free first return (R12) for a read behind the event, although the event's span goes on."""
    driver = BySpans()
    driver.begin_turn()
    driver.reads = 0
    driver.call()
    driver.model.add_event("docsfab.compaction", timestamp=driver.now_ns)
    driver.reads = 0
    driver.call()
    driver.close()
    assert driver.sink.verdicts == ["deliver", "deliver"]


def test_spans_are_let_go_when_they_end():
    driver = BySpans()
    for _ in range(50):
        driver.tool_turn()
    (attempt,) = driver.supervisor._attempts.all()
    owner = attempt.timing.news.__closure__
    held = [cell.cell_contents for cell in owner if hasattr(cell.cell_contents, "live")]
    assert [len(owner.live) for owner in held] == [1]  # the agent's
    driver.close()


def test_events_that_the_sdk_dropped_are_gone_and_the_rest_is_read_once():
    provider = TracerProvider(span_limits=SpanLimits(max_events=4))
    span = provider.get_tracer("x").start_span("x")
    spans = OpenSpans()
    spans.hold("key", span)
    seen = []
    for round_ in range(3):
        for kind in ("answer", "tool-call", "other"):
            span.add_event("docsfab.output_started", {"kind": kind})
        if round_ != 1:
            seen.append([news.event.kind for news in spans.fresh(requests=True)])
    assert seen == [["answer", "tool-call", "other"], ["other", "answer", "tool-call", "other"]]
    assert spans.fresh(requests=True) == []


# A host's attempt with spans: the host's words, and what is left for a replay


class Host:
    """A host that opens its attempt itself and runs an instrumented agent in it."""

    def __init__(self, **facts):
        self.sink, self.clock = MemorySink(), ManualClock()
        self.exporter = InMemorySpanExporter()
        self.supervisor = Supervisor(sinks=[self.sink], clock=self.clock, mode="enforce")
        provider = TracerProvider()
        provider.add_span_processor(ReadLoopSpanProcessor(self.supervisor))
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("some.runtime")
        self.attempt = self.supervisor.attempt(timeout_ms=TIMER_MS, **facts)


def test_the_agent_span_says_what_the_attempt_is():
    host = Host(step=Step("some-step", StepKind.READ_ONLY, judgment=True), number=2, retry_of="no-progress", run_id="r")
    given = {**AGENT, "docsfab.run.id": "the host's own"}
    with host.attempt, host.tracer.start_as_current_span("agent", attributes=given):
        pass
    (span,) = host.exporter.get_finished_spans()
    said = {name: value for name, value in span.attributes.items() if name.startswith("docsfab.")}
    assert said == {
        "docsfab.run.id": "the host's own",
        "docsfab.step.id": "some-step",
        "docsfab.step.kind": "read-only",
        "docsfab.step.judgment": True,
        "docsfab.attempt.number": 2,
        "docsfab.attempt.retry_of": "no-progress",
        "docsfab.attempt.timeout_ms": TIMER_MS,
        "docsfab.attempt.began_unix_ms": host.attempt.began_unix_ms,
    }


@pytest.mark.parametrize("model_spans", [True, False])
@pytest.mark.parametrize(
    ("words", "position"),
    [
        (["request_sent"], "awaiting-first-byte"),
        (["request_sent", "answer"], "streaming-answer"),
        (["request_sent", "tool-call"], "streaming-tool-call"),
        (["request_sent", "other"], "streaming"),
        (["request_sent", "tool-call", "request_ended"], "between-requests"),
    ],
)
def test_the_host_s_words_win_over_spans_and_leave_events_for_a_replay(words, position, model_spans):
    host = Host(step="some-step", kind="write")
    with host.attempt:
        agent = host.tracer.start_span("agent", attributes=AGENT)
        inside = trace.set_span_in_context(agent)
        with trace.use_span(agent):
            model = host.tracer.start_span("chat", inside, attributes=MODEL) if model_spans else None
            with trace.use_span(model or agent):
                for word in words:
                    method = getattr(host.attempt, word, None)
                    if method is not None:
                        method()
                    else:
                        host.attempt.output_started(word)
            host.clock.advance(TIMER_MS)
        for span in (model, agent):
            if span is not None:
                span.end()
    (record,) = host.sink.records
    assert record.deadline_turn == position
    finished = {span.name: span for span in host.exporter.get_finished_spans()}
    told = [event.name for event in finished["chat" if model_spans else "agent"].events]
    expected = [word if word.startswith("request") else "output_started" for word in words]
    assert told == [f"docsfab.{word}" for word in expected]
    assert finished["agent"].attributes["docsfab.deadline_turn"] == position


def test_a_host_s_attempt_and_its_replay_agree(tmp_path):
    """Driven by the host's words and a gate, on spans whose times are the clock's; only the spans are replayed."""
    host = Host(step="some-step", kind="read-only")
    clock, attempt = host.clock, host.attempt

    def now_ns():
        return clock.unix_ms() * 1_000_000

    with attempt:
        clock.advance(700)  # the agent starts later than its attempt; the time runs from there
        agent = host.tracer.start_span("agent", attributes=AGENT, start_time=now_ns())
        inside = trace.set_span_in_context(agent)
        for path in ("a", "b"):
            clock.advance(5)
            model = host.tracer.start_span("chat", inside, attributes=MODEL, start_time=now_ns())
            clock.advance(5)
            model.set_attribute("gen_ai.response.finish_reasons", ("tool_calls",))
            model.end(now_ns())
            named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}
            clock.advance(5)
            arguments = {"gen_ai.tool.call.arguments": f'{{"path": "{path}"}}'}
            tool = host.tracer.start_span("tool", inside, attributes={**named, **arguments}, start_time=now_ns())
            clock.advance(5)
            tool.set_attribute("gen_ai.tool.call.result", path)
            tool.end(now_ns())
        clock.advance(ASK_AT_MS - clock.now_ms)
        assert attempt.conclude_request is not None
        model = host.tracer.start_span("chat", inside, attributes=MODEL, start_time=now_ns())
        model.add_event("docsfab.request_sent", timestamp=now_ns() + 5_000_000)
        clock.advance(TIMER_MS - clock.now_ms + 5)
        model.end(now_ns())
        agent.end(now_ns())
    (record,) = host.sink.records
    facts = facts_of(record)
    assert facts == {
        "outcome": "failed",
        "code": "attempt-deadline-awaiting-provider",
        "deadlineTurn": "awaiting-first-byte",
        "concludeNow": {"trigger": "attempt-deadline", "turn": 2},
    }
    assert replayed(list(host.exporter.get_finished_spans()), tmp_path) == [facts]


@pytest.mark.parametrize(
    ("reason", "outcome"), [(None, "failed"), ("stop", "answered"), ("length", "failed"), ("tool_calls", "failed")]
)
def test_after_the_timer_only_a_response_that_says_how_it_ended_is_an_answer(reason, outcome, tmp_path):
    """A run that was cancelled closes its spans without an error."""
    driver = BySpans(kind="write")
    driver.tool_turn()
    driver.begin_turn()
    driver.until(TIMER_MS)
    driver.tick()
    if reason is not None:
        driver.model.set_attribute("gen_ai.response.finish_reasons", (reason,))
    driver.model.end(driver.now_ns)
    driver.agent.end(driver.now_ns)
    assert driver.record.outcome == outcome
    assert driver.record.stop.code == "attempt-deadline-in-tool-loop"
    assert driver.replay(tmp_path) == facts_of(driver.record)
