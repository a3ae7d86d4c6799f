"""``otel-docsfab mixin``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_docsfab.catalogue import METRICS
from otel_docsfab.cli.mixin import app
from otel_docsfab.errors import ConfigError

ROOT = Path(__file__).parents[2]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_build_writes_everything_and_check_agrees(tmp_path):
    built = run("build", "--out", tmp_path)
    assert built.exit_code == 0, built.output
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*") if path.is_file()}
    assert made == {
        "docs/metrics.md",
        "dashboards/rules.yaml",
        "dashboards/alerts.yaml",
        *(
            f"dashboards/json/{name}.json"
            for name in ("read-loops", "deadlines-and-answers", "lease-and-progress", "supervisor-health")
        ),
    }
    assert run("build", "--check", "--out", tmp_path).exit_code == 0


def test_check_names_what_is_not_as_made_and_changes_nothing(tmp_path):
    assert run("build", "--out", tmp_path).exit_code == 0
    path = tmp_path / "dashboards/rules.yaml"
    path.write_text("groups: []\n")
    checked = run("build", "--check", "--out", tmp_path)
    assert checked.exit_code == 1
    assert f"changed: {path}" in checked.output
    assert path.read_text() == "groups: []\n"


def test_the_operators_format_takes_the_place_of_the_rule_files(tmp_path):
    assert run("build", "--out", tmp_path, "--format", "prometheus-operator").exit_code == 0
    assert [path.name for path in (tmp_path / "dashboards").glob("*.yaml")] == ["prometheusrule.yaml"]


def test_a_configuration_changes_the_runbook_links(tmp_path):
    (tmp_path / "mixin.toml").write_text('runbook_url = "https://books.example/"')
    assert run("build", "--out", tmp_path, "--config", tmp_path / "mixin.toml").exit_code == 0
    assert (
        "runbook_url: https://books.example/DocsfabProviderStalls.md"
        in (tmp_path / "dashboards/alerts.yaml").read_text()
    )


def test_show_metrics_names_every_metric_in_both_worlds():
    output = run("show", "metrics").output
    for metric in METRICS:
        assert metric.prometheus_name in output
        assert f"{metric.name}:" in output


def test_show_metrics_as_json_holds_the_whole_catalogue():
    data = json.loads(run("show", "metrics", "--json").output)
    assert [entry["name"] for entry in data] == [metric.name for metric in METRICS]
    [stops] = [entry for entry in data if entry["name"] == "docsfab.read_loop.stops"]
    assert [label["name"] for label in stops["labels"]] == ["code", "step", "agent", "enforced"]


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "grafana_foundation_sdk", None)
    with pytest.raises(ConfigError, match=r"pip install 'otel-docsfab\[mixin\]'"):
        CliRunner().invoke(app, ["build", "--check", "--out", str(ROOT)], catch_exceptions=False)
    assert run("show", "metrics").exit_code == 0


def test_the_command_is_there_without_loading_what_only_build_needs():
    code = "import sys; import otel_docsfab.cli.mixin; print({'yaml', 'grafana_foundation_sdk'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
