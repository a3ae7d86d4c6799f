"""Real Prometheus, promtool and Alertmanager for tests: free loopback ports, ended by process id."""

import json
import shutil
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from tests.services.loopback import PATIENCE_S, fetch, free_port, missing, wait_until


def binary(name: str) -> str:
    """Path of a program; skips, or fails under ``REQUIRE_SERVICES=1``, when it is not there."""
    return shutil.which(name) or missing(f"{name} is not installed")


def promtool(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Run promtool; fails with its output when it does."""
    done = subprocess.run([binary("promtool"), *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def running(name: str, command: list[str], log: Path, ready: Callable[[], object]) -> Iterator[None]:
    """A process while the block runs; it is ready when the block begins."""
    with log.open("ab") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink)
    try:

        def up() -> object:
            if process.poll() is not None:
                pytest.fail(f"{name} ended: {log.read_text()[-2000:]}")
            return ready()

        wait_until(f"{name} is ready", up)
        yield
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


class Prometheus:
    """The HTTP API of a running Prometheus."""

    def __init__(self, port: int) -> None:
        self.port = port

    def api(self, path: str, **parameters: str) -> Any:
        """The data of a successful answer; an assertion with the server's words otherwise."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}"
        body = urllib.parse.urlencode(parameters).encode() or None
        try:
            with urllib.request.urlopen(url, body, timeout=30) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
        assert answer["status"] == "success", f"{parameters}: {answer['error']}"
        return answer["data"]

    def query(self, expression: str, at: float | None = None) -> list[dict[str, Any]]:
        """Series of an instant query."""
        moment = {} if at is None else {"time": f"{at:.3f}"}
        return list(self.api("query", query=expression, **moment)["result"])

    def parsed(self, expression: str) -> str:
        """The expression as the server's own parser prints it; an assertion when it is no PromQL."""
        return str(self.api("format_query", query=expression))

    def firing(self) -> list[dict[str, Any]]:
        """Alerts that fire now."""
        return [alert for alert in self.api("alerts")["alerts"] if alert["state"] == "firing"]


@contextmanager
def prometheus(
    directory: Path, *, target: int | None = None, rules: list[Path] | None = None, alertmanager: int | None = None
) -> Iterator[Prometheus]:
    """A Prometheus that scrapes one port as job ``agents`` each second.

    Args:
        directory: Gets its configuration, log and data; blocks that are in ``data`` already are served.
        target: Port to scrape.
        rules: Rule files.
        alertmanager: Port that alerts go to.
    """
    program, port = binary("prometheus"), free_port()
    config: dict[str, Any] = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(path) for path in rules or []],
    }
    if target:
        config["scrape_configs"] = [
            {"job_name": "agents", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]},
        ]
    if alertmanager:
        config["alerting"] = {
            "alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}],
        }
    (directory / "prometheus.yaml").write_text(yaml.safe_dump(config))
    command = [
        program,
        f"--config.file={directory / 'prometheus.yaml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with running("prometheus", command, directory / "prometheus.log", lambda: fetch(port, "/-/ready")):
        yield Prometheus(port)


@contextmanager
def alertmanager(directory: Path, config: Path) -> Iterator[int]:
    """An Alertmanager of its own; yields its port."""
    program, port = binary("prometheus-alertmanager"), free_port()
    command = [
        program,
        f"--config.file={config}",
        f"--storage.path={directory / 'alertmanager'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        "--log.level=warn",
    ]
    with running("alertmanager", command, directory / "alertmanager.log", lambda: fetch(port, "/-/ready")):
        yield port


class Webhook:
    """A loopback receiver; ``got`` holds (path, decoded body) in order of arrival."""

    def __init__(self) -> None:
        got: list[tuple[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append((self.path, json.loads(body)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.got = got
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def port(self) -> int:
        """Its port."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
