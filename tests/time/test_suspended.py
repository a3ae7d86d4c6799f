"""A process that sleeps over an ask, or over its deadline, decides rightly when it goes on."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60
ASKED = {"decisions": ["conclude"], "verdicts": ["deliver", "denied"], "ask": "attempt-deadline", "code": None}
STALL = "attempt-deadline-awaiting-provider"
STOPPED = {"decisions": ["stop"], "verdicts": ["deliver", "denied"], "ask": None, "code": STALL}

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this platform cannot suspend a process")


def told_by(story, past):
    """What a process decided that was suspended until some time had passed: its next ask's, or its timer's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.time.suspended", story], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    )
    try:
        first = json.loads(line_of(process))
        deadline = time.monotonic() + PATIENCE_S
        while os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG) == (0, 0):
            assert time.monotonic() < deadline, "it does not suspend itself"
            time.sleep(0.005)
        while time.monotonic_ns() // 1_000_000 <= first[past] + 50:
            time.sleep(0.01)
        process.send_signal(signal.SIGCONT)
        return json.loads(line_of(process))
    finally:
        process.kill()
        process.wait(PATIENCE_S)
        process.stdout.close()


def line_of(process):
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
    assert ready, "it says nothing"
    return process.stdout.readline()


@pytest.mark.parametrize("story", ["ask", "ask, host first"])
def test_r20_suspended_over_the_ask_it_is_made_once_and_holds_for_the_next_call(story):
    assert told_by(story, "due_ms") == {**ASKED, "position": None}


@pytest.mark.parametrize("story", ["deadline", "deadline, host first"])
def test_r23_suspended_over_ask_and_deadline_there_is_no_ask_any_more(story):
    assert told_by(story, "timer_ms") == {**STOPPED, "position": "awaiting-first-byte"}


def test_r23_what_spans_tell_after_the_deadline_comes_too_late():
    told = told_by("spans", "timer_ms")
    assert told == {**STOPPED, "verdicts": [], "position": "awaiting-first-byte"}
