"""``doctor --limits``: the table, the plan of a step, JSON and mistakes."""

import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from otel_docsfab import config
from otel_docsfab.cli.doctor import doctor
from otel_docsfab.cli.doctor_limits import COLUMNS, as_json, examine
from otel_docsfab.core import LIMITS
from otel_docsfab.errors import ConfigError, LimitError

STREAK = "DOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the command in an environment of its own, in a folder with a limits file and a settings file."""
    (tmp_path / "service.env").write_text(
        "execution.readLoopUnchangedReReads=20\nexecution.toolCallCelling=9\nPASSWORD=hunter2\nhunter2\n"
    )
    (tmp_path / "docsfab.toml").write_text(
        "[limits]\ncompositionExecution.timeoutMs = 200000\n"
        "[steps.review-documentation]\nlimits.execution.toolCallCeiling = 40\nmode = 'enforce'\n"
        "[steps.skim]\nkind = 'read-only'\njudgment = true\nanswerTokens = 100\n"
    )
    monkeypatch.chdir(tmp_path)
    app = typer.Typer(rich_markup_mode=None)
    app.command()(doctor)
    environ = {
        "DOCSFAB_SERVICE_ENV_FILE": "service.env",
        "OTEL_DOCSFAB_SETTINGS": "docsfab.toml",
        "OTEL_DOCSFAB_MODE": "",
        "OTEL_DOCSFAB_TOOLSET": "",
        "DOCSFAB_STATE_DIR": str(tmp_path / "state"),
        STREAK: "5",
    }

    def invoke(*arguments, **more):
        return CliRunner().invoke(app, arguments, env=environ | more)

    return invoke


def lines(result):
    """The lines of the output without what only fills them."""
    assert result.exit_code == 0, result.exception
    return [line.rstrip() for line in result.stdout.splitlines() if line.strip()]


LIMITS_TABLE = """\
| name                                                          |  value | unit         | source                                                | observed-max-seen | headroom% | status  |
|---------------------------------------------------------------|--------|--------------|-------------------------------------------------------|-------------------|-----------|---------|
| execution.readLoopRepeatStreak                                |      5 | count        | environment DOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK |           unknown |   unknown | unknown |
| execution.readLoopUnchangedReReads                            |     20 | count        | file service.env:1                                    |           unknown |   unknown | unknown |
| execution.readLoopWithheldReads                               |      4 | count        | option --limit                                        |           unknown |   unknown | unknown |
| execution.toolCallCeiling                                     |     40 | count        | settings docsfab.toml:4                               |           unknown |   unknown | unknown |
| retry.maxNoProgressRetries                                    |      1 | count        | default                                               |           unknown |   unknown | unknown |
| compositionExecution.timeoutMs                                | 200000 | ms           | settings docsfab.toml:2                               |           unknown |   unknown | unknown |
| compositionExecution.maxOutputTokens                          |   8192 | tokens       | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerPlan.defaultTokens                 |   4000 | tokens       | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerPlan.reviewDocumentationTokens     |   8700 | tokens       | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerPlan.evaluateDocumentQualityTokens |  15000 | tokens       | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerNowDecodeTokensPerSecond           |     80 | tokens/s     | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerNowTurnLatencyMs                   |   5000 | ms           | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerNowElapsedShareBasisPoints         |   7000 | basis points | default                                               |           unknown |   unknown | unknown |
| compositionExecution.answerPlan.skimTokens                    |    100 | tokens       | settings docsfab.toml:9                               |           unknown |   unknown | unknown |
mode: enforce
| step                     | review-documentation                                                |
|--------------------------|---------------------------------------------------------------------|
| kind                     | read-only, judgment                                                 |
| planned tokens           | 8700 from compositionExecution.answerPlan.reviewDocumentationTokens |
| reserve                  | 118750 ms of the timer's 200000 ms                                  |
| ask by the reserve       | 81250 ms                                                            |
| ask by the reading share | 140000 ms                                                           |
| asked at                 | 81250 ms, trigger attempt-deadline                                  |
| which rule decides       | only the answer reserve remains (R20)                               |
| ignored                   | where              | why                                               |
|---------------------------|--------------------|---------------------------------------------------|
| execution.toolCallCelling | file service.env:2 | no limit; did you mean execution.toolCallCeiling? |
| PASSWORD                  | file service.env:3 | no limit                                          |
| line 4                    | file service.env:4 | no KEY=value line                                 |
"""  # noqa: E501 - the output as it is


def test_the_whole_output(run):
    options = ("--step", "review-documentation", "--limit", "execution.readLoopWithheldReads=4")
    assert lines(run("--limits", *options)) == LIMITS_TABLE.splitlines()


def test_the_columns_are_those_of_the_rule(run):
    header = next(line for line in lines(run("--limits")) if "name" in line)
    assert tuple(cell.strip() for cell in header.strip("|").split("|")) == COLUMNS
    assert COLUMNS == ("name", "value", "unit", "source", "observed-max-seen", "headroom%", "status")


def test_names_are_never_folded_on_a_narrow_terminal(run):
    output = run("--limits", COLUMNS="40").stdout
    assert all(spec.name in output for spec in LIMITS)


def test_values_of_foreign_keys_are_never_shown(run):
    assert "hunter2" not in run("--limits").output + run("--limits", "--json").output


