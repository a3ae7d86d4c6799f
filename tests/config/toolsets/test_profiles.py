"""Profiles class the tools of real runtimes by the names of their own sources."""

from __future__ import annotations

import pytest

from otel_docsfab.config.toolsets import ShellMode, profile, profile_names
from otel_docsfab.core import DOCSFAB_TOOLS, ToolClass
from otel_docsfab.core.tools import PROGRESS_TOOLS, READ_TOOLS
from otel_docsfab.errors import ConfigError

_CALLS = [
    ("claude-code", "Read", {"file_path": "/a"}, "read"),
    ("claude-code", "Grep", {"pattern": "x"}, "read"),
    ("claude-code", "Glob", {"pattern": "*.py"}, "read"),
    ("claude-code", "Edit", {"file_path": "/a", "old_string": "a", "new_string": "b"}, "progress"),
    ("claude-code", "Write", {"file_path": "/a", "content": "b"}, "progress"),
    ("claude-code", "NotebookEdit", {"notebook_path": "/a", "new_source": "b"}, "progress"),
    ("claude-code", "Bash", {"command": "cat f", "description": "read f", "timeout": 5}, "read"),
    ("claude-code", "Bash", {"command": "cat f", "run_in_background": True}, "neutral"),
    ("claude-code", "Bash", {"command": "npm test"}, "neutral"),
    ("claude-code", "BashOutput", {"bash_id": "1"}, "neutral"),
    ("claude-code", "TaskOutput", {"task_id": "1"}, "neutral"),
    ("claude-code", "WebFetch", {"url": "http://x", "prompt": "y"}, "neutral"),
    ("claude-code", "TodoWrite", {"todos": []}, "neutral"),
    ("claude-code", "mcp__filesystem__read_file", {"path": "a"}, "read"),
    ("claude-code", "mcp__fs__write_file", {"path": "a", "content": ""}, "progress"),
    ("claude-code", "mcp__mail__send", {}, "neutral"),
    ("gemini-cli", "read_file", {"file_path": "a"}, "read"),
    ("gemini-cli", "read_many_files", {"include": ["a"]}, "read"),
    ("gemini-cli", "list_directory", {"dir_path": "."}, "read"),
    ("gemini-cli", "grep_search", {"pattern": "x"}, "read"),
    ("gemini-cli", "search_file_content", {"pattern": "x"}, "read"),
    ("gemini-cli", "replace", {"file_path": "a", "old_string": "b", "new_string": "c"}, "progress"),
    ("gemini-cli", "write_file", {"file_path": "a", "content": ""}, "progress"),
    ("gemini-cli", "run_shell_command", {"command": "cat f", "dir_path": "sub"}, "read"),
    ("gemini-cli", "run_shell_command", {"command": "cat f", "is_background": True}, "neutral"),
    ("gemini-cli", "google_web_search", {"query": "x"}, "neutral"),
    ("gemini-cli", "mcp_fs_read_file", {"path": "a"}, "read"),
    ("codex", "shell", {"command": ["bash", "-lc", "cat f"], "workdir": "/w"}, "read"),
    ("codex", "shell", {"command": ["cat", "f"]}, "read"),
    ("codex", "shell", {"command": ["cat", "*"]}, "read"),
    ("codex", "shell", {"command": ["rm", "f"]}, "neutral"),
    ("codex", "shell", {"command": ["bash", "-lc", "apply_patch <<'E'\n*** Begin Patch\nE"]}, "progress"),
    ("codex", "shell", {"command": ["apply_patch", "*** Begin Patch"]}, "progress"),
    ("codex", "shell", {"command": ["sort", "-o", "f", "f"]}, "neutral"),
    ("codex", "shell", {"command": ["echo", "a", ">", "f"]}, "neutral"),
    ("codex", "shell", {"command": []}, "neutral"),
    ("codex", "shell", {"command": ["cat", 5]}, "neutral"),
    ("codex", "shell", {"command": ["powershell.exe", "-Command", "cat f"]}, "neutral"),
    ("codex", "shell_command", {"command": "rg -n foo", "workdir": "/w", "timeout_ms": 1}, "read"),
    ("codex", "exec_command", {"cmd": "sed -n 1,9p f", "yield_time_ms": 1000}, "read"),
    ("codex", "exec_command", {"cmd": "sed -n 1,9p f", "shell": "/bin/zsh"}, "read"),
    ("codex", "exec_command", {"cmd": "cat f", "shell": "/usr/bin/python3"}, "neutral"),
    ("codex", "write_stdin", {"session_id": 1, "chars": ""}, "neutral"),
    ("codex", "wait", {}, "neutral"),
    ("codex", "apply_patch", {"input": "*** Begin Patch"}, "progress"),
    ("codex", "read_file", {"file_path": "/a"}, "read"),
    ("codex", "list_dir", {"dir_path": "/a"}, "read"),
    ("codex", "grep_files", {"pattern": "x"}, "read"),
    ("opencode", "read", {"filePath": "/a"}, "read"),
    ("opencode", "list", {"path": "/a"}, "read"),
    ("opencode", "edit", {"filePath": "/a", "oldString": "a", "newString": "b"}, "progress"),
    ("opencode", "apply_patch", {"patchText": "x"}, "progress"),
    ("opencode", "bash", {"command": "ls", "workdir": "/w", "description": "x"}, "read"),
    ("opencode", "webfetch", {"url": "x"}, "neutral"),
    ("opencode", "files_read_text_file", {"path": "a"}, "read"),
    ("openhands", "str_replace_editor", {"command": "view", "path": "/a"}, "read"),
    ("openhands", "str_replace_editor", {"command": "create", "path": "/a", "file_text": ""}, "progress"),
    ("openhands", "file_editor", {"command": "str_replace", "path": "/a"}, "progress"),
    ("openhands", "file_editor", {"command": "insert", "path": "/a"}, "progress"),
    ("openhands", "file_editor", {"command": "undo_edit", "path": "/a"}, "progress"),
    ("openhands", "file_editor", {"command": "other", "path": "/a"}, "neutral"),
    ("openhands", "file_editor", None, "neutral"),
    ("openhands", "execute_bash", {"command": "cat f"}, "read"),
    ("openhands", "execute_bash", {"command": "cat f", "is_input": "true"}, "neutral"),
    ("openhands", "terminal", {"command": "", "is_input": False}, "neutral"),
    ("openhands", "terminal", {"command": "C-c", "is_input": True}, "neutral"),
    ("openhands", "terminal", {"command": "ls", "is_input": False}, "read"),
    ("openhands", "terminal", {"command": "ls", "reset": True}, "neutral"),
    ("openhands", "think", {"thought": "x"}, "neutral"),
    ("swe-agent", "str_replace_editor", {"command": "view", "path": "/a"}, "read"),
    ("swe-agent", "open", {"path": "/a"}, "read"),
    ("swe-agent", "search_dir", {"search_term": "x"}, "read"),
    ("swe-agent", "edit", {"search": "x", "replace": "y"}, "progress"),
    ("swe-agent", "scroll_down", {}, "neutral"),
    ("swe-agent", "submit", {}, "neutral"),
    ("swe-agent", "bash", {"command": "grep -rn x ."}, "read"),
    ("cline", "read_file", {"path": "a"}, "read"),
    ("cline", "search_files", {"path": ".", "regex": "x"}, "read"),
    ("cline", "replace_in_file", {"path": "a", "diff": "x"}, "progress"),
    ("cline", "execute_command", {"command": "cat f", "requires_approval": False}, "read"),
    ("cline", "use_mcp_tool", {"server_name": "fs", "tool_name": "read_file", "arguments": "{}"}, "read"),
    ("cline", "use_mcp_tool", {"server_name": "fs", "tool_name": "send", "arguments": "{}"}, "neutral"),
    ("roo", "read_file", {"files": [{"path": "a"}]}, "read"),
    ("roo", "apply_diff", {"path": "a", "diff": "x"}, "progress"),
    ("roo", "mcp--fs--read_file", {"path": "a"}, "read"),
    ("roo", "read_command_output", {"artifact_id": "x"}, "neutral"),
    ("generic", "read_file", {"path": "a"}, "read"),
    ("generic", "fs-read_file", {"path": "a"}, "read"),
    ("generic", "mcp__fs__read_file", {"path": "a"}, "read"),
    ("generic", "files.list_directory", {"path": "a"}, "read"),
    ("generic", "str_replace_based_edit_tool", {"command": "view", "path": "a"}, "read"),
    ("generic", "str_replace_based_edit_tool", {"command": "str_replace", "path": "a"}, "progress"),
    ("generic", "process", {"action": "log"}, "neutral"),
    ("generic", "BashOutput", {}, "neutral"),
    ("generic", "bash", {"command": "cat f"}, "read"),
    ("generic", "bash", "cat f", "read"),
    ("generic", "bash", '{"command": "cat f"}', "read"),
    ("generic", "bash", '{"command": "cat f', "neutral"),
    ("generic", "bash", None, "neutral"),
    ("docsfab", "Read", {"file_path": "a"}, "neutral"),
    ("docsfab", "bash", {"command": "cat f"}, "neutral"),
]


