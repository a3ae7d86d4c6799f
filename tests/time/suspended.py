"""A process that suspends itself in the middle of an attempt: ``python -m tests.time.suspended STORY``.

Says on standard output when its next ask and its timer are due, by the machine's monotonic clock; then suspends itself;
and says what was decided once somebody has let it go on.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_docsfab import ReadLoopSpanProcessor, Supervisor
from otel_docsfab.testing import MemorySink

HOUR_MS = 3_600_000
ASK_IN_MS = 1_500


class Sink(MemorySink):
    """Says when something was decided."""

    def __init__(self) -> None:
        super().__init__()
        self.told = threading.Event()

    def decided(self, decision: Any) -> None:
        super().decided(decision)
        self.told.set()


def supervisor_of(sink: Sink, reserve_ms: int) -> Supervisor:
    limits = {
        "compositionExecution.answerPlan.defaultTokens": 1,
        "compositionExecution.answerNowDecodeTokensPerSecond": 1_000,
        "compositionExecution.answerNowTurnLatencyMs": reserve_ms - 1,
    }
    return Supervisor(sinks=[sink], mode="enforce", limits=limits)


def say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def suspend(attempt: Any) -> None:
    machine = attempt.machine
    due_ms = attempt._began_ms + machine.next_wakeup_ms()
    say(due_ms=due_ms, timer_ms=attempt._began_ms + machine.timer_ms)
    os.kill(os.getpid(), signal.SIGSTOP)


def by_word(reserve_ms: int, *, host_first: bool) -> None:
    """The host's own words; it makes a call at once when it goes on, or waits to be told."""
    sink = Sink()
    attempt = supervisor_of(sink, reserve_ms).attempt("some-step", kind="read-only", timeout_ms=reserve_ms + ASK_IN_MS)
    read = attempt.gate(lambda path: "content", tool="read")
    read(path="a")
    attempt.request_sent()
    suspend(attempt)
    if host_first:
        read(path="b")
    else:
        sink.told.wait(60)
        read(path="b")
    attempt.close()
    tell(sink)


def by_spans() -> None:
    """Spans; output comes the moment that the process goes on, when the timer has long been over."""
    sink = Sink()
    supervisor = supervisor_of(sink, 500)
    provider = TracerProvider()
    provider.add_span_processor(ReadLoopSpanProcessor(supervisor))
    tracer = provider.get_tracer("some.runtime")
    facts = {"docsfab.step.kind": "write", "docsfab.attempt.timeout_ms": ASK_IN_MS}
    agent = tracer.start_span("agent", attributes={"gen_ai.operation.name": "invoke_agent", **facts})
    inside = trace.set_span_in_context(agent)
    model = tracer.start_span("chat", inside, attributes={"gen_ai.operation.name": "chat"})
    model.add_event("docsfab.request_sent")
    suspend(supervisor._attempts.all()[0])
    model.add_event("docsfab.output_started", {"kind": "answer"})
    model.end()
    agent.end()
    tell(sink)


def tell(sink: Sink) -> None:
    (record,) = sink.records
    facts = record.as_dict()
    say(
        decisions=[decision.action for decision in sink.decisions],
        verdicts=sink.verdicts,
        ask=sink.decisions[0].trigger,
        code=facts.get("stop", {}).get("code"),
        position=facts.get("deadlineTurn"),
    )


if __name__ == "__main__":
    {
        "ask": lambda: by_word(HOUR_MS, host_first=False),
        "ask, host first": lambda: by_word(HOUR_MS, host_first=True),
        "deadline": lambda: by_word(500, host_first=False),
        "deadline, host first": lambda: by_word(500, host_first=True),
        "spans": by_spans,
    }[sys.argv[1]]()
