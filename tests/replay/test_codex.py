"""Codex rollout files of several versions."""

from __future__ import annotations

import json

import pytest

from otel_docsfab.replay import script
from otel_docsfab.replay.readers.sessions.codex import unwrap_output
from tests.replay.files import events_of, told, write_json, write_lines

TURN = "019aa000-0000-7000-8000-00000000000"


def _line(kind, **payload):
    return {"timestamp": "2026-04-13T12:00:00.000Z", "type": kind, "payload": payload}


def _item(kind, **fields):
    return _line("response_item", type=kind, **fields)


def _event(kind, **fields):
    return _line("event_msg", type=kind, **fields)


def _message(role, text):
    kind = "input_text" if role == "user" else "output_text"
    return _item("message", role=role, content=[{"type": kind, "text": text}])


def _prompt(text, turn):
    return [
        _event("task_started", turn_id=f"{TURN}{turn}"),
        _message("user", "<environment_context>x</environment_context>"),
        _message("user", text),
        _event("user_message", message=text),
        _line("turn_context", model="gpt-x", cwd="/w"),
    ]


def _call(call_id, command="cat a.txt"):
    return _item("function_call", name="exec_command", arguments=json.dumps({"cmd": command}), call_id=call_id)


def _output(call_id, content, chunk="c1", code=0, seconds="0.0520"):
    text = (
        f"Chunk ID: {chunk}\nWall time: {seconds} seconds\nProcess exited with code {code}\n"
        f"Original token count: 4\nOutput:\n{content}"
    )
    return _item("function_call_output", call_id=call_id, output=text)


CAT = '{"cmd": "cat a.txt"}'
META = _line("session_meta", id="sess-1", cwd="/w", cli_version="0.99", source="cli")


def test_re_reads_envelopes_parallel_calls_compaction_and_the_answer(tmp_path):
    records = [
        META,
        *_prompt("go", 1),
        _item("reasoning", summary=[]),
        _call("c1"),
        _output("c1", "A", chunk="x1"),
        _event("token_count", info={}),
        _message("assistant", "again, both"),
        _call("c2"),
        _call("c3", "cat b.txt"),
        _output("c2", "A", chunk="x2", seconds="1.7000"),
        _output("c3", "", code=1),
        _line("compacted", message="summary", replacement_history=[]),
        _event("context_compacted"),
        _item("reasoning", summary=[]),
        _call("c4"),
        _output("c4", "A"),
        _message("assistant", "done"),
        _event("task_complete", turn_id=f"{TURN}1"),
    ]
    events = events_of(write_lines(tmp_path / "rollout-1.jsonl", records))
    assert told(events) == [
        "open codex",
        "turn",
        f"call 1 exec_command {CAT}",
        'result 1 ok "A"',
        "turn",
        f"call 2 exec_command {CAT}",
        'call 3 exec_command {"cmd": "cat b.txt"}',
        'result 2 ok "A"',
        'result 3 failed ""',
        "compacted",
        "turn",
        f"call 4 exec_command {CAT}",
        'result 4 ok "A"',
        "turn",
        "answered",
        "closed",
    ]
    assert (events[0].run_id, events[0].attempt, events[1].model) == ("sess-1", f"codex#{TURN}1", "gpt-x")


def test_one_prompt_one_attempt_even_in_the_middle_of_a_run(tmp_path):
    records = [
        META,
        *_prompt("go", 1),
        _call("c1"),
        _output("c1", "A"),
        _message("user", "also b"),
        _event("user_message", message="also b"),
        _call("c2"),
        _output("c2", "A"),
        _message("assistant", "done"),
        *_prompt("next", 2),
        _message("assistant", "yes"),
    ]
    shapes = told(events_of(write_lines(tmp_path / "r.jsonl", records)))
    assert shapes.count("open codex") == 3
    assert shapes.count("answered") == 2


def test_interrupted_and_missing(tmp_path):
    records = [META, *_prompt("go", 1), _call("c1"), _event("turn_aborted", reason="interrupted")]
    records += [*_prompt("go", 2), _call("c2")]
    events = events_of(write_lines(tmp_path / "r.jsonl", records))
    results = [(event.ok, event.reason) for event in events if isinstance(event, script.Result)]
    assert results == [(False, "result-not-captured"), (True, "result-not-captured")]
    assert [line for line in told(events) if line in ("cancelled", "closed")] == ["cancelled", "closed"]