@pytest.mark.parametrize(("name", "tool", "arguments", "expected"), _CALLS)
def test_a_runtimes_call_has_its_class(name, tool, arguments, expected):
    toolset = profile(name, shell_rules=ShellMode.READS_AND_WRITES)
    assert toolset.classify(tool, arguments).tool_class == expected


@pytest.mark.parametrize("name", profile_names())
@pytest.mark.parametrize("tool", ["write_stdin", "process", "wait", "TaskOutput", "BashOutput"])
def test_polls_are_neutral_in_every_profile(name, tool):
    assert (
        profile(name, shell_rules="reads-and-writes").classify(tool, {"action": "log"}).tool_class is ToolClass.NEUTRAL
    )


@pytest.mark.parametrize("tool", [*sorted(READ_TOOLS), *sorted(PROGRESS_TOOLS), "bash", ""])
def test_the_default_profile_is_the_sources_own_list(tool):
    ours, core = profile().classify(tool, {"path": "a"}), DOCSFAB_TOOLS.classify(tool, {"path": "a"})
    assert (ours.tool_class, ours.arguments) == (core.tool_class, core.arguments)
    assert profile_names()[0] == "docsfab"


@pytest.mark.parametrize("name", profile_names())
def test_shell_rules_are_off_unless_asked_for(name):
    toolset = profile(name)
    for tool in ("bash", "Bash", "shell", "terminal", "execute_command", "run_shell_command", "exec_command"):
        assert toolset.classify(tool, {"command": "cat f", "cmd": "cat f"}).tool_class is ToolClass.NEUTRAL


def test_writes_of_shells_are_progress_only_when_asked_for():
    call = {"command": "echo x > f"}
    assert profile("claude-code", shell_rules="reads").classify("Bash", call).tool_class is ToolClass.NEUTRAL
    assert (
        profile("claude-code", shell_rules="reads-and-writes").classify("Bash", call).tool_class is ToolClass.PROGRESS
    )


def test_an_unknown_profile_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean claude-code"):
        profile("claude_code")


def test_arguments_that_a_runtime_adds_to_any_call_are_no_identity():
    toolset = profile("openhands")
    one = toolset.classify("file_editor", {"command": "view", "path": "/a", "security_risk": "LOW", "summary": "look"})
    two = toolset.classify("file_editor", {"command": "view", "path": "/a"})
    assert one.arguments == two.arguments
    assert profile("gemini-cli").classify("replace", {"file_path": "a", "instruction": "x"}).arguments == {
        "file_path": "a"
    }
