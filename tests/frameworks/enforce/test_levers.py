from __future__ import annotations

import logging
from pathlib import Path

import pytest

from otel_docsfab import ConfigError, Supervisor
from otel_docsfab.gate import hooks
from otel_docsfab.gate.hooks import LEVERS, Lever, Runtime, levers_table
from otel_docsfab.gate.hooks._base import Hooks
from tests.frameworks.environments import ROOT


def test_every_runtime_says_how_it_does_every_lever():
    assert set(LEVERS) == set(Runtime)
    assert all(set(levers) == set(Lever) for levers in LEVERS.values())
    assert all(support.how for levers in LEVERS.values() for support in levers.values())


def test_the_table_has_a_row_for_each_runtime_and_a_column_for_each_lever():
    lines = levers_table().splitlines()
    assert lines[0] == "| runtime | observe | notice | withhold | deny | stop | conclude | retry | compaction |"
    assert len(lines) == 2 + len(Runtime)
    assert {line.count("|") for line in lines} == {len(Lever) + 2}


def test_the_documentation_holds_the_table_as_it_is():
    assert levers_table() in (ROOT / "docs" / "hooks.md").read_text()


@pytest.mark.parametrize("runtime", Runtime)
def test_there_is_an_adapter_module_for_each_runtime(runtime):
    assert (Path(hooks.__file__).parent / f"{runtime}.py").exists()


def test_a_missing_lever_is_a_warning_at_set_up(caplog):
    with caplog.at_level(logging.WARNING, "otel_docsfab"):
        Hooks(Runtime.CLAUDE_AGENT_SDK, Supervisor())
    assert "conclude: tools stay listed" in caplog.text


def test_and_an_error_in_strict():
    with pytest.raises(ConfigError, match="conclude: tools stay listed"):
        Hooks(Runtime.CLAUDE_AGENT_SDK, Supervisor(), strict=True)


def test_a_runtime_that_lacks_nothing_says_nothing(caplog):
    with caplog.at_level(logging.WARNING, "otel_docsfab"):
        Hooks(Runtime.PYDANTIC_AI, Supervisor(), strict=True)
    assert not caplog.records


def test_what_some_runs_lack_is_said_when_one_begins_and_once(caplog):
    made = Hooks(Runtime.OPENAI_AGENTS, Supervisor())
    with caplog.at_level(logging.WARNING, "otel_docsfab"):
        for _ in range(2):
            made.begin(tells_context=False).end()
    assert [record.getMessage().count("the server keeps") for record in caplog.records] == [1]


def test_strict_refuses_each_such_run():
    made = Hooks(Runtime.OPENAI_AGENTS, Supervisor(), strict=True)
    for _ in range(2):
        with pytest.raises(ConfigError):
            made.begin(tells_context=False)


def test_without_any_framework_nothing_is_installed():
    supervisor = Supervisor()
    assert hooks.install(supervisor) == ()
    hooks.uninstall()
    assert not any(supervisor.faults.counts().values())
