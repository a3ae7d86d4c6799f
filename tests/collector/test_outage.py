"""A collector that dies costs the application the spans that its bounded queue cannot hold, and those are counted."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collector.sending import ids, made, send
from tests.services.collector import start_chain
from tests.services.loopback import fetch, wait_until

pytestmark = pytest.mark.service

APP = Path(__file__).with_name("app.py")


class App:
    """The application in a process of its own."""

    def __init__(self, port, log):
        self.process = subprocess.Popen(
            [sys.executable, APP, f"http://127.0.0.1:{port}"],
            env={**os.environ, "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": "true"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )

    def make(self, spans):
        """Make spans; returns what the application then says of itself."""
        self.process.stdin.write(f"{spans}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def chain(otelcol, tmp_path):
    chain = start_chain(otelcol, tmp_path, SAMPLE_PERCENT="100")
    yield chain
    chain.end()


@pytest.fixture
def app(chain, tmp_path):
    with (tmp_path / "app.log").open("w") as log:
        app = App(chain.agent.grpc, log)
        yield app
        app.end()


def counted(chain):
    """What the SDK says it lost, as the agent shows it to Prometheus."""
    lost = 0.0
    for line in fetch(chain.agent.prometheus, "/metrics").splitlines():
        if (
            line.startswith(("otel_sdk_processor_span_processed_total{", "otel_sdk_exporter_span_exported_total{"))
            and "error_type=" in line
        ):
            lost += float(line.rsplit(" ", 1)[1])
    return lost


def test_an_agent_killed_under_load_neither_blocks_nor_grows_the_application_and_every_loss_is_counted(chain, app):
    before = app.make(3000)
    wait_until("all arrive while all is well", lambda: len(chain.spans()) == before["ended"])

    chain.agent.end(signal.SIGKILL)
    # The answers come while the collector is dead: the application did not wait for it.
    during = app.make(30_000)
    assert chain.agent.process.poll() is not None
    # 30,000 results of 8 KiB are 240 MiB; the queue holds 2,048 of them.
    assert during["rss_mib"] - before["rss_mib"] < 80

    chain.agent.start()
    after = app.make(1000)
    assert after["ended"] == 34_000
    wait_until("what did not arrive is counted", lambda: len(chain.spans()) + counted(chain) >= after["ended"])
    # The SDK looks at its full queue and appends in two steps, so it may count a span that just found room.
    assert len(chain.spans()) + counted(chain) - after["ended"] < 100
    assert counted(chain) > 0


def test_a_gateway_that_is_away_loses_nothing(chain):
    spans = [made({"docsfab.turn": turn}, trace=0x6A7E) for turn in range(2000)]
    chain.gateway.end(signal.SIGKILL)
    send(chain.agent.grpc, spans)
    chain.gateway.start()
    assert len(chain.arrived(ids(spans))) == len(spans)


def test_a_gateway_killed_while_the_store_is_away_delivers_from_its_queue_on_disk(chain):
    spans = [made({"docsfab.turn": turn}, trace=0xD15C) for turn in range(2000)]
    chain.store.end()
    send(chain.agent.grpc, spans)
    waiting = "otelcol_exporter_queue_size"
    wait_until("all are in the queue", lambda: chain.gateway.own_metrics().get(waiting) == len(spans))
    chain.gateway.end(signal.SIGKILL)
    chain.store.start()
    chain.gateway.start()
    # At least once: what was in flight when it died may come twice.
    assert len(chain.arrived(ids(spans))) >= len(spans)
