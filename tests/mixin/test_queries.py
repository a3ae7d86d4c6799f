"""Every panel query, recording rule and alert expression, asked of a real Prometheus with hours of history."""

import math
import time
from pathlib import Path

import pytest

from otel_docsfab.mixin.alerts import alerts
from otel_docsfab.mixin.boards import boards
from otel_docsfab.mixin.config import DEFAULTS
from otel_docsfab.mixin.panels import VARIABLES
from otel_docsfab.mixin.rules import Rules
from tests.mixin.history import write_history
from tests.services.loopback import wait_until
from tests.services.prometheus import prometheus

pytestmark = pytest.mark.service

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
RULES = Rules().all()
ALERTS = alerts(DEFAULTS)
PANELS = [(board, panel) for board in boards() for panel in board.panels]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    directory = tmp_path_factory.mktemp("history")
    write_history(directory, time.time())
    files = [DASHBOARDS / "rules.yaml", DASHBOARDS / "alerts.yaml"]
    with prometheus(directory, rules=files) as running:
        # Rules read earlier rules, so the last one there means that all were evaluated on full data.
        wait_until("the rules are recorded", lambda: all(running.query(rule.name) for rule in RULES))
        yield running


def filled_in(expression, job):
    """The expression as Grafana sends it, with every variable at All but the job."""
    values = dict.fromkeys(VARIABLES, ".*") | {"job": job, "__range": "6h", "__rate_interval": "5m"}
    for name in sorted(values, key=len, reverse=True):
        expression = expression.replace(f"${name}", values[name])
    assert "$" not in expression
    return expression


def shows(server, expression, job):
    """Whether there is a number to draw; NaN is none."""
    series = server.query(filled_in(expression, job))
    return any(not math.isnan(float(one["value"][1])) for one in series)


@pytest.mark.parametrize(("board", "panel"), PANELS, ids=lambda one: one.title)
def test_a_panel_shows_data_of_a_busy_job_in_each_of_its_queries(server, board, panel):
    for target in panel.targets:
        assert shows(server, target.query.text, "busy"), target.query.text


@pytest.mark.parametrize(("board", "panel"), PANELS, ids=lambda one: one.title)
def test_a_panel_that_is_empty_for_an_idle_job_says_when_it_is(server, board, panel):
    idle = [shows(server, target.query.text, job) for target in panel.targets for job in ("quiet", "fresh")]
    seen = [shows(server, target.query.text, "quiet") for target in panel.targets]
    assert any(seen) or panel.empty, "empty without a word"
    assert not panel.empty or not all(idle), "never empty, whatever it says"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_recording_rule_records_the_labels_that_its_name_promises(server, rule):
    [level] = [rule.name.split(":")[0]]
    for series in server.query(rule.name):
        assert set(series["metric"]) - {"__name__"} == set(level.split("_")) == rule.query.labels


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_finds_what_it_is_for_and_nothing_where_all_is_well(server, alert):
    jobs = {series["metric"]["job"] for series in server.query(alert.query.text)}
    assert jobs == {"gone" if alert.name == "DocsfabTelemetryAbsent" else "busy"}


def test_values_are_what_the_history_says(server):
    """One stop a minute for each of 3 codes, 2 enforcements and 3 old steps, and for half an hour of a new one."""
    everything = sum(float(one["value"][1]) for one in server.query(Rules().stops.query.text))
    assert everything == pytest.approx(3 * 2 * (3 * 60 + 30), rel=0.05)
