"""Runs one agent under the live processor: ``python -m tests.frameworks.record FRAMEWORK VARIANT FOLDER``.

Writes the spans to ``spans.binpb`` in the folder, one OTLP request, and what the processor made of them to
``report.json``. Runs in the framework's environment.
"""

import json
import sys
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_docsfab as docsfab
from otel_docsfab.testing import MemorySink

NAMED = (
    "pydantic-ai",
    "openai-agents",
    "lang",
    "google-adk",
    "strands",
    "smolagents",
    "openinference",
    "opentelemetry",
)


def main(framework: str, variant: str, folder: str) -> None:
    """Run it."""
    sink, exporter = MemorySink(), InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    docsfab.instrument(toolset="generic", sinks=[sink], tracer_provider=provider)
    answer = import_module(f"tests.frameworks.agents.{framework}").run(provider, variant)
    provider.force_flush()
    Path(folder, "spans.binpb").write_bytes(encode_spans(exporter.get_finished_spans()).SerializeToString())
    versions = {found.name: found.version for found in distributions() if found.name.startswith(NAMED)}
    report = {
        "answer": answer,
        "attempts": [record.as_dict() for record in sink.records],
        "calls": [call(effect) for _, effect, _ in sink.judgements],
        "versions": versions,
    }
    docsfab.uninstrument()
    Path(folder, "report.json").write_text(json.dumps(report))


def call(effect: Any) -> dict[str, object]:
    """A judgement in the words of ``replay --calls``, and what it was about."""
    return {
        "subject": effect.subject,
        "tool": effect.tool,
        "turn": effect.turn,
        "verdict": effect.verdict,
        "ok": effect.ok,
        "repeats": effect.repeats,
        "crossResult": effect.cross_result,
        "firstTurn": effect.first_turn,
        "unjudged": effect.unjudged,
        "progress": effect.progress,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
