"""Real streams that get stuck: ``python -m tests.time.streaming_agent WAY FOLDER``, in the framework's environment.

A Pydantic AI agent streams from a server on loopback that gets stuck in each of the five positions, in a read-only
step and in a write step, all at once. ``WAY`` says who reports the requests: ``words`` (the host calls ``request_sent``
and so on, and the run is ended when its timer fires) or ``events`` (it writes span events, and everything is only
watched). Writes ``spans.binpb`` and, by run id, what was recorded live to ``live.json``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent, InstrumentationSettings
from pydantic_ai.messages import PartStartEvent, TextPart, ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from otel_docsfab import Decision, ReadLoopSpanProcessor, Supervisor
from otel_docsfab.supervisor import Attempt
from otel_docsfab.testing import MemorySink
from tests.time.streaming_server import Server

POSITIONS = ("awaiting-first-byte", "streaming-answer", "streaming-tool-call", "streaming", "between-requests")
TIMER_MS = 5_000
RESERVE_MS = 2_000
LIMITS = {
    "compositionExecution.answerPlan.defaultTokens": 1,
    "compositionExecution.answerNowDecodeTokensPerSecond": 1_000,
    "compositionExecution.answerNowTurnLatencyMs": RESERVE_MS - 1,
}


class Words:
    """The host tells the attempt."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt

    def sent(self) -> None:
        self.attempt.request_sent()

    def output(self, kind: Any) -> None:
        self.attempt.output_started(kind)

    def ended(self) -> None:
        self.attempt.request_ended()


class Events(Words):
    """The host writes on its spans; the end of the model's span is the end of the request."""

    def sent(self) -> None:
        trace.get_current_span().add_event("docsfab.request_sent")

    def output(self, kind: Any) -> None:
        trace.get_current_span().add_event("docsfab.output_started", {"kind": kind})

    def ended(self) -> None:
        pass


async def play(attempt: Attempt, where: str, url: str, provider: TracerProvider, way: type[Words]) -> None:
    """Run the agent until it gets stuck."""
    says = way(attempt)

    async def before(_: httpx2.Request) -> None:
        says.sent()

    async def follow(_: Any, events: Any) -> None:
        async for event in events:
            if isinstance(event, PartStartEvent):
                if isinstance(event.part, TextPart):
                    says.output("answer")
                else:
                    says.output("tool-call" if isinstance(event.part, ToolCallPart) else "other")
        says.ended()

    async def read(path: str) -> str:
        return f"content of {path}"

    async def hang() -> str:
        await asyncio.Event().wait()
        return ""

    async with httpx2.AsyncClient(event_hooks={"request": [before]}, timeout=None) as client:
        model = OpenAIChatModel(where, provider=OpenAIProvider(base_url=url, api_key="none", http_client=client))
        agent = Agent(model, name="reader", tools=[attempt.gate(read), attempt.gate(hang)])
        agent.instrument = InstrumentationSettings(tracer_provider=provider)
        await agent.run("go", event_stream_handler=follow)


async def main(way: str, folder: Path) -> None:
    """Play all of it."""
    exporter, sink, stopped = InMemorySpanExporter(), MemorySink(), {}
    words = Words if way == "words" else Events

    async def hear(decision: Decision) -> None:
        if decision.action == "stop" and decision.attempt.run_id in stopped:
            stopped[decision.attempt.run_id].set()

    mode = "enforce" if way == "words" else "observe"
    supervisor = Supervisor(sinks=[sink], mode=mode, limits=LIMITS, on_decision=hear)
    provider = TracerProvider()
    provider.add_span_processor(ReadLoopSpanProcessor(supervisor))
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def ended_by_its_timer(where: str, kind: str, url: str) -> None:
        async def run_attempt(attempt: Attempt) -> None:
            await play(attempt, where, url, provider, words)

        options = {"kind": kind, "timeout_ms": TIMER_MS, "run_id": f"{where}/{kind}"}
        await supervisor.arun_step("some-step", run_attempt, **options)

    async def watched(where: str, kind: str, url: str) -> None:
        run_id = f"{where}/{kind}"
        stopped[run_id] = asyncio.Event()
        async with supervisor.attempt("some-step", kind=kind, timeout_ms=TIMER_MS, run_id=run_id) as attempt:
            running = asyncio.create_task(play(attempt, where, url, provider, words))
            await stopped[run_id].wait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    run = ended_by_its_timer if way == "words" else watched
    async with Server() as server:
        await asyncio.gather(*(run(where, kind, server.url) for where in POSITIONS for kind in ("read-only", "write")))
    provider.force_flush()
    (folder / "spans.binpb").write_bytes(encode_spans(exporter.get_finished_spans()).SerializeToString())
    live = {record.run_id: {"enforced": record.enforced, **record.as_dict()} for record in sink.records}
    faults = {site: count for site, count in supervisor.faults.counts().items() if count}
    (folder / "live.json").write_text(json.dumps({"attempts": live, "faults": faults}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
