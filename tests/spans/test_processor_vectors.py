"""Every conformance vector as real spans through the processor, in two conventions and two ways to tell a compaction.

A turn is a model span that ends well and the tool spans that start then. Nothing but spans and time is told.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, StatusCode

from otel_docsfab import ReadLoopSpanProcessor, Supervisor
from otel_docsfab.testing import ManualClock, MemorySink
from tests.vectors import cases

INEXPRESSIBLE = {
    "ask-in-an-answer-turn": (
        {"concludeNow"},
        "the ask's moment passes while the answer streams: a span tells what it streamed only when it ends",
    ),
}
"""Case: the parts of ``expect`` that live spans cannot bring about, and why."""


class GenAi:
    """The GenAI semantic conventions."""

    agent: ClassVar = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "reader"}
    model: ClassVar = {"gen_ai.operation.name": "chat"}

    @staticmethod
    def tool(call: cases.Tool) -> dict[str, Any]:
        facts = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": str(call.position),
        }
        return facts | known("gen_ai.tool.call.arguments", text_of(call.arguments))

    @staticmethod
    def result(call: cases.Tool) -> dict[str, Any]:
        return known("gen_ai.tool.call.result", call.result)

    @staticmethod
    def response(turn: cases.Turn) -> dict[str, Any]:
        reason = "tool_calls" if turn.calls else "stop" if turn.answers else "length"
        return {"gen_ai.response.finish_reasons": (reason,)}


class OpenInference:
    """OpenInference's keys; the tool's name is told late, its call id not at all but by ``tool.id``."""

    agent: ClassVar = {"openinference.span.kind": "AGENT", "agent.name": "reader"}
    model: ClassVar = {"openinference.span.kind": "LLM"}

    @staticmethod
    def tool(call: cases.Tool) -> dict[str, Any]:
        return {"openinference.span.kind": "TOOL", "tool.id": str(call.position)}

    @staticmethod
    def result(call: cases.Tool) -> dict[str, Any]:
        facts = {"tool.name": call.tool, **known("input.value", text_of(call.arguments))}
        return facts | known("output.value", call.result)

    @staticmethod
    def response(turn: cases.Turn) -> dict[str, Any]:
        if not turn.calls:
            return {"llm.finish_reason": "stop" if turn.answers else "length"}
        return {"llm.output_messages.0.message.tool_calls.0.tool_call.function.name": turn.calls[0].tool}


def known(key: str, value: Any) -> dict[str, Any]:
    return {} if value is None else {key: value}


def text_of(arguments: Any) -> str | None:
    return arguments if arguments is None or isinstance(arguments, str) else json.dumps(arguments)


class Drive:
    """One case as one trace."""

    def __init__(self, case: cases.Case, convention: Any, *, compactions_as_events: bool):
        self.case, self.convention, self.as_events = case, convention, compactions_as_events
        self.clock, self.sink = ManualClock(), MemorySink()
        self.supervisor = Supervisor(limits=case.settings.limits, sinks=[self.sink], clock=self.clock, mode="observe")
        provider = TracerProvider()
        provider.add_span_processor(ReadLoopSpanProcessor(self.supervisor))
        self.tracer = provider.get_tracer("some.runtime")
        self.agent = self.tracer.start_span("agent", attributes=convention.agent | self.facts())
        self.tools: dict[int, Span] = {}
        self.calling = False

    def facts(self) -> dict[str, Any]:
        """What the agent span says of its attempt."""
        given = self.case.settings
        step = given.step
        facts = {
            "docsfab.step.id": step.id,
            "docsfab.step.kind": step.kind,
            "docsfab.step.judgment": step.judgment,
            "docsfab.answer.path": step.answer_path,
            "docsfab.attempt.number": given.number,
            "docsfab.attempt.retry_of": given.retry_of,
            "docsfab.attempt.timeout_ms": given.timer_ms,
        }
        return {key: value for key, value in facts.items() if value is not None}

    def start(self, name: str, attributes: dict[str, Any]) -> Span:
        return self.tracer.start_span(name, trace.set_span_in_context(self.agent), attributes=attributes)

    def run(self) -> cases.Observed:
        for _, event, at_ms in self.case.timeline():
            self.clock.now_ms = at_ms
            match event:
                case cases.Turn(calls):
                    self.model_turn(event)
                    for call in calls:
                        self.tools[call.position] = self.start(call.tool, self.convention.tool(call))
                case cases.Tool():
                    self.tool_ends(event)
                case cases.Compaction():
                    self.compaction({})
                case cases.Evicted(positions):
                    self.compaction({"docsfab.evicted.call_ids": tuple(map(str, positions))})
                case cases.Answer() if self.calling:  # in spans, an answer after calls is a response of its own
                    self.model_turn(cases.Turn((), answers=True))
        self.clock.now_ms = self.case.end_ms
        return self.finish()

    def model_turn(self, turn: cases.Turn) -> None:
        self.calling = bool(turn.calls)
        span = self.start("model", self.convention.model)
        span.set_attributes(self.convention.response(turn))
        span.end()

    def tool_ends(self, call: cases.Tool) -> None:
        span = self.tools[call.position]
        span.set_attributes(self.convention.result(call))
        if not call.ok:
            span.set_status(StatusCode.ERROR, "it failed")
        span.end()

    def compaction(self, facts: dict[str, Any]) -> None:
        if self.as_events:
            self.agent.add_event("docsfab.compaction", facts)
        else:
            self.start("docsfab.compaction", facts).end()

    def finish(self) -> cases.Observed:
        """An answered case ends with its agent; in any other the next request goes out, which ends the last turn."""
        open_record = None
        if self.case.expect["outcome"] == "answered":
            self.agent.end()
        else:
            self.start("model", self.convention.model)
            (attempt,) = self.supervisor._attempts.all()
            open_record = attempt.record()
        observed = cases.Observed()
        for _, effect, enforced in self.sink.judgements:
            assert not enforced
            observed.take(effect.call - 1, effect)  # type: ignore[operator]  # calls start in order, keys count from 1
        return observed.finish(open_record or self.sink.records[0])


def check(case: cases.Case, drive: Drive) -> None:
    left_out, _ = INEXPRESSIBLE.get(case.name, (set(), ""))
    assert cases.compare(case, drive.run(), left_out) == []
    assert sum(drive.supervisor.faults.counts().values()) == 0


@pytest.mark.parametrize("compactions_as_events", [False, True], ids=["child-span", "span-event"])
@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_vector_as_genai_spans(case, compactions_as_events):
    check(case, Drive(case, GenAi, compactions_as_events=compactions_as_events))


@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_vector_as_openinference_spans(case):
    check(case, Drive(case, OpenInference, compactions_as_events=False))


@pytest.mark.parametrize("name", INEXPRESSIBLE)
def test_what_is_listed_as_inexpressible_is_so(name):
    (case,) = (case for case in cases.load_cases() if case.name == name)
    observed = Drive(case, GenAi, compactions_as_events=False).run()
    differing = {line.removeprefix(f"{name}: ").split()[0].split("[")[0] for line in cases.compare(case, observed)}
    assert differing == INEXPRESSIBLE[name][0]
