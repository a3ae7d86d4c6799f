"""``doctor --tools`` says what a toolset makes of a call."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from otel_docsfab.cli.doctor_tools import doctor_tools
from otel_docsfab.config.toolsets import ToolRule, Tools
from otel_docsfab.core import ToolClass
from otel_docsfab.errors import ConfigError

app = typer.Typer()
app.command()(doctor_tools)


def _print(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_text_names_class_reason_identity_and_what_is_left_out():
    call = json.dumps({"command": ["bash", "-lc", "cat f"], "workdir": "/w", "timeout_ms": 5})
    assert _print("shell", call, "--profile", "codex", "--shell-rules", "reads").splitlines() == [
        "tool      shell",
        "profile   codex",
        "class     read",
        "why       shell command: surely only reads",
        'identity  {"command":"cat f","cwd":"/w"}',
        "left out  timeout_ms",
    ]


def test_json_is_one_object():
    assert json.loads(_print("Bash", "rm f", "--profile", "claude-code", "--shell-rules", "reads", "--json")) == {
        "tool": "Bash",
        "profile": "claude-code",
        "class": "neutral",
        "reason": "shell command: program 'rm' is not known to read only",
        "identity": "rm f",
        "leftOut": [],
    }


def test_shells_are_off_as_in_settings():
    assert "shell rules are off" in _print("Bash", "cat f", "--profile", "claude-code")


def test_unknown_arguments_are_said():
    assert "a read without its arguments is not judged" in _print("read")


def test_a_toolset_of_settings_can_be_asked(capsys):
    doctor_tools("mine", '{"x": 1}', toolset=Tools([ToolRule(("mine",), ToolClass.PROGRESS)]))
    assert "class     progress" in capsys.readouterr().out


def test_odd_characters_are_printable():
    assert "\\ud800" in _print("\ud800", "--profile", "generic")


def test_an_unknown_profile_is_a_config_error():
    with pytest.raises(ConfigError, match="unknown"):
        doctor_tools("read", profile="nope")
