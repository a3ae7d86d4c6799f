"""SWE-agent and mini-swe-agent trajectories."""

from __future__ import annotations

import pytest

from otel_docsfab.replay import script
from otel_docsfab.replay.readers import Format, Problems, read_recordings
from otel_docsfab.replay.readers.sessions.swe_agent import parse_action
from tests.replay.files import events_of, told, write_json

VIEW = '{"command": "view", "path": "/r/a.py"}'


def _step(action, observation, query=None):
    return {
        "action": action,
        "observation": observation,
        "response": "…",
        "thought": "…",
        "execution_time": 0.1,
        "state": {"open_file": "n/a", "working_dir": "/r"},
        "query": query or [],
    }


def _observation(content):
    return {"role": "user", "content": content, "agent": "main", "message_type": "observation"}


def _query(*observations):
    """The request of a step: system prompt, instance, and the observations so far."""
    return [{"role": "system", "content": "s", "message_type": "system_prompt"}, _observation("solve it")] + [
        _observation(content) for content in observations
    ]


ELIDED = "Old environment output: (3 lines omitted)"


@pytest.mark.parametrize("indent", [None, 2])
def test_swe_agent_re_reads_evictions_and_the_answer(tmp_path, indent):
    steps = [
        _step("str_replace_editor view /r/a.py", "A", _query()),
        _step("str_replace_editor view /r/a.py", "A", _query("A")),
        _step("cat 'b.py'\n", "B", _query(ELIDED, "A")),
        _step("open a.py 10", "A2", _query(ELIDED, ELIDED, "B")),
        _step("", "", _query(ELIDED, ELIDED, "B", "A2")),
        _step("submit", "", _query(ELIDED, ELIDED, "B", "A2")),
    ]
    whole = {"environment": "main", "trajectory": steps, "history": [], "info": {"exit_status": "submitted"}}
    file = write_json(tmp_path / "x.traj", whole, indent)
    assert next(iter(read_recordings([file], Problems()))).format is Format.SWE_AGENT
    assert told(events_of(file)) == [
        "open swe-agent",
        "turn",
        f"call 1 str_replace_editor {VIEW}",
        'result 1 ok "A"',
        "turn",
        f"call 2 str_replace_editor {VIEW}",
        'result 2 ok "A"',
        "evicted step-1",
        "turn",
        'call 3 bash {"command": "cat \'b.py\'\\n"}',
        'result 3 ok "B"',
        "evicted step-2",
        "turn",
        'call 4 open {"arguments": "a.py 10"}',
        'result 4 ok "A2"',
        "turn",
        "turn",
        "answered",
        "closed",
    ]


def test_swe_agent_several_attempts_and_a_missing_observation(tmp_path):
    attempt = {"trajectory": [_step("ls", "A"), _step("ls", None)], "history": [], "info": {}}
    whole = {"attempts": [attempt, attempt], "trajectory": attempt["trajectory"], "history": [], "info": {}}
    events = events_of(write_json(tmp_path / "x.traj", whole))
    assert told(events).count("open swe-agent") == 2
    lost = [event.reason for event in events if isinstance(event, script.Result) and event.call == 2]
    assert lost == ["result-not-captured"] * 2


@pytest.mark.parametrize(
    ("action", "parsed"),
    [
        ("ls -la", ("bash", {"command": "ls -la"})),
        (
            "str_replace_editor view /a --view_range 1 20",
            ("str_replace_editor", {"command": "view", "path": "/a", "view_range": ["1", "20"]}),
        ),
        (
            "str_replace_editor str_replace /a --old_str 'x\n y' --new_str ''",
            ("str_replace_editor", {"command": "str_replace", "path": "/a", "old_str": "x\n y", "new_str": ""}),
        ),
        ("str_replace_editor view 'unclosed", ("bash", {"command": "str_replace_editor view 'unclosed"})),
        ("find_file a.py src", ("find_file", {"arguments": "a.py src"})),
        ("scroll_down", ("scroll_down", {"arguments": ""})),
        ("edit 1:2\nx\nend_of_edit", ("edit", {"arguments": "1:2\nx\nend_of_edit"})),
        ("open(x)", ("bash", {"command": "open(x)"})),
    ],
)
def test_swe_agent_actions(action, parsed):
    assert parse_action(action) == parsed


def _v2_use(*commands):
    actions = [{"command": command, "tool_call_id": f"t{command}"} for command in commands]
    return {"role": "assistant", "content": "…", "extra": {"actions": actions, "timestamp": 1_770_000_000.5}}


def _v2_result(command, output, code=0):
    content = f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"
    extra = {"raw_output": output, "returncode": code, "timestamp": 1_770_000_001.5}
    return {"role": "tool", "tool_call_id": f"t{command}", "content": content, "extra": extra}


@pytest.mark.parametrize("indent", [None, 2])
def test_mini_swe_agent_tool_calls(tmp_path, indent):
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "task"},
        _v2_use("cat a"),
        _v2_result("cat a", "A"),
        _v2_use("cat a", "cat b"),
        _v2_result("cat a", "A"),
        _v2_result("cat b", "no such file", 1),
        {"role": "user", "content": "No tool calls found", "extra": {"interrupt_type": "FormatError"}},
        _v2_use("cat c"),
        _v2_use("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "diff"}},
    ]
    whole = {"info": {"mini_version": "2.4.6"}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    events = events_of(write_json(tmp_path / "x.traj.json", whole, indent))
    content = '"<returncode>0</returncode>\\n<output>\\nA\\n</output>"'
    assert told(events) == [
        "open mini-swe-agent",
        "turn",
        'call 1 bash {"command": "cat a"}',
        f"result 1 ok {content}",
        "turn",
        'call 2 bash {"command": "cat a"}',
        'call 3 bash {"command": "cat b"}',
        f"result 2 ok {content}",
        'result 3 failed "<returncode>1</returncode>\\n<output>\\nno such file\\n</output>"',
        "turn",
        'call 4 bash {"command": "cat c"}',
        "turn",
        "result 4 result-not-captured null",
        "answered",
        "closed",
    ]
    assert events[1].at_ms == 1_770_000_000_500


def test_mini_swe_agent_fenced_commands(tmp_path):
    def use(command):
        return {"role": "assistant", "content": f"THOUGHT: x\n\n```bash\n{command}\n```"}

    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "task: <returncode>0</returncode> is printed"},
        use("cat a"),
        {"role": "user", "content": "<returncode>0</returncode>\n<output>A</output>"},
        {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
        {"role": "user", "content": "Please always provide EXACTLY ONE action"},
        use("cat a"),
        {"role": "user", "content": "<returncode>1</returncode>\n<output>A</output>"},
    ]
    whole = {"info": {"exit_status": "", "mini_version": "1.9"}, "messages": messages}
    assert told(events_of(write_json(tmp_path / "x.traj.json", whole))) == [
        "open mini-swe-agent",
        "turn",
        'call 1 bash {"command": "cat a"}',
        'result 1 ok "<returncode>0</returncode>\\n<output>A</output>"',
        "turn",
        "turn",
        'call 2 bash {"command": "cat a"}',
        'result 2 failed "<returncode>1</returncode>\\n<output>A</output>"',
        "closed",
    ]
