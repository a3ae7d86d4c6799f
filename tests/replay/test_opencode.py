"""OpenCode sessions: both storage layouts and the export."""

from __future__ import annotations

import pytest

from otel_docsfab.replay import script
from tests.replay.files import events_of, told, write_json

T0 = 1_770_000_000_000


def _tool(
    call_id, output="A", *, tool="read", start=0, end=1, status="completed", compacted=None, metadata=None, **more
):
    state = {"status": status, "input": {"filePath": "a.txt"}, "time": {"start": T0 + start, "end": T0 + end}}
    if status == "completed":
        state |= {"output": output, "title": "a.txt", "metadata": metadata or {}}
    elif status == "error":
        state |= {"error": output}
    if compacted:
        state["time"]["compacted"] = T0 + compacted
    state |= more
    return {"type": "tool", "tool": tool, "callID": call_id, "state": state}


def _text(text, **more):
    return {"type": "text", "text": text, **more}


def _messages(*messages):
    """(role, created, parts, more) to the export's form."""
    made = []
    for number, (role, created, parts, *more) in enumerate(messages, 1):
        info = {
            "id": f"msg_{number:04d}abcdefgh",
            "sessionID": "ses_1",
            "role": role,
            "time": {"created": T0 + created},
        }
        if role == "assistant":
            info |= {"modelID": "m-1", "providerID": "p", "agent": "build"}
        info |= more[0] if more else {}
        made.append(
            {"info": info, "parts": [{"id": f"prt_{number:04d}{i:04d}"} | part for i, part in enumerate(parts)]}
        )
    return made


def _write(tmp_path, layout, messages, info=None):
    info = {"id": "ses_1", "projectID": "p1", "title": "t", "time": {}} | (info or {})
    if layout.startswith("export"):
        return write_json(tmp_path / "e.json", {"info": info, "messages": messages}, 2 if "pretty" in layout else None)
    older = layout == "older"
    root = tmp_path / "storage"
    write_json(root / "session" / ("info" if older else "p1") / "ses_1.json", info)
    base = root / "session" if older else root
    for message in messages:
        message_id = message["info"]["id"]
        write_json(base / "message" / "ses_1" / f"{message_id}.json", message["info"])
        for part in message["parts"]:
            folder = base / "part" / "ses_1" / message_id if older else base / "part" / message_id
            write_json(folder / f"{part['id']}.json", part)
    return root


LAYOUTS = pytest.mark.parametrize("layout", ["storage", "older", "export", "export-pretty"])
READ = '{"filePath": "a.txt"}'


@LAYOUTS
def test_re_reads_parallel_calls_evictions_compaction_and_the_answer(tmp_path, layout):
    messages = _messages(
        ("user", 0, [_text("go")]),
        ("assistant", 1, [{"type": "step-start"}, _tool("c1", start=2, end=3, compacted=15), {"type": "step-finish"}]),
        (
            "assistant",
            10,
            [{"type": "step-start"}, _tool("c2", start=11, end=14), _tool("c3", "B", tool="list", start=11, end=12)],
        ),
        ("assistant", 20, [{"type": "step-start"}, _tool("c4", start=21, end=22)]),
        ("user", 30, [{"type": "compaction", "auto": True}]),
        ("assistant", 31, [_text("summary")], {"summary": True}),
        ("user", 32, [_text("Continue if you have next steps", synthetic=True)]),
        ("assistant", 33, [{"type": "step-start"}, _tool("c5", start=34, end=35)]),
        ("assistant", 40, [{"type": "step-start"}, _text("done"), {"type": "step-finish"}], {"finish": "stop"}),
    )
    events = events_of(_write(tmp_path, layout, messages))
    assert told(events) == [
        "open opencode",
        "turn",
        f"call 1 read {READ}",
        'result 1 ok "A"',
        "turn",
        f"call 2 read {READ}",
        f"call 3 list {READ}",
        'result 3 ok "B"',
        'result 2 ok "A"',
        "evicted c1",
        "turn",
        f"call 4 read {READ}",
        'result 4 ok "A"',
        "compacted",
        "turn",
        f"call 5 read {READ}",
        'result 5 ok "A"',
        "turn",
        "answered",
        "closed",
    ]
    assert (events[0].run_id, events[1].model) == ("ses_1", "m-1")
    [evicted] = [event for event in events if isinstance(event, script.Evicted)]
    assert evicted.at_ms == T0 + 15


