"""Rules, globs, conditions, directories and identities."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from otel_docsfab.config.toolsets import ShellCall, ShellMode, ToolRule, Tools, explain, profile
from otel_docsfab.core import ToolClass
from otel_docsfab.core.identity import arguments_digest
from tests.config.toolsets.commands import NEUTRAL, READS, WRITES

READ, PROGRESS, NEUTRAL_CLASS = ToolClass.READ, ToolClass.PROGRESS, ToolClass.NEUTRAL


def test_the_first_rule_that_fits_decides():
    tools = Tools(
        [
            ToolRule(("notes",), READ, when={"action": ("get", "list*")}),
            ToolRule(("notes",), PROGRESS, when={"action": ("put",)}),
            ToolRule(("kb_*",), READ),
            ToolRule(("kb_write", "not*"), PROGRESS),
        ]
    )
    assert tools.classify("notes", {"action": "get"}).tool_class is READ
    assert tools.classify("notes", {"action": "list-all"}).tool_class is READ
    assert tools.classify("notes", {"action": "put"}).tool_class is PROGRESS
    assert tools.classify("notes", {"action": "drop"}).tool_class is PROGRESS  # by not*
    assert tools.classify("kb_write", {}).tool_class is READ
    assert tools.classify("kb_find", {}).tool_class is READ
    assert tools.classify("kb", {}).tool_class is NEUTRAL_CLASS


def test_unknown_arguments_meet_no_condition():
    tools = Tools([ToolRule(("notes",), READ, when={"action": ("get",)}), ToolRule(("notes",), PROGRESS)])
    for arguments in (None, "get", '{"action": "ge', '["get"]', 5, b"{}"):
        assert tools.classify("notes", arguments).tool_class is NEUTRAL_CLASS
    assert tools.classify("notes", '{"action": "get"}').tool_class is READ


def test_conditions_compare_by_value_and_type():
    tools = Tools([ToolRule(("t",), READ, when={"n": (1, True)}, unless={"live": (True,)})])
    assert tools.classify("t", {"n": 1}).tool_class is READ
    assert tools.classify("t", {"n": True}).tool_class is READ
    assert tools.classify("t", {"n": 1.0}).tool_class is NEUTRAL_CLASS
    assert tools.classify("t", {"n": "1"}).tool_class is NEUTRAL_CLASS
    assert tools.classify("t", {}).tool_class is NEUTRAL_CLASS
    assert tools.classify("t", {"n": 1, "live": True}).tool_class is NEUTRAL_CLASS
    assert tools.classify("t", {"n": 1, "live": 1}).tool_class is READ


def test_user_rules_stand_before_the_profile():
    tools = profile("generic", rules=[ToolRule(("read_file",), NEUTRAL_CLASS), ToolRule(("my_*",), READ)])
    assert tools.classify("read_file", {"path": "a"}).tool_class is NEUTRAL_CLASS
    assert tools.classify("my_docs", {"path": "a"}).tool_class is READ
    assert tools.classify("write_file", {"path": "a"}).tool_class is PROGRESS


def test_prefixes_are_aliases_of_the_named_tools():
    tools = profile("docsfab", prefixes=["mcp__*__", "fs-"])
    assert tools.classify("mcp__docs__read", {"path": "a"}).tool_class is READ
    assert tools.classify("fs-edit", {"path": "a"}).tool_class is PROGRESS
    assert tools.classify("fs-bash", {}).tool_class is NEUTRAL_CLASS
    assert tools.classify("xfs-edit", {}).tool_class is NEUTRAL_CLASS
    assert "behind the prefix fs-" in tools.classify("fs-edit", {}).reason


def test_names_of_any_length_are_neutral_and_bounded():
    tools = profile("generic")
    assert tools.classify("x" * 10_000 + "-read_file", {}).tool_class is NEUTRAL_CLASS
    for i in range(5_000):
        tools.classify(f"tool{i}", {})
    assert tools._others.cache_info().currsize <= 4_096


def test_ignored_arguments_are_no_identity():
    tools = Tools([ToolRule(("q",), READ, ignore=frozenset({"why"}))])
    assert tools.classify("q", {"x": 1, "why": "a"}).arguments == {"x": 1}
    assert tools.classify("q", '{"x": 1, "why": "a"}').arguments == {"x": 1}
    untouched = {"x": 1}
    assert tools.classify("q", untouched).arguments is untouched


@pytest.mark.parametrize(
    ("arguments", "identity"),
    [
        ({"path": "a.md"}, {"path": "a.md", "cwd": "/w"}),
        ({"path": "../a.md"}, {"path": "../a.md", "cwd": "/w"}),
        ({"pattern": "x"}, {"pattern": "x", "cwd": "/w"}),
        ({"path": "/a.md"}, {"path": "/a.md"}),
        ({"path": "~/a.md"}, {"path": "~/a.md"}),
        ({"path": "C:\\a.md"}, {"path": "C:\\a.md"}),
        ({"uri": "file:///a"}, {"uri": "file:///a"}),
        ({"path": "a.md", "cwd": "/other"}, {"path": "a.md", "cwd": "/other"}),
        ({"path": "a.md", "cwd": "sub"}, {"path": "a.md", "cwd": "/w/sub"}),
        ({"paths": ["/a", "b"]}, {"paths": ["/a", "b"], "cwd": "/w"}),
        ({"paths": ["/a", "/b"]}, {"paths": ["/a", "/b"]}),
        ({"files": [{"path": "/a"}, {"path": "b"}]}, {"files": [{"path": "/a"}, {"path": "b"}], "cwd": "/w"}),
        ({"files": [{"path": "/a"}]}, {"files": [{"path": "/a"}]}),
    ],
)
def test_relative_paths_take_the_working_directory_into_the_identity(arguments, identity):
    assert profile("generic", working_directory="/w").classify("read_file", arguments).arguments == identity
    assert profile("generic").classify("read_file", arguments).arguments == arguments


def test_a_toolset_moves_to_another_directory():
    here = profile("generic", working_directory="/w", shell_rules="reads")
    there = here.at("/v")
    assert there.classify("read_file", {"path": "a"}).arguments == {"path": "a", "cwd": "/v"}
    assert there.classify("bash", {"command": "cat a"}).arguments == {"command": "cat a", "cwd": "/v"}
    assert here.classify("read_file", {"path": "a"}).arguments == {"path": "a", "cwd": "/w"}
    assert there.at(None).classify("read_file", {"path": "a"}).arguments == {"path": "a"}


def test_a_shell_reads_identity_is_the_command_and_the_directory():
    tools = profile("claude-code", shell_rules="reads")
    one = tools.classify("Bash", {"command": "cat f\n", "description": "look", "timeout": 1000, "cwd": "/w"})
    two = tools.classify("Bash", {"command": " cat f", "description": "look again", "cwd": "/w"})
    assert one.arguments == two.arguments == {"command": "cat f", "cwd": "/w"}
    assert tools.classify("Bash", {"command": "cat  f", "cwd": "/w"}).arguments != one.arguments
    assert tools.classify("Bash", {"command": "cat f", "cwd": "/v"}).arguments != one.arguments
    assert tools.classify("Bash", {"command": "cat f", "cwd": 5}).tool_class is NEUTRAL_CLASS


def test_a_list_of_words_is_the_command_it_makes():
    tools = profile("codex", shell_rules="reads")
    script = tools.classify("shell", {"command": ["bash", "-lc", "cat 'a b'"]})
    words = tools.classify("shell", {"command": ["cat", "a b"]})
    assert script.arguments == words.arguments == {"command": "cat 'a b'"}
    assert tools.classify("shell", {"command": ["cat", "$(rm x)"]}).arguments == {"command": "cat '$(rm x)'"}
    assert tools.classify("shell", {"command": ["bash", "-lc", "cat $(rm x)"]}).tool_class is NEUTRAL_CLASS


def test_neutral_calls_keep_their_arguments():
    arguments = {"command": "make", "timeout": 5}
    assert profile("claude-code", shell_rules="reads").classify("Bash", arguments).arguments is arguments


def test_reads_without_arguments_stay_reads_for_the_core_to_leave_unjudged():
    classified = profile("generic", working_directory="/w").classify("read_file")
    assert classified.tool_class is READ
    assert arguments_digest(classified.arguments) == arguments_digest(None)


def test_threads_get_the_same_answers():
    tools = profile("generic", shell_rules="reads-and-writes")
    commands = [*READS, *WRITES, *NEUTRAL]
    expected = [tools.classify("bash", {"command": command}).tool_class for command in commands]

    def ask(_worker):
        fresh = profile("generic", shell_rules="reads-and-writes")
        return [fresh.classify("bash", {"command": f"{command} "}).tool_class for command in commands]

    with ThreadPoolExecutor(4) as pool:
        assert all(answer == expected for answer in pool.map(ask, range(4)))


def test_a_missing_parser_is_said_at_set_up():
    code = (
        "import sys; sys.modules['tree_sitter_bash'] = None\n"
        "from otel_docsfab.config.toolsets import profile\n"
        "from otel_docsfab.errors import ConfigError\n"
        "assert profile('codex').classify('shell', {'command': 'cat f'}).tool_class == 'neutral'\n"
        "assert profile('docsfab', shell_rules='reads').classify('read', {}).tool_class == 'read'\n"
        "try: profile('codex', shell_rules='reads')\n"
        "except ConfigError as error: assert 'otel-docsfab[shell]' in str(error), error\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_parser_is_not_imported_before_a_shell_rule_is_on():
    code = (
        "import sys\n"
        "from otel_docsfab.config.toolsets import profile\n"
        "profile('generic').classify('bash', {'command': 'cat f'})\n"
        "raise SystemExit(any(name.startswith('tree_sitter') or '.shell' in name for name in sys.modules))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_explain_says_class_reason_and_identity():
    explained = explain("Bash", {"command": "cat f", "timeout": 5}, profile="claude-code", shell_rules="reads")
    assert (explained.tool_class, explained.identity, explained.left_out) == (READ, {"command": "cat f"}, ("timeout",))
    assert (
        explain("Bash", {"command": "cat f"}, profile="claude-code").reason == "a shell tool, and shell rules are off"
    )
    assert explain("Bash", {"command": "rm f"}, "claude-code", "reads").reason == (
        "shell command: program 'rm' is not known to read only"
    )
    assert explain("mcp__a__read_file", {"path": "x"}, "claude-code").reason == "tool name by mcp__*__read_file"
    assert explain("nothing").reason == "no rule names this tool"
    assert explain("read", json.dumps({"path": "x"})).identity == '{"path": "x"}'
    custom = Tools([ToolRule(("run",), None, shell=ShellCall(command=("script",)))], shell_rules=ShellMode.READS)
    assert explain("run", {"script": "ls", "note": "x"}, custom).left_out == ("note",)
