"""Toolsets from plain data, with errors that say what, where and what is right."""

from __future__ import annotations

import tomllib

import pytest

from otel_docsfab.config.toolsets import ToolsetSettings, from_data, profile
from otel_docsfab.config.toolsets import settings as settings_module
from otel_docsfab.core import ToolClass
from otel_docsfab.errors import ConfigError


def _example() -> dict[str, object]:
    lines = (settings_module.__doc__ or "").split("In TOML::\n")[1]
    return tomllib.loads("\n".join(line.removeprefix("    ") for line in lines.splitlines()))


def test_the_documented_example_runs():
    tools = from_data(_example()["toolset"], "settings.toml")
    assert tools.classify("kb_find", {"q": "x", "reason": "y"}).arguments == {"q": "x", "cwd": "/srv/docs"}
    assert tools.classify("notes", {"action": "list"}).tool_class is ToolClass.READ
    assert tools.classify("notes", {"action": "drop"}).tool_class is ToolClass.NEUTRAL
    assert tools.classify("run", {"script": "cat f", "folder": "sub"}).arguments == {
        "command": "cat f",
        "cwd": "/srv/docs/sub",
    }
    assert tools.classify("mcp__files__Read", {"file_path": "/a"}).tool_class is ToolClass.READ
    assert tools.classify("Bash", {"command": "cat f"}).tool_class is ToolClass.READ


def test_a_name_alone_is_a_profile():
    assert ToolsetSettings.from_data("codex") == ToolsetSettings("codex")
    assert ToolsetSettings.from_data({}) == ToolsetSettings()
    assert ToolsetSettings().build().classify("read", {}).tool_class is ToolClass.READ


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "toolset = 5 (from f.toml) is refused: give a table"),
        ({"profil": "x"}, "toolset.profil (from f.toml) is unknown; did you mean profile?"),
        ({"profile": "claude"}, "toolset.profile (from f.toml) = 'claude' is unknown"),
        ({"profile": 5}, "toolset.profile = 5 (from f.toml) is refused: give a text"),
        (
            {"shellRules": True},
            "toolset.shellRules = True (from f.toml) is refused: give one of off, reads, reads-and-writes",
        ),
        ({"workingDirectory": ""}, "toolset.workingDirectory = '' (from f.toml) is refused: give a text"),
        ({"prefixes": [1]}, "toolset.prefixes[0] = 1 (from f.toml) is refused: give a text"),
        ({"prefixes": 1}, "toolset.prefixes = 1 (from f.toml) is refused: give a text or a list of texts"),
        ({"rules": "x"}, "toolset.rules = 'x' (from f.toml) is refused: give a list of rules"),
        ({"rules": ["x"]}, "toolset.rules[0] = 'x' (from f.toml) is refused: give a table"),
        ({"rules": [{"class": "read"}]}, "toolset.rules[0].tools = None (from f.toml) is refused"),
        (
            {"rules": [{"tools": [], "class": "read"}]},
            "toolset.rules[0].tools = () (from f.toml) is refused: name at least one",
        ),
        (
            {"rules": [{"tools": "x"}]},
            "toolset.rules[0].class = None (from f.toml) is refused: give one of read, progress",
        ),
        ({"rules": [{"tools": "x", "class": "raed"}]}, "toolset.rules[0].class = 'raed' (from f.toml) is refused"),
        ({"rules": [{"tools": "x", "class": "read", "if": 1}]}, "toolset.rules[0].if (from f.toml) is unknown"),
        ({"rules": [{"tools": "x", "class": "read", "when": 1}]}, "toolset.rules[0].when = 1 (from f.toml) is refused"),
        ({"rules": [{"tools": "x", "class": "read", "when": {"a": {}}}]}, "toolset.rules[0].when.a = {} (from f.toml)"),
        ({"rules": [{"tools": "x", "class": "read", "when": {"a": []}}]}, "toolset.rules[0].when.a = [] (from f.toml)"),
        ({"rules": [{"tools": "x", "class": "read", "command": "c"}]}, "command and directory belong to class shell"),
        (
            {"rules": [{"tools": "x", "class": "shell"}]},
            "toolset.rules[0].class = 'shell' (from f.toml) is refused: needs toolset.shellRules",
        ),
        ({"rules": [{"tools": "x", "class": "y" * 500}]}, "..."),
    ],
)
def test_errors_name_key_value_and_source(data, message):
    with pytest.raises(ConfigError) as error:
        from_data(data, "f.toml")
    assert message in str(error.value)
    assert len(str(error.value)) < 400


def test_code_and_data_make_the_same_toolset():
    data = {"profile": "cline", "shellRules": "reads", "prefixes": ["x-"], "workingDirectory": "/w"}
    code = profile("cline", shell_rules="reads", prefixes=["x-"], working_directory="/w")
    for tool, arguments in (("x-read_file", {"path": "a"}), ("execute_command", {"command": "ls"}), ("nope", None)):
        assert from_data(data).classify(tool, arguments) == code.classify(tool, arguments)
