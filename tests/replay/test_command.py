"""``otel-docsfab replay`` from the command line."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tracemalloc
from pathlib import Path

import jsonschema
import pytest

from otel_docsfab.cli import main
from otel_docsfab.core import codes
from tests.replay.files import otlp_message, write_lines
from tests.replay.test_claude_code import Session

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/replay.schema.json").read_text())
CAPTURES = Path(__file__).parents[1] / "captures"
DENIED_FIELDS = {"repeats", "crossResult", "firstTurn", "unjudged", "progress", "ok"}


@pytest.fixture
def replay(capsys, monkeypatch):
    monkeypatch.setitem(main.COMMANDS, "replay", ("otel_docsfab.cli.replay", ""))

    def run(*arguments, code=0):
        capsys.readouterr()
        assert main.main(["replay", *map(str, arguments)]) == code
        return capsys.readouterr().out

    return run


@pytest.fixture
def replay_json(replay):
    def run(*arguments, code=0):
        report = json.loads(replay(*arguments, "--json", code=code))
        jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
        return report

    return run


def trace(number, reads, *, tool="read", path="a.txt", content="A" * 100, agent="reader"):
    """One agent that reads one file so many times, a turn each, then answers."""
    trace_id = f"{number:08x}" * 4
    began = 1_700_000_000_000_000_000 + number * 10**12

    def span(index, name, start, end, parent=1, **attributes):
        return {
            "traceId": trace_id,
            "spanId": f"{index:016x}",
            "parentSpanId": f"{parent:016x}" if parent else "",
            "name": name,
            "startTimeUnixNano": str(began + start * 10**6),
            "endTimeUnixNano": str(began + end * 10**6),
            "attributes": [
                {"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }

    spans = []
    for turn in range(1, reads + 1):
        spans.append(span(turn * 10, "chat", turn * 10, turn * 10 + 1, gen_ai__operation__name="chat"))
        facts = {
            "gen_ai__operation__name": "execute_tool",
            "gen_ai__tool__name": tool,
            "gen_ai__tool__call__arguments": json.dumps({"path": path}),
            "gen_ai__tool__call__result": content,
        }
        spans.append(span(turn * 10 + 1, f"execute_tool {tool}", turn * 10 + 2, turn * 10 + 3, **facts))
    last = (reads + 1) * 10
    spans.append(span(last, "chat", last, last + 1, gen_ai__operation__name="chat"))
    facts = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": agent}
    spans.append(span(1, f"invoke_agent {agent}", 0, last + 5, 0, **facts))
    return spans


def write_traces(path, *traces):
    return write_lines(path, [otlp_message(span) for spans in traces for span in spans])


def test_a_stop_and_its_waste(tmp_path, replay_json):
    file = write_traces(tmp_path / "t.jsonl", trace(1, 21))
    [attempt] = replay_json(file)["attempts"]
    assert attempt["stop"] == {
        "code": "execution-read-loop-withheld-reads-bound",
        "category": "no-progress",
        "message": "execution-read-loop-withheld-reads-bound: 9 exceeds execution.readLoopWithheldReads = 8 count.",
        "observed": 9,
        "limit": 8,
        "turn": 18,
    }
    assert attempt["callsAfterStop"] == 3
    assert attempt["waste"] == {"calls": 3, "bytes": 300}
    assert (attempt["enforced"], attempt["agentName"], attempt["traceId"]) == (False, "reader", "00000001" * 4)
    assert attempt["tools"]["verdicts"] == {"deliver": 1, "deliver-with-notice": 8, "notice-only": 9}
    assert "calls" not in attempt


def test_calls_are_listed_on_demand_and_hold_no_content(tmp_path, replay_json):
    file = write_traces(tmp_path / "t.jsonl", trace(1, 20, path="secret-path.txt", content="secret-content"))
    report = replay_json(file, "--calls")
    calls = report["attempts"][0]["calls"]
    assert [call["verdict"] for call in calls[:3]] == ["deliver", "deliver-with-notice", "deliver-with-notice"]
    assert (calls[2]["repeats"], calls[2]["crossResult"], calls[2]["firstTurn"], calls[2]["turn"]) == (2, 2, 1, 3)
    assert calls[0]["progress"] == "new-content"
    assert calls[-1]["verdict"] == "denied"
    assert all(calls[-1][key] is None for key in DENIED_FIELDS)
    assert "secret" not in json.dumps(report)


def test_what_if_limits_and_profiles(tmp_path, replay_json, replay):
    file = write_traces(tmp_path / "t.jsonl", trace(1, 6, tool="read_file"))
    assert replay_json(file)["neutralTools"] == {"read_file": 6}
    limits = ("--limits", "execution.readLoopRepeatStreak=1", "--limits", "execution.readLoopWithheldReads=1")
    strict = replay_json(file, "--profile", "generic", *limits)
    assert strict["attempts"][0]["stop"]["turn"] == 4
    assert replay(file, "--limits", "nonsense=1", code=2) == ""
    assert replay(file, "--profile", "nonsense", code=2) == ""


def test_fail_on_sets_the_exit_code(tmp_path, replay):
    file = write_traces(tmp_path / "t.jsonl", trace(1, 20))
    replay(file, "--fail-on", "stop", code=3)
    replay(file, "--fail-on", "ask", code=0)
    assert json.loads(replay(file, "--json", "--fail-on", "stop", code=3))["totals"]["stops"] == 1


def test_the_kill_switch_does_not_silence_a_replay(tmp_path, replay_json, monkeypatch):
    monkeypatch.setenv("OTEL_DOCSFAB_MODE", "off")
    assert replay_json(write_traces(tmp_path / "t.jsonl", trace(1, 20)))["totals"]["stops"] == 1


def test_the_table_for_people(tmp_path, replay):
    write_traces(tmp_path / "t.jsonl", trace(1, 21, agent="[red]odd\x1b[31m"), trace(2, 1), trace(3, 4))
    with (tmp_path / "t.jsonl").open("a") as file:
        file.write("{half\n")
    shown = replay(tmp_path)
    assert "execution-read-loop-withheld-reads-bound (18)" in shown
    assert "3 calls, 300 B" in shown
    assert "[red]odd?[31m" in shown
    assert "1 more attempts, with nothing to tell" in shown
    assert "3 attempts (3 traces, 0 session files), 23 calls: 1 stops, 0 asks" in shown
    assert "LIMITATIONS" in shown
    assert f"{tmp_path / 't.jsonl'}:" in shown


def test_errors_leave_no_half_object(tmp_path, replay):
    (tmp_path / "x.json").write_text('{"not": "a trace"}')
    assert replay(tmp_path / "x.json", "--json", code=2) == ""
    assert replay(tmp_path / "gone.json", code=2) == ""
    assert replay(tmp_path, "--json", code=2) == ""
    assert replay(write_traces(tmp_path / "t.jsonl", trace(1, 1)), "--calls", code=2) == ""


def test_one_trace_in_several_files_and_several_encodings(tmp_path, replay_json):
    spans = trace(1, 20)
    write_lines(tmp_path / "a.jsonl", [otlp_message(span) for span in spans[::2]])
    packed = gzip.compress("\n".join(json.dumps(otlp_message(span)) for span in spans[1::2]).encode())
    (tmp_path / "b.json.gz").write_bytes(packed)
    [attempt] = replay_json(tmp_path)["attempts"]
    assert attempt["stop"]["turn"] == 18


def test_standard_input(tmp_path, replay_json, monkeypatch):
    file = write_traces(tmp_path / "t.jsonl", trace(1, 20))
    with file.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert replay_json("-", "--jobs", "2")["totals"]["stops"] == 1


def test_several_processes_find_the_same(tmp_path, replay_json):
    write_traces(tmp_path / "a.jsonl", *(trace(number, number % 22) for number in range(1, 40)))
    mixed = [span for pair in zip(trace(100, 20), trace(101, 20), strict=True) for span in pair]
    (tmp_path / "b.json").write_text(json.dumps(otlp_message(*mixed), indent=1))
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write('{half\n{"odd": 1}\n')
        broken = trace(50, 3)[0] | {"startTimeUnixNano": "soon"}
        file.write(json.dumps(otlp_message(broken)) + "\n")
    session = Session().user("go").use("m1", "t1").result("t1", "A").use("m2", "t2").result("t2", "A")
    for copy in ("s1", "s2", "s3"):  # a resumed session in files of its own
        write_lines(tmp_path / f"{copy}.jsonl", session.records)
    (tmp_path / "c.json").write_text('{"no": "trace"}')
    one, two = replay_json(tmp_path), replay_json(tmp_path, "--jobs", "2")

    def ordered(report):
        return sorted(report["attempts"], key=lambda entry: json.dumps(entry, sort_keys=True))

    assert ordered(two) == ordered(one)
    assert len(one["attempts"]) == 39 + 2 + 1
    assert two["totals"] == one["totals"]
    assert one["problems"]["broken"] == 3
    assert sorted(map(json.dumps, two["problems"]["named"])) == sorted(map(json.dumps, one["problems"]["named"]))
    assert (two["problems"]["broken"], two["problems"]["skipped"]) == (3, 1)


def test_an_error_in_another_process_is_this_ones(tmp_path, replay):
    (tmp_path / "x.json").write_text('{"not": "a trace"}')
    assert replay(tmp_path / "x.json", "--jobs", "2", code=2) == ""


def test_a_session_file_is_judged_with_the_toolset_that_fits_it(tmp_path, replay_json):
    session = Session().user("go")
    for turn in range(20):
        session.use(f"m{turn}", f"t{turn}").result(f"t{turn}", "A")
    report = replay_json(write_lines(tmp_path / "s.jsonl", session.records), "--calls")
    [attempt] = report["attempts"]
    assert (attempt["source"], attempt["stop"]["turn"], attempt["waste"]) == (
        "claude-code",
        18,
        {"calls": 2, "bytes": 2},
    )
    assert attempt["calls"][0]["callId"] == "t0"
    assert report["sessions"] == 1


def test_session_evictions_and_compactions_reach_the_machine(tmp_path, replay_json):
    session = Session().user("go").use("m1", "t1").result("t1", "A")
    session.system("microcompact_boundary", microcompactMetadata={"compactedToolIds": ["t1"]})
    session.use("m2", "t2").result("t2", "A").use("m3", "t3").result("t3", "A")
    session.system("compact_boundary").use("m4", "t4").result("t4", "A").use("m5", "t5").result("t5", "A")
    session.use("m6", "t6", "gone.txt").result("t6", "no such file", is_error=True)
    session.use("m7", "t7").result("t7", [{"type": "image", "source": {}}])
    [attempt] = replay_json(write_lines(tmp_path / "s.jsonl", session.records), "--calls")["attempts"]
    assert [call["verdict"] for call in attempt["calls"]] == [
        "deliver",
        "deliver",  # evicted: in full, not counted
        "deliver-with-notice",
        "deliver",  # first of the epoch
        "deliver-with-notice",
        "deliver",  # failed
        "deliver",  # no text
    ]
    assert attempt["unjudged"] == {"result-not-text": 1}
    assert [call["ok"] for call in attempt["calls"]] == [True] * 5 + [False, True]


def test_asks_are_told_one_by_one(tmp_path, replay_json):
    spans = trace(1, 5)
    facts = {"docsfab.step.id": "review-documentation", "docsfab.step.kind": "read-only", "docsfab.run.id": "run-7"}
    spans[-1]["attributes"] += [{"key": key, "value": {"stringValue": value}} for key, value in facts.items()]
    spans[-1]["attributes"].append({"key": "docsfab.attempt.timeout_ms", "value": {"intValue": "118770"}})
    report = replay_json(write_traces(tmp_path / "t.jsonl", spans), "--fail-on", "ask", code=3)
    [attempt] = report["attempts"]
    assert (attempt["runId"], attempt["stepId"]) == ("run-7", "review-documentation")
    assert attempt["concludeNow"]["trigger"] == "attempt-deadline"
    assert [line for line in report["limitations"] if line.startswith("run run-7")]


def test_the_schema_knows_every_closed_list():
    attempt = SCHEMA["properties"]["attempts"]["items"]["properties"]
    call = attempt["calls"]["items"]["properties"]
    for words, listed in (
        (codes.Verdict, call["verdict"]["enum"]),
        (codes.Denial, call["denial"]["enum"]),
        (codes.Unjudged, call["unjudged"]["enum"]),
        (codes.Progress, call["progress"]["enum"]),
        (codes.Outcome, attempt["outcome"]["enum"]),
        (codes.Code, attempt["code"]["enum"]),
        (codes.Trigger, attempt["concludeNow"]["properties"]["trigger"]["enum"]),
        (codes.DeadlineTurn, attempt["deadlineTurn"]["enum"]),
    ):
        assert [word for word in listed if word is not None] == [str(word) for word in words]


def test_memory_does_not_grow_with_the_file(tmp_path, replay, monkeypatch):
    peaks = []
    for count in (60, 240):
        file = write_traces(
            tmp_path / f"{count}.jsonl", *(trace(n, 5, content="x" * 3000) for n in range(1, count + 1))
        )
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        replay(file, "--json", "--window", "50")
        tracemalloc.start()
        with Path(os.devnull).open("w") as nowhere:
            monkeypatch.setattr(sys, "stdout", nowhere)
            main.main(["replay", str(file), "--json", "--window", "50"])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        monkeypatch.undo()
        monkeypatch.setitem(main.COMMANDS, "replay", ("otel_docsfab.cli.replay", ""))
    assert peaks[1] < 1.3 * peaks[0] + 300_000


WITH_CONTENT = [
    "agent_framework",
    "autogen_openinference",
    "crewai",
    "google_adk_openinference",
    "google_adk_schema1",
    "haystack",
    "langgraph",
    "langgraph_genai",
    "langgraph_langsmith",
    "langgraph_traceloop",
    "llamaindex",
    "llamaindex_traceloop",
    "openai_agents",
    "openai_agents_logfire",
    "openai_agents_traceloop",
    "openai_agents_v2",
    "pydantic_ai",
    "pydantic_ai_2",
    "pydantic_ai_3",
    "pydantic_ai_4",
    "smolagents",
    "strands",
    "claude_agent_sdk",
    "claude_code_cli_otlp",
]
WITHOUT_CONTENT = [
    "agent_framework_default",
    "autogen",
    "google_adk",
    "google_adk_nocontent",
    "haystack_native",
    "mcp",
    "pydantic_ai_nocontent",
    "semantic_kernel_default",
]


def _profile(name):
    return "claude-code" if name.startswith("claude") else "generic"


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_captures_with_content(name, replay_json):
    """The scripted run: a.txt four times as one result, b.txt once, one write, one failed read, all in seven turns."""
    report = replay_json(CAPTURES / f"{name}.jsonl", "--calls", "--profile", _profile(name))
    attempts = [attempt for attempt in report["attempts"] if attempt["tools"]["calls"] == 7]
    calls = attempts[0]["calls"]
    read, write = calls[0]["tool"], next(call["tool"] for call in calls if "rite" in call["tool"])
    verdicts = [call["verdict"] for call in calls if call["tool"] == read and call["ok"]]
    assert sorted(verdicts) == ["deliver"] * 2 + ["deliver-with-notice"] * 3
    assert sorted(call["repeats"] for call in calls if call["repeats"]) == [1, 2, 3]
    assert [call["ok"] for call in calls if call["tool"] == write] == [True]
    assert [call["tool"] for call in calls if not call["ok"]] == [read]
    assert attempts[0]["unjudged"] == {}
    assert attempts[0]["tools"]["readEvidence"]["unchangedReReads"] == 3


@pytest.mark.parametrize("name", WITHOUT_CONTENT)
def test_captures_without_content(name, replay_json):
    report = replay_json(CAPTURES / f"{name}.jsonl", "--calls", "--profile", "generic")
    attempt = report["attempts"][0]
    assert attempt["tools"]["verdicts"] == {}
    assert attempt["tools"]["readEvidence"] is None
    assert attempt["unjudged"] == {"arguments-not-captured": 5}
    assert any("could not be judged" in line for line in report["limitations"])
