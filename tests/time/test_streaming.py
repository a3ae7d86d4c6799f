"""A real framework streams from a real server that gets stuck: each of the five positions, live and in replay."""

from __future__ import annotations

import json

import pytest

from tests.frameworks.environments import run_in
from tests.time.drivers import FACTS, replayed_file

pytestmark = pytest.mark.framework

STALL, LOOP, TIMEOUT = "attempt-deadline-awaiting-provider", "attempt-deadline-in-tool-loop", "timeout"
LIMITS = {
    "compositionExecution.answerPlan.defaultTokens": 1,
    "compositionExecution.answerNowDecodeTokensPerSecond": 1_000,
    "compositionExecution.answerNowTurnLatencyMs": 1_999,
}
"""As the agent's own."""

# An earlier turn called a tool. In a read-only step the ask is made while nobody answers and no tool runs.
EXPECTED = {
    "awaiting-first-byte/read-only": (STALL, True),
    "awaiting-first-byte/write": (STALL, False),
    "streaming-answer/read-only": (TIMEOUT, False),
    "streaming-answer/write": (TIMEOUT, False),
    "streaming-tool-call/read-only": (TIMEOUT, True),
    "streaming-tool-call/write": (LOOP, False),
    "streaming/read-only": (TIMEOUT, True),
    "streaming/write": (LOOP, False),
    "between-requests/read-only": (LOOP, False),
    "between-requests/write": (LOOP, False),
}


@pytest.mark.parametrize("way", ["words", "events"])
def test_r23_a_real_stream_that_gets_stuck(way, tmp_path):
    run_in("pydantic_ai_openai", "tests.time.streaming_agent", way, str(tmp_path))
    live = json.loads((tmp_path / "live.json").read_text())
    expected = {run_id: facts_of(run_id, code, asked=asked) for run_id, (code, asked) in EXPECTED.items()}
    attempts = {run_id: {name: got[name] for name in FACTS if name in got} for run_id, got in live["attempts"].items()}
    assert attempts == expected
    assert live["faults"] == {}
    assert {got["enforced"] for got in live["attempts"].values()} == {way == "words"}
    assert {json.dumps(got["tools"]["verdicts"]) for got in live["attempts"].values()} == {'{"deliver": 1}'}
    assert dict(replayed_file(tmp_path / "spans.binpb", LIMITS)) == expected


def facts_of(run_id, code, *, asked):
    position, _, _ = run_id.partition("/")
    facts = {"outcome": "failed", "code": code, "deadlineTurn": position}
    return facts | ({"concludeNow": {"trigger": "attempt-deadline", "turn": 1}} if asked else {})
