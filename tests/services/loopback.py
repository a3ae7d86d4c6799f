"""What the fixtures of all real services share: loopback ports, waiting, and what a missing service means."""

import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import NoReturn

import pytest

PATIENCE_S = 60.0
"""Longest wait for a state that always comes; a slow machine waits, nothing is measured against it."""


def missing(reason: str) -> NoReturn:
    """Skip, or fail where every service has to be there."""
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    """A loopback TCP port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until(what: str, reached: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Wait for a state; fail with its name when it does not come."""
    end = time.monotonic() + patience_s
    while not reached():
        if time.monotonic() > end:
            pytest.fail(f"waited {patience_s:.0f} s in vain: {what}")
        time.sleep(0.05)


def fetch(port: int, path: str, accept: str = "text/plain") -> str:
    """Body of a loopback GET; empty while nothing answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310 - loopback
            return str(response.read().decode())
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return ""