@LAYOUTS
def test_a_sub_agent_is_a_session_with_a_parent(tmp_path, layout):
    messages = _messages(("user", 0, [_text("look")]), ("assistant", 1, [_text("found")]))
    events = events_of(_write(tmp_path, layout, messages, {"parentID": "ses_0"}))
    assert told(events) == ["open sub-agent", "turn", "answered", "closed"]


def test_several_steps_in_one_message_are_turns(tmp_path):
    steps = [{"type": "step-start"}, _tool("c1"), {"type": "step-finish"}, {"type": "step-start"}, _tool("c2")]
    events = events_of(_write(tmp_path, "export", _messages(("user", 0, [_text("go")]), ("assistant", 1, steps))))
    assert told(events).count("turn") == 2


def test_failures_are_told_by_status_and_by_exit_code(tmp_path):
    parts = [
        _tool("c1", "no such file", status="error"),
        _tool("c2", "out", tool="bash", metadata={"exit": 1, "output": "out"}),
        _tool("c3", "out", tool="bash", metadata={"exit": 0}),
        _tool("c4", status="running"),
    ]
    events = events_of(_write(tmp_path, "storage", _messages(("user", 0, [_text("go")]), ("assistant", 1, parts))))
    results = [(event.call, event.ok, event.reason) for event in events if isinstance(event, script.Result)]
    assert results == [(1, False, None), (2, False, None), (3, True, None), (4, True, "result-not-captured")]


def test_results_that_stand_for_something_else_are_unjudged(tmp_path):
    parts = [
        _tool("c1", "start ... Full output saved to x", metadata={"truncated": True, "outputPath": "/x"}),
        _tool("c2", "Image read successfully", attachments=[{"type": "file", "mime": "image/png"}]),
        _tool("c3", "[Old tool result content cleared]"),
        _tool("c4", "[TOOL RESULT TRUNCATED]") | {"truncated": True},
    ]
    events = events_of(_write(tmp_path, "storage", _messages(("user", 0, [_text("go")]), ("assistant", 1, parts))))
    assert [event.reason for event in events if isinstance(event, script.Result)] == [
        "result-offloaded",
        "result-not-text",
        "result-placeholder",
        "result-cut",
    ]


def test_one_prompt_one_attempt_and_an_abort(tmp_path):
    messages = _messages(
        ("user", 0, [_text("one")]),
        ("assistant", 1, [_tool("c1", "aborted", status="error")], {"error": {"name": "MessageAbortedError"}}),
        ("user", 5, [_text("two"), {"type": "file", "mime": "text/plain"}]),
        ("assistant", 6, [_text("and then")], {"finish": "length"}),
    )
    shapes = told(events_of(_write(tmp_path, "export", messages)))
    assert [line for line in shapes if "call" not in line and "result" not in line] == [
        "open opencode",
        "turn",
        "cancelled",
        "open opencode",
        "turn",
        "closed",
    ]


def test_a_damaged_part_is_named_and_the_rest_read(tmp_path):
    from otel_docsfab.replay.readers import Problems  # noqa: PLC0415 - for this test alone

    root = _write(
        tmp_path, "storage", _messages(("user", 0, [_text("go")]), ("assistant", 1, [_tool("c1"), _tool("c2")]))
    )
    damaged = next((root / "part").glob("*0002*/prt_00020000.json"))
    damaged.write_text("{half")
    problems = Problems()
    events = events_of(root, problems=problems)
    assert [event.call_id for event in events if isinstance(event, script.Call)] == ["c2"]
    assert [problem.source for problem in problems.named] == [str(damaged)]
