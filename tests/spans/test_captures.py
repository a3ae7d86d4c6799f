"""Captures of real runs: the same attempts, turns and verdicts, live (captured order of starts and ends) and in replay.

``EXPECTED`` was read by eye against the scenario: a.txt, a.txt, [a.txt + b.txt], a.txt, a write, a read that fails, an
answer. A row is one attempt: agent, outcome, then a letter and a turn for each call in the order of its end: N for an
unchanged re-read, u for unjudged, x for failed, w for progress, - for neutral, d for content delivered.
"""

import io
import json
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from otel_docsfab.cli.main import main
from otel_docsfab.config.toolsets import profile
from otel_docsfab.core import ToolClass
from otel_docsfab.spans.tracker import Tracker
from otel_docsfab.spans.view import EventView, RecordedSpan
from otel_docsfab.supervisor import Supervisor
from otel_docsfab.testing import MemorySink
from tests.spans.captured import EXPECTED, PARENTS_FIRST, PROFILES

CAPTURES = Path(__file__).parents[1] / "captures"


def letter(tool_class, verdict, *, unjudged, ok, progress):
    if not ok:
        return "x"
    if unjudged:
        return "u"
    if tool_class == ToolClass.READ:
        return "N" if verdict == "deliver-with-notice" else "d"
    return "w" if tool_class == ToolClass.PROGRESS and progress else "-"


def view_of(span, attributes, *, ended):
    return RecordedSpan(
        span["name"],
        (span.get("_scope") or {}).get("name") or "",
        attributes or {},
        [EventView(event["name"], event.get("attributes") or {}) for event in span["events"]] if ended else (),
        ended and span["status"]["status_code"] == "ERROR",
        span["status"].get("description") or "" if ended else "",
        is_root=span.get("parent_id") is None,
        explicit_ok=ended and span["status"]["status_code"] == "OK",
    )


def live(name):
    """The attempts that the live tracker sees, in the captured order of starts and ends."""
    sink = MemorySink()
    supervisor = Supervisor(sinks=[sink], toolset=profile(PROFILES.get(name, "generic")))
    tracker = Tracker(supervisor)
    spans = [json.loads(line) for line in (CAPTURES / f"{name}.jsonl").read_text().splitlines()]
    moments = sorted(
        [(str(s.get("_run")), s["_seq_start"], 0, s) for s in spans]
        + [(str(s.get("_run")), s["_seq_end"], 1, s) for s in spans],
        key=lambda moment: moment[:2],
    )
    for run, _, end, span in moments:
        trace, parent = span["context"]["trace_id"], span.get("parent_id")
        key = (run, trace, span["context"]["span_id"])
        if end:
            tracker.ended(key, view_of(span, span["attributes"], ended=True))
        else:
            start = view_of(span, span.get("_on_start_attributes"), ended=False)
            tracker.started(key, parent and (run, trace, parent), start, ids=key[1:])
    assert supervisor.live_attempts == 0
    assert not any(supervisor.faults.counts().values())
    return [
        (
            record.agent_name,
            record.outcome.value,
            " ".join(
                letter(e.tool_class, e.verdict, unjudged=e.unjudged, ok=e.ok, progress=e.progress) + str(e.turn)
                for ref, e, _ in sink.judgements
                if (ref.run_id, ref.trace_id, ref.span_id) == (record.run_id, record.trace_id, record.span_id)
            ),
        )
        for record in sink.records
    ]


def replayed(name):
    """The attempts that replay sees."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = main(
            ["replay", "--json", "--calls", "--profile", PROFILES.get(name, "generic"), str(CAPTURES / f"{name}.jsonl")]
        )
    assert code == 0
    return json.loads(out.getvalue())["attempts"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_capture_gives_its_attempts_turns_and_verdicts_live(name):
    if name in PARENTS_FIRST:
        assert len(live(name)) > len(
            EXPECTED[name]
        )  # parents end before children start: only replay can put it together
    else:
        assert live(name) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_replay_gives_the_same_attempts_and_the_same_counts(name):
    found = replayed(name)
    expected = [row for row in EXPECTED[name] if row[2]]
    assert Counter((a.get("agentName"), a["outcome"], len(a["calls"])) for a in found if a["calls"]) == Counter(
        (agent, outcome, len(calls.split())) for agent, outcome, calls in expected
    )
    for agent, _, calls in expected:
        rows = [a for a in found if a.get("agentName") == agent and len(a["calls"]) == len(calls.split())]
        re_reads = calls.count("N")
        turns = Counter(int(call[1:]) for call in calls.split())
        assert any(
            (a["tools"].get("readEvidence") or {}).get("unchangedReReads", 0) == re_reads
            and sum(a["unjudged"].values()) == calls.count("u")
            and Counter(c["turn"] for c in a["calls"]) == turns
            for a in rows
        ), rows


def test_every_capture_of_spans_has_its_row():
    assert {path.stem for path in CAPTURES.glob("*.jsonl")} - {"claude_code_cli_otlp"} == set(EXPECTED)
