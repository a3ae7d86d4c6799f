"""A fork in the middle: the child drops the parent's attempts and counts, and its locks are its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import json, os, threading, time
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from otel_docsfab import ReadLoopSpanProcessor, Supervisor
from otel_docsfab.testing import MemorySink

supervisor = Supervisor(sinks=[MemorySink()], mode="enforce")
processor = ReadLoopSpanProcessor(supervisor)
provider = TracerProvider()
provider.add_span_processor(processor)
tracer = provider.get_tracer("some.runtime")
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "edit"}

attempt = supervisor.attempt().__enter__()
read = attempt.gate(lambda path: "same", tool="read")
turn = attempt.turn().__enter__()
for _ in range(5):
    read(path="a")
supervisor.faults.count("sink")
open_span = tracer.start_span("edit", attributes=TOOL)

# every lock is held by another thread while the process forks
locks = [attempt._lock, supervisor._attempts._lock, supervisor.tallies._lock, supervisor.faults._lock,
         processor.tracker._owners._lock]
held, let_go = threading.Event(), threading.Event()
def hold():
    for lock in locks:
        lock.acquire()
    held.set()
    let_go.wait(30)
    for lock in locks:
        lock.release()
thread = threading.Thread(target=hold)
thread.start()
held.wait(30)

def tell(where):
    return {
        "where": where,
        "live": supervisor.live_attempts,
        "faults": sum(supervisor.faults.counts().values()),
        "counts": {"/".join((name, *labels)): count for (name, labels), count in supervisor.tallies.read().items()},
        "calls": attempt.record().calls,
        "open spans": len(processor.tracker),
    }

into, out = os.pipe()
child = os.fork()
if child == 0:
    try:
        facts = tell("child") | {"delivered": [read(path="a") for _ in range(30)]}
        open_span.end()
        with supervisor.attempt() as own:
            gated = own.gate(lambda path: "mine", tool="read")
            facts["own"] = [gated(path="a"), gated(path="a")]
        facts["after"] = tell("child")
        os.write(out, json.dumps(facts).encode())
    finally:
        os._exit(0)
let_go.set()
thread.join(30)
deadline = time.monotonic() + 60
while os.waitpid(child, os.WNOHANG) == (0, 0):
    assert time.monotonic() < deadline, "the child hangs"
    time.sleep(0.01)
open_span.end()
print(json.dumps({"child": json.loads(os.read(into, 100_000)), "parent": tell("parent")}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_starts_over():
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE"))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    child, parent = told["child"], told["parent"]

    assert child["live"] == 0
    assert child["faults"] == 0
    assert child["open spans"] == 0
    assert child["counts"] == {"docsfab.supervisor.evictions/fork": 1}
    assert child["delivered"] == ["same"] * 30  # the parent's attempt only lets calls through
    assert child["calls"] == 5 + 1  # what it had seen before the fork, and the open edit
    assert child["own"][0] == "mine"
    assert child["own"][1].startswith("mine\n\n[docsfab]")
    assert child["after"]["counts"] == {
        "docsfab.supervisor.evictions/fork": 1,
        "docsfab.read.results/read/deliver/true": 1,
        "docsfab.read.results/read/deliver-with-notice/true": 1,
        "docsfab.read.bytes/deliver/true": 4,
        "docsfab.read.bytes/deliver-with-notice/true": 4,
        "docsfab.lease.progress/new-content": 1,
    }
    assert parent["live"] == 1
    assert parent["calls"] == 6
    assert parent["faults"] == 1
    assert parent["counts"]["docsfab.read.results/read/deliver-with-notice/true"] == 4
    assert "docsfab.supervisor.evictions/fork" not in parent["counts"]