@pytest.mark.parametrize(
    ("step", "timeout", "tokens", "reserve", "ask", "trigger", "rule"),
    [
        ("review-documentation", 300_000, 8_700, 118_750, 181_250, "attempt-deadline", "reserve"),
        ("evaluate-document-quality", 300_000, 15_000, 197_500, 102_500, "attempt-deadline", "reserve"),
        ("plan-documentation", 300_000, 4_000, 55_000, 245_000, "attempt-deadline", "reserve"),
        ("skim", 300_000, 100, 6_250, 210_000, "reading-budget", "reading share"),
        ("plan-documentation", 50_000, 4_000, 55_000, 0, "attempt-deadline", "no shorter than the timer"),
        ("write-documentation", 300_000, 4_000, 55_000, None, None, "never asked: a write step"),
        ("chat", 300_000, 4_000, 55_000, None, None, "never asked: nobody declared its kind"),
    ],
)
def test_r20_r21_when_a_step_is_asked_and_why(run, step, timeout, tokens, reserve, ask, trigger, rule):
    result = run("--limits", "--json", "--step", step, "--limit", f"compositionExecution.timeoutMs={timeout}")
    plan = json.loads(result.stdout)["step"]
    got = (plan["plannedTokens"], plan["reserveMs"], plan["askAtMs"], plan["trigger"], plan["timeoutMs"])
    assert got == (tokens, reserve, ask, trigger, timeout)
    assert rule in plan["rule"]


def test_r20_a_step_without_a_plan_names_the_default(run):
    plan = json.loads(run("--limits", "--json", "--step", "plan-documentation").stdout)["step"]
    assert plan["plannedTokensFrom"] == "compositionExecution.answerPlan.defaultTokens"


def test_json_has_every_limit_with_its_variable_and_null_for_what_was_never_measured(run):
    document = json.loads(run("--limits", "--json").stdout)
    first = document["limits"][0]
    assert first == {
        "name": "execution.readLoopRepeatStreak",
        "value": 5,
        "unit": "count",
        "source": f"environment {STREAK}",
        "variable": STREAK,
        "observedMaxSeen": None,
        "headroomPercent": None,
        "status": "unknown",
    }
    assert [row["name"] for row in document["limits"]][: len(LIMITS)] == [spec.name for spec in LIMITS]
    assert "step" not in document
    assert document["ignored"][0]["key"] == "execution.toolCallCelling"


@pytest.mark.parametrize(
    ("seen", "headroom", "status"),
    [
        (None, None, "unknown"),
        (0, 100, "ok"),
        (80, 20, "ok"),
        (81, 19, "near"),
        (100, 0, "reached"),
        (150, -50, "reached"),
    ],
)
def test_headroom_of_what_was_measured(seen, headroom, status):
    name = "execution.toolCallCeiling"
    settings = config.load(limits={name: 100}, environ={})
    report = as_json(examine(settings, observed={} if seen is None else {name: seen}))
    row = next(row for row in report["limits"] if row["name"] == name)
    assert (row["observedMaxSeen"], row["headroomPercent"], row["status"]) == (seen, headroom, status)


def test_a_limit_of_zero_has_no_headroom():
    settings = config.load(limits={"execution.readLoopWithheldReads": 0}, environ={})
    row = examine(settings, observed={"execution.readLoopWithheldReads": 0}).rows[2]
    assert (row.headroom_percent, row.status) == (0, "reached")


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((), ConfigError, "say what to examine: --limits, or --tools TOOL"),
        (("--limits", "--tools", "read"), ConfigError, "say what to examine"),
        (("--limits", "{}"), ConfigError, "arguments belong to --tools"),
        (("--tools", "read", "--profile", "nowhere"), ConfigError, "'nowhere' is unknown"),
        (("--limits", "--limit", "execution.toolCallCeiling"), LimitError, "option --limit"),
        (("--limits", "--limit", "execution.toolCallCeiling=0"), LimitError, "at least 1 count"),
        (("--limits", "--limit", "execution.toolCallCelling=5"), ConfigError, "did you mean execution.toolCallCeiling"),
        (("--limits", "--settings", "nowhere.toml"), ConfigError, "nowhere.toml cannot be used"),
    ],
)
def test_a_mistake_is_one_error_of_the_tree(run, arguments, error, says):
    result = run(*arguments)
    assert type(result.exception) is error
    assert says in str(result.exception)
    assert "\n" not in str(result.exception)


def test_markup_and_control_characters_in_names_are_harmless(run, tmp_path):
    (tmp_path / "[red]x.env").write_text("[bold]\x1b[31m=1\nexecution.toolCallCeiling=7\n")
    output = run("--limits", "--step", "[bold]x\x1b[31m", DOCSFAB_SERVICE_ENV_FILE="[red]x.env").stdout
    assert "file [red]x.env:2" in output
    assert "\x1b" not in output


def test_a_tool_is_classed_by_the_configured_toolset_or_by_a_profile(run, tmp_path):
    (tmp_path / "tools.toml").write_text("[[steps.look.toolset.rules]]\ntools = 'kb'\nclass = 'read'\n")

    def classed(*arguments):
        return json.loads(run("--json", "--tools", *arguments).stdout)["class"]

    assert classed("read", '{"path": "a"}') == "read"
    assert classed("kb", "{}") == "neutral"
    assert classed("kb", "{}", "--settings", "tools.toml", "--step", "look") == "read"
    assert classed("Edit", '{"file_path": "a"}', "--profile", "claude-code") == "progress"


def test_help_imports_neither_rich_tables_nor_pydantic():
    program = (
        "import sys, typer\nfrom otel_docsfab.cli.doctor import doctor\n"
        "app = typer.Typer(rich_markup_mode=None); app.command()(doctor)\n"
        "app(['--help'], standalone_mode=False)\n"
        "print([name for name in ('pydantic', 'rich.table', 'otel_docsfab.config') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    assert "--limits" in done.stdout
