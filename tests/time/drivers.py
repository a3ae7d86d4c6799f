"""Two ways to say where an attempt is: the host's own words, and spans. Time stands still unless it is told to pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_docsfab import AttemptRecord, ReadLoopSpanProcessor, Supervisor
from otel_docsfab.core import SUBMIT_TOOL
from otel_docsfab.replay.run import Replay, Request
from otel_docsfab.testing import ManualClock, MemorySink

TIMER_MS, ASK_AT_MS = 100_000, 45_000
"""With the default reserve of 55,000 ms."""
FACTS = ("outcome", "code", "deadlineTurn", "concludeNow")


def facts_of(record: AttemptRecord) -> dict[str, Any]:
    """What an attempt and its replay have to agree on."""
    return {name: value for name, value in json.loads(json.dumps(record.as_dict())).items() if name in FACTS}


def replayed(spans: list[Any], folder: Path) -> list[dict[str, Any]]:
    """The same facts from a replay of the spans, for each attempt."""
    file = folder / "spans.binpb"
    file.write_bytes(encode_spans(spans).SerializeToString())
    return [facts for _, facts in replayed_file(file, {})]


def replayed_file(file: Path, limits: dict[str, int]) -> list[tuple[str, dict[str, Any]]]:
    """The same facts, each with its run id, from a file of spans."""
    entries = Replay(Request((str(file),), limits=limits)).entries()
    return [(entry["runId"], {name: entry[name] for name in FACTS if entry[name] is not None}) for entry in entries]


class Driver:
    """An attempt and what it is about to do. Each word takes a millisecond, so that no two are at the same time."""

    def __init__(self, kind: str = "read-only", timer_ms: int = TIMER_MS, **options: Any) -> None:
        self.sink, self.clock = MemorySink(), ManualClock()
        self.supervisor = Supervisor(sinks=[self.sink], clock=self.clock, mode="enforce", **options)
        self.open(kind, timer_ms)

    def until(self, at_ms: int) -> None:
        self.clock.advance(at_ms - self.clock.now_ms)

    def tick(self) -> None:
        self.clock.advance(1)

    @property
    def record(self) -> AttemptRecord:
        (record,) = self.sink.records
        return record

    @property
    def asked(self) -> bool:
        return any(decision.action == "conclude" for decision in self.sink.decisions)

    def open(self, kind: str, timer_ms: int) -> None:
        raise NotImplementedError


class ByWord(Driver):
    """The host says everything itself."""

    def open(self, kind: str, timer_ms: int) -> None:
        self.attempt = self.supervisor.attempt("some-step", kind=kind, timeout_ms=timer_ms, answer_path="tool-call")
        self.read = self.attempt.gate(lambda path: f"content of {path}", tool="read")
        self.turn: Any = None
        self.reads = 0

    def _turn(self) -> None:
        if self.turn is not None:
            self.turn.__exit__(None, None, None)
        self.turn = self.attempt.turn().__enter__()

    def call(self) -> None:
        self.tick()
        self.reads += 1
        self.read(path=str(self.reads))

    def tool_turn(self) -> None:
        self._turn()
        self.call()

    def begin_turn(self) -> None:
        """A response of which nothing is known yet begins to come."""
        self._turn()

    def sent(self) -> None:
        self.tick()
        self.attempt.request_sent()

    def output(self, kind: str) -> None:
        self.tick()
        self.attempt.output_started(kind)

    def unseen(self) -> None:
        """A request may be out; nobody says so."""

    def ended(self) -> None:
        self.tick()
        self.attempt.request_ended()

    def start_call(self) -> None:
        """A tool that runs after an ask too, and goes on running."""
        self.tick()
        assert self.attempt.start_call(SUBMIT_TOOL, {"score": 1}).denied is None

    def close(self) -> AttemptRecord:
        self.tick()
        self.attempt.close()
        return self.record


class BySpans(Driver):
    """A runtime's spans say it, and nobody else."""

    def open(self, kind: str, timer_ms: int) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(ReadLoopSpanProcessor(self.supervisor))
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("some.runtime")
        facts = {
            "docsfab.step.kind": kind,
            "docsfab.attempt.timeout_ms": timer_ms,
            "docsfab.answer.path": "tool-call",
        }
        self.agent = self._start("invoke_agent", None, **facts)
        self.model: Any = None
        self.open_tools: list[Any] = []
        self.reads = 0

    @property
    def now_ns(self) -> int:
        return self.clock.unix_ms() * 1_000_000

    def _start(self, operation: str, parent: Any, **attributes: Any) -> Any:
        context = trace.set_span_in_context(parent) if parent is not None else None
        named = {"gen_ai.operation.name": operation, **attributes}
        return self.tracer.start_span(operation, context, attributes=named, start_time=self.now_ns)

    def call(self) -> None:
        self.tick()
        self.reads += 1
        arguments = json.dumps({"path": str(self.reads)})
        named = {"gen_ai.tool.name": "read", "gen_ai.tool.call.arguments": arguments}
        tool = self._start("execute_tool", self.agent, **named)
        self.tick()
        tool.set_attribute("gen_ai.tool.call.result", f"content of {self.reads}")
        tool.end(self.now_ns)

    def _model(self) -> None:
        self.tick()
        self.model = self._start("chat", self.agent)

    def tool_turn(self) -> None:
        self._model()
        self.ended("tool_calls")
        self.call()

    def begin_turn(self) -> None:
        self._model()

    def sent(self) -> None:
        self.tick()
        if self.model is None:
            self._model()
        self.model.add_event("docsfab.request_sent", timestamp=self.now_ns)

    def output(self, kind: str) -> None:
        self.tick()
        self.model.add_event("docsfab.output_started", {"kind": kind}, timestamp=self.now_ns)

    def unseen(self) -> None:
        """The model span is open, and says no more."""

    def ended(self, reason: str = "tool_calls") -> None:
        if self.model is not None:
            self.tick()
            self.model.set_attribute("gen_ai.response.finish_reasons", (reason,))
            self.model.end(self.now_ns)
            self.model = None

    def start_call(self) -> None:
        self.ended()
        self.tick()
        named = {"gen_ai.tool.name": SUBMIT_TOOL, "gen_ai.tool.call.arguments": '{"score": 1}'}
        self.open_tools.append(self._start("execute_tool", self.agent, **named))

    def close(self) -> AttemptRecord:
        self.tick()
        for span in (*self.open_tools, self.model, self.agent):
            if span is not None:
                span.set_status(trace.StatusCode.ERROR)
                span.end(self.now_ns)
        return self.record

    def replay(self, folder: Path) -> dict[str, Any]:
        (facts,) = replayed(list(self.exporter.get_finished_spans()), folder)
        return facts
