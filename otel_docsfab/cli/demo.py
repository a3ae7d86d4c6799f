"""``otel-docsfab demo``: the main job, on real files and real spans, in a few seconds."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from otel_docsfab.cli.demo_view import DemoView
    from otel_docsfab.cli.otlp import Delivery
    from otel_docsfab.supervisor import Supervisor

EXAMPLES = "Examples: otel-docsfab demo; otel-docsfab demo --observe; otel-docsfab demo --otlp http://localhost:4317"


def demo(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    observe: Annotated[bool, typer.Option("--observe", help="The same run, only watched: nothing is changed.")] = False,
    otlp: Annotated[
        str | None, typer.Option("--otlp", metavar="ENDPOINT", help="Send the spans to a collector (gRPC on :4317).")
    ] = None,
    pace: Annotated[int, typer.Option("--pace", min=0, max=2000, help="Pause after each call, ms.")] = 0,
) -> None:
    """Watch a scripted agent read, loop, be told, be stopped and be retried.

    It makes a folder of real files, runs an agent with real OpenTelemetry spans, and shows what each call got.
    """
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - help must start fast
    from rich.console import Console  # noqa: PLC0415 - as above

    from otel_docsfab.cli.demo_run import DemoAgent  # noqa: PLC0415 - as above
    from otel_docsfab.cli.demo_story import SCENES, Tools  # noqa: PLC0415 - as above
    from otel_docsfab.cli.demo_view import DemoView  # noqa: PLC0415 - as above
    from otel_docsfab.spans.processor import ReadLoopSpanProcessor  # noqa: PLC0415 - as above
    from otel_docsfab.supervisor import Supervisor, new_run_id  # noqa: PLC0415 - as above

    delivery = _delivery(otlp) if otlp is not None else None
    console = None if as_json else Console(highlight=False, soft_wrap=True)
    view = DemoView(console, enforced=not observe, pace_s=pace / 1000)
    supervisor = Supervisor(mode="observe" if observe else "enforce", sinks=[view])
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(ReadLoopSpanProcessor(supervisor))
    if delivery is not None:
        delivery.deliver(provider)
    run_id = new_run_id()
    with tempfile.TemporaryDirectory(prefix="otel-docsfab-demo-") as folder:
        agent = DemoAgent(provider.get_tracer("otel_docsfab.demo"), Tools(Path(folder)), view.tell)
        for number, scene in enumerate(SCENES, 1):
            view.scene(number, f"{scene.step}, {scene.title}")
            (agent.observed if observe else agent.enforced)(supervisor, scene, run_id)
    saved = _saved(supervisor)
    if as_json:
        sys.stdout.write(json.dumps(_as_json(view, saved, run_id, enforced=not observe)) + "\n")
    else:
        view.summary(saved)
    provider.force_flush(10_000)
    provider.shutdown()
    if delivery is not None and delivery.failed:
        sys.stderr.write(f"error: the spans could not be delivered to {otlp}; is a collector listening there?\n")
        raise typer.Exit(1)


def _delivery(endpoint: str) -> Delivery:
    from otel_docsfab.cli.otlp import Delivery  # noqa: PLC0415 - only with --otlp

    return Delivery(endpoint)


def _saved(supervisor: Supervisor) -> dict[str, int]:
    counts = supervisor.tallies.read()
    return {
        "bytesWithheld": sum(
            n for (name, labels), n in counts.items() if name == "docsfab.read.bytes" and "notice-only" in labels
        ),
        "callsDenied": sum(n for (name, _), n in counts.items() if name == "docsfab.tool_calls.denied"),
    }


def _as_json(view: DemoView, saved: dict[str, int], run_id: str, *, enforced: bool) -> dict[str, Any]:
    from otel_docsfab.cli.demo_view import limitations  # noqa: PLC0415 - help must start fast

    return {
        "kind": "docsfab-demo",
        "schemaVersion": 1,
        "runId": run_id,
        "enforced": enforced,
        "attempts": [record.as_dict() for record in view.records],
        "answersAskedEarly": [
            {
                "stepId": record.step_id,
                "attempt": record.attempt,
                "trigger": record.conclude_now.trigger,
                "turn": record.conclude_now.turn,
                "outcome": record.outcome,
            }
            for record in view.records
            if record.conclude_now is not None
        ],
        "saved": saved,
        "limitations": limitations(view.records),
    }
