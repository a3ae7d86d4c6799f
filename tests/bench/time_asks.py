"""How late asks come: ``python -m tests.bench.time_asks [--attempts N] [--asks N] [--per-second N]``.

Opens very many live attempts with a timer, lets some of them be asked one after the other, and has a callback sleep for
a second meanwhile, again and again. Prints how long after its moment each ask was made, and how long the garbage
collector held everything up.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import threading
import time
from typing import Any

from otel_docsfab import Decision, Supervisor
from otel_docsfab.config import Caps
from otel_docsfab.supervisor import BaseSink

HOUR_MS = 3_600_000
SLEEP_S = 1.0
LIMITS = {
    "compositionExecution.answerPlan.defaultTokens": 1,
    "compositionExecution.answerNowDecodeTokensPerSecond": 1_000,
    "compositionExecution.answerNowTurnLatencyMs": HOUR_MS - 1,
}
"""A reserve of an hour: an attempt of an hour and a second is asked after a second."""


class Lateness(BaseSink):
    """Notes how long after its moment each ask was made, ms."""

    def __init__(self, wanted: int) -> None:
        self.due_ns: dict[str, int] = {}
        self.late_ms: list[float] = []
        self.wanted = wanted
        self.done = threading.Event()

    def decided(self, decision: Decision) -> None:
        now_ns = time.monotonic_ns()
        self.late_ms.append((now_ns - self.due_ns[decision.attempt.run_id]) / 1e6)
        if len(self.late_ms) == self.wanted:
            self.done.set()


class Pauses:
    """How long the garbage collector ran, ms."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self._began = 0.0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, _: Any) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self.ms.append((time.perf_counter() - self._began) * 1_000)


def main(attempts: int, asks: int, per_second: int) -> None:
    """Open, wait, print."""
    told: list[str] = []

    def sleepy(decision: Decision) -> None:
        told.append(decision.attempt.run_id)
        if len(told) % per_second == 1:
            time.sleep(SLEEP_S)

    sink = Lateness(asks)
    caps = Caps(max_live_attempts=attempts, max_queued_decisions=asks)
    supervisor = Supervisor(sinks=[sink], on_decision=sleepy, mode="enforce", limits=LIMITS, caps=caps)
    began = time.perf_counter()
    live = [open_attempt(supervisor, 2 * HOUR_MS) for _ in range(attempts - asks)]
    first_in_ms = 3_000 + asks // 5
    for number in range(asks):
        attempt = open_attempt(supervisor, 0, str(number), first_in_ms + number * 1_000 // per_second)
        live.append(attempt)
    took_s = time.perf_counter() - began
    say(f"{len(live):,} live attempts opened, one read each: {took_s / attempts * 1e6:.0f} µs an attempt")
    say(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MiB")
    pauses = Pauses()
    sink.done.wait(first_in_ms / 1_000 + asks / per_second + 60)
    late = sorted(sink.late_ms)
    say(f"{len(late):,} asks at {per_second:,} a second while callbacks slept {SLEEP_S:.0f} s each in turn")
    shares = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))
    say("late by, ms: " + "  ".join(f"{name} {at(late, share):.1f}" for name, share in shares))
    say(f"within 50 ms: {sum(ms <= 50 for ms in late) / len(late):.3%}")
    worst = max(pauses.ms, default=0.0)
    say(f"garbage collections meanwhile: {len(pauses.ms)}, the longest {worst:.1f} ms")
    say(f"faults: {sum(supervisor.faults.counts().values())}")


def open_attempt(supervisor: Supervisor, far_ms: int, name: str | None = None, ask_in_ms: int = 0) -> Any:
    """An attempt with a read, asked after so many ms or not in this bench."""
    attempt = supervisor.attempt("some-step", run_id=name, kind="read-only", timeout_ms=HOUR_MS + (ask_in_ms or far_ms))
    if name is not None:
        due_ms = attempt._began_ms + ask_in_ms
        supervisor.sinks[0].due_ns[name] = due_ms * 1_000_000  # type: ignore[attr-defined]
    admission = attempt.start_call("read", {"path": "a.md"}, own_turn=True)
    attempt.finish_call(admission, "content")
    return attempt


def at(ordered: list[float], share: float) -> float:
    """The value below which this share lies."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def say(line: str) -> None:
    """Print it."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--asks", type=int, default=10_000)
    parser.add_argument("--per-second", type=int, default=1_000)
    given = parser.parse_args()
    main(given.attempts, given.asks, given.per_second)