def test_every_kind_of_call(tmp_path):
    records = [
        META,
        *_prompt("go", 1),
        _item("local_shell_call", call_id="l1", status="completed", action={"type": "exec", "command": ["cat", "a"]}),
        _item("function_call_output", call_id="l1", output="A"),
        _item("custom_tool_call", call_id="p1", name="apply_patch", input="*** Begin Patch"),
        _item("custom_tool_call_output", call_id="p1", output='{"output":"Success","metadata":{"exit_code":0}}'),
        _item("function_call", call_id="m1", name="read", namespace="mcp__fs__", arguments="{}"),
        _item("function_call_output", call_id="m1", output=[{"type": "input_text", "text": "B"}]),
        _item("function_call", call_id="v1", name="view_image", arguments="{}"),
        _item("function_call_output", call_id="v1", output=[{"type": "input_image", "image_url": "data:"}]),
        _item("function_call", call_id="f1", name="shell", arguments="{not json"),
        _item("function_call_output", call_id="f1", output={"content": "denied", "success": False}),
    ]
    assert told(events_of(write_lines(tmp_path / "r.jsonl", records)))[1:-1] == [
        "turn",
        'call 1 local_shell {"type": "exec", "command": ["cat", "a"]}',
        'result 1 ok "A"',
        "turn",
        'call 2 apply_patch "*** Begin Patch"',
        'result 2 ok "Success"',
        "turn",
        "call 3 mcp__fs__read {}",
        'result 3 ok "B"',
        "turn",
        "call 4 view_image {}",
        "result 4 result-not-text null",
        "turn",
        'call 5 shell "{not json"',
        'result 5 failed "denied"',
    ]


def test_sub_agents_have_files_of_their_own(tmp_path):
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "agent_role": "explorer"}}}
    records = [_line("session_meta", id="s2", source=spawned), META, *_prompt("go", 1), _call("c1"), _output("c1", "A")]
    events = events_of(write_lines(tmp_path / "r.jsonl", records))
    assert (events[0].agent, events[0].run_id) == ("explorer", "s2")


def test_bare_items_of_older_versions(tmp_path):
    records = [
        {"id": "old", "timestamp": "2025-07-01T00:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<user_instructions>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["cat","a"]}', "call_id": "c1"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output":"A","metadata":{"exit_code":0,"duration_seconds":0.1}}',
        },
        {"type": "function_call", "name": "shell", "arguments": '{"command":["cat","b"]}', "call_id": "c2"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": '{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.2}}',
        },
    ]
    expected = [
        "open codex",
        "turn",
        'call 1 shell {"command": ["cat", "a"]}',
        'result 1 ok "A"',
        "turn",
        'call 2 shell {"command": ["cat", "b"]}',
        'result 2 failed "no"',
        "closed",
    ]
    assert told(events_of(write_lines(tmp_path / "r.jsonl", records))) == expected
    oldest = {"session": {"id": "oldest", "timestamp": "2025-05-01T00:00:00Z"}, "items": records[2:]}
    for indent in (None, 2):
        events = events_of(write_json(tmp_path / f"old{indent}.json", oldest, indent))
        assert told(events) == expected
        assert events[0].run_id == "oldest"


@pytest.mark.parametrize(
    ("output", "content", "ok"),
    [
        ("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nA\n", "A\n", True),
        (
            "Exit code: 2\nWall time: 1.2 seconds\nTotal output lines: 900\nOutput:\nA",
            "Total output lines: 900\nA",
            False,
        ),
        ("Chunk ID: ab\nWall time: 5.0 seconds\nProcess running with session ID 7\nOutput:\n", "", True),
        ("Wall time: 0.1 seconds\nOutput:\nOutput:\nA", "Output:\nA", True),
        ("Wall time: 0.1 seconds\nno output line", "Wall time: 0.1 seconds\nno output line", True),
        ("Output:\nA", "Output:\nA", True),
        ('{"output":"A","metadata":{"exit_code":3}}', "A", False),
        ('{"output":"A"}', '{"output":"A"}', True),
        ("{broken", "{broken", True),
        ("aborted by user after 3.0s", "aborted by user after 3.0s", False),
        ("", "", True),
    ],
)
def test_envelopes(output, content, ok):
    assert unwrap_output(output) == (content, ok)
