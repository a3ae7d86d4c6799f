"""Real collectors for tests: otelcol-docsfab from the build cache, on free loopback ports, ended by process id."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.services.loopback import PATIENCE_S, fetch, free_port, missing, wait_until

COLLECTOR = Path(__file__).parents[2] / "collector"


def collector_binary() -> Path:
    """Path of the built collector."""
    found = subprocess.run(["sh", COLLECTOR / "build.sh", "--path"], capture_output=True, text=True, check=False)
    if found.returncode:
        missing(found.stderr.strip())
    return Path(found.stdout.strip())


@dataclass
class Collector:
    """One collector process and its ports, which stay the same over restarts."""

    binary: Path
    config: str
    directory: Path
    settings: dict[str, str] = field(default_factory=dict)
    grpc: int = field(default_factory=free_port)
    http: int = field(default_factory=free_port)
    prometheus: int = field(default_factory=free_port)
    health: int = field(default_factory=free_port)
    own: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def output(self) -> Path:
        """What it wrote to standard output."""
        return self.directory / f"{self.config}.out"

    @property
    def log(self) -> Path:
        """What it wrote to standard error."""
        return self.directory / f"{self.config}.log"

    def environment(self) -> dict[str, str]:
        """Settings of this process."""
        return {
            **os.environ,
            "GOMAXPROCS": "2",
            "OTELCOL_DOCSFAB_OTLP_GRPC": f"127.0.0.1:{self.grpc}",
            "OTELCOL_DOCSFAB_OTLP_HTTP": f"127.0.0.1:{self.http}",
            "OTELCOL_DOCSFAB_PROMETHEUS": f"127.0.0.1:{self.prometheus}",
            "OTELCOL_DOCSFAB_HEALTH": f"127.0.0.1:{self.health}",
            "OTELCOL_DOCSFAB_SELF_PORT": str(self.own),
            "OTELCOL_DOCSFAB_GATEWAY_INSECURE": "true",
            "OTELCOL_DOCSFAB_TRACE_STORE_INSECURE": "true",
            "OTELCOL_DOCSFAB_QUEUE_DIR": str(self.directory / "queue"),
            "OTELCOL_DOCSFAB_RECORD": str(self.record),
            **self.settings,
        }

    @property
    def record(self) -> Path:
        """Where record.yaml writes."""
        return self.directory / "record.jsonl"

    def start(self) -> "Collector":
        """Start it and wait until it says that it is ready."""
        with self.output.open("ab") as out, self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "--config", COLLECTOR / f"{self.config}.yaml"],
                env=self.environment(),
                cwd=self.directory,
                stdout=out,
                stderr=log,
            )
        wait_until(f"{self.config} is healthy; log:\n{self.log.read_text()[-2000:]}", self.ready)
        return self

    def ready(self) -> bool:
        """Whether it is healthy; fails at once when it has ended."""
        if self.process is not None and self.process.poll() is not None:
            pytest.fail(f"{self.config} ended: {self.log.read_text()[-2000:]}")
        return "Server available" in fetch(self.health, "/")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End this process, and only this one, by its id."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(how)
        self.process.wait(timeout=PATIENCE_S)

    def own_metrics(self) -> dict[str, float]:
        """Its own metrics, summed over labels."""
        sums: dict[str, float] = {}
        for line in fetch(self.own, "/metrics").splitlines():
            if line.startswith("otelcol_"):
                name = line.split("{")[0].split(" ")[0]
                sums[name] = sums.get(name, 0.0) + float(line.rsplit(" ", 1)[1])
        return sums


@dataclass
class Chain:
    """Application -> agent -> gateway -> trace store: what is shipped, with nothing replaced."""

    agent: Collector
    gateway: Collector
    store: Collector
    _read: int = 0
    _spans: list[dict[str, Any]] = field(default_factory=list)

    def spans(self) -> list[dict[str, Any]]:
        """Every span in the store so far, with its resource and scope."""
        if self.store.record.exists():
            with self.store.record.open("rb") as record:
                record.seek(self._read)
                # A line that is still being written is left for the next look.
                whole = record.read().rpartition(b"\n")[0]
            self._read += len(whole) + 1 if whole else 0
            for line in whole.splitlines():
                self._spans.extend(_spans_of(json.loads(line)))
        return self._spans

    def arrived(self, wanted: set[tuple[str, str]], patience_s: float = PATIENCE_S) -> list[dict[str, Any]]:
        """Wait until each of these (trace id, span id) is in the store; exactly their spans, doubles included."""
        wait_until(f"{len(wanted)} spans in the store", lambda: wanted <= set(map(_id, self.spans())), patience_s)
        return [span for span in self.spans() if _id(span) in wanted]

    def end(self) -> None:
        """End the three, the sender first."""
        for collector in (self.agent, self.gateway, self.store):
            collector.end()


def start_chain(binary: Path, directory: Path, **gateway: str) -> Chain:
    """Start the three in the order in which each finds the next one ready."""
    started: list[Collector] = []

    def start(config: str, **settings: str) -> Collector:
        place = directory / config
        place.mkdir()
        collector = Collector(
            binary, config, place, {f"OTELCOL_DOCSFAB_{key}": value for key, value in settings.items()}
        )
        started.append(collector)
        return collector.start()

    try:
        store = start("record")
        collector = start("gateway", TRACE_STORE=f"127.0.0.1:{store.grpc}", **gateway)
        return Chain(start("agent", GATEWAY=f"127.0.0.1:{collector.grpc}"), collector, store)
    except BaseException:
        for collector in reversed(started):
            collector.end()
        raise


def _id(span: dict[str, Any]) -> tuple[str, str]:
    return span["traceId"], span["spanId"]


def _spans_of(batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in batch.get("resourceSpans", []):
        for scope in resource.get("scopeSpans", []):
            for span in scope["spans"]:
                yield {**span, "_resource": resource.get("resource", {}), "_scope": scope.get("scope", {})}


def attributes(holder: dict[str, Any]) -> dict[str, Any]:
    """Attributes of an OTLP JSON span, event, resource or scope; values as they are written."""
    return {entry["key"]: next(iter(entry["value"].values()), None) for entry in holder.get("attributes", [])}
