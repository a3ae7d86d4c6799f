"""Rules, alerts, runbooks and the Alertmanager example hold together, by the word of the real programs."""

import itertools
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from otel_docsfab.mixin.alerts import alerts
from otel_docsfab.mixin.boards import boards
from otel_docsfab.mixin.config import DEFAULTS
from tests.mixin.vocabulary import strangers
from tests.services.prometheus import binary, prometheus, promtool

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
ALERTS = alerts(DEFAULTS)
NAMES = [alert.name for alert in ALERTS]
WANTED = {
    "ReadLoopStops",
    "ReadLoopStopsObserved",
    "ReadLoopStopShareHigh",
    "ConcludeAskIgnored",
    "ProviderStalls",
    "DeadlineInToolLoop",
    "EarlyAnswerShareHigh",
    "LongStretchWithoutProgress",
    "LeaseRefusals",
    "LeaseProgressStale",
    "ReadsUnjudged",
    "SupervisorErrors",
    "TelemetryAbsent",
}


def cases(name):
    return yaml.safe_load((DASHBOARDS / "tests" / f"{name}_test.yaml").read_text())["tests"]


def minutes(probe):
    return int(probe["eval_time"].removesuffix("m"))


def runbook_queries():
    for name in NAMES:
        text = (DASHBOARDS / "runbooks" / f"{name}.md").read_text()
        for query in re.findall(r"```promql\n(.*?)```", text, re.DOTALL):
            yield pytest.param(" ".join(query.split()), id=f"{name}: {query.strip()[:40]}")


def test_every_wanted_alert_is_there():
    assert set(NAMES) == {f"Docsfab{name}" for name in WANTED}


@pytest.mark.service
def test_promtool_takes_the_rule_files():
    output = promtool("check", "rules", DASHBOARDS / "rules.yaml", DASHBOARDS / "alerts.yaml")
    assert output.count("SUCCESS") == 2


@pytest.mark.service
@pytest.mark.parametrize("file", sorted(path.name for path in (DASHBOARDS / "tests").glob("*_test.yaml")))
def test_the_alert_fires_at_its_minute_and_is_silent_before(file):
    promtool("test", "rules", file, cwd=DASHBOARDS / "tests")


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_of_an_alert_probe_silence_in_the_minute_before_it_fires(name):
    turns, silent_to_the_end = [], 0
    for case in cases(name):
        probes = case["alert_rule_test"]
        assert {probe["alertname"] for probe in probes} == {name}
        silent_to_the_end += not probes[-1].get("exp_alerts")
        for before, after in itertools.pairwise(probes):
            if after.get("exp_alerts") and not before.get("exp_alerts"):
                turns.append(minutes(after) - minutes(before))
    assert turns
    assert set(turns) == {1}
    assert silent_to_the_end, "something that must not fire it is missing"


@pytest.mark.parametrize("alert", ALERTS, ids=NAMES)
def test_an_alert_has_a_summary_a_board_and_a_runbook(alert):
    text = (DASHBOARDS / "runbooks" / f"{alert.name}.md").read_text()
    assert text.startswith(f"# {alert.name}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Meaning", "Impact", "Diagnosis", "Mitigation"]
    assert all(len(part.split()) >= 15 for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    assert "```promql" in text.split("## Diagnosis")[1].split("## Mitigation")[0]
    assert alert.board in {board.uid for board in boards()}
    used = set(re.findall(r"\$labels\.(\w+)", alert.summary + alert.description))
    assert used <= alert.query.labels


def test_no_runbook_is_left_over():
    assert {path.stem for path in (DASHBOARDS / "runbooks").glob("*.md")} == set(NAMES)


@pytest.mark.parametrize("query", list(runbook_queries()))
def test_a_runbook_names_only_what_is_catalogued(query):
    assert not strangers(query)


@pytest.mark.service
def test_the_real_parser_takes_every_query_of_the_runbooks(tmp_path):
    with prometheus(tmp_path) as server:
        for parameter in runbook_queries():
            assert server.parsed(parameter.values[0])


@pytest.mark.service
def test_the_alertmanager_example_is_valid_and_routes_by_severity():
    config = DASHBOARDS / "alertmanager.example.yaml"

    def amtool(*arguments):
        return subprocess.run([binary("amtool"), *arguments], capture_output=True, text=True, check=True).stdout

    assert "SUCCESS" in amtool("check-config", str(config))
    for alert in ALERTS:
        route = amtool(
            *("config", "routes", "test", f"--config.file={config}"),
            *(f"alertname={alert.name}", f"severity={alert.severity}"),
        )
        assert route.strip() == {"critical": "on-call", "warning": "team"}[alert.severity]


def test_the_alertmanager_example_names_only_alerts_and_labels_that_exist():
    text = (DASHBOARDS / "alertmanager.example.yaml").read_text()
    assert set(re.findall(r"Docsfab[A-Z]\w+", text)) <= set(NAMES)
    by_name = {alert.name: alert for alert in ALERTS}
    for rule in yaml.safe_load(text)["inhibit_rules"]:
        for name in re.findall(r"Docsfab\w+", str(rule)):
            assert set(rule["equal"]) <= by_name[name].query.labels, "a missing label would match a missing label"
