"""Agent loops -> alert fires in Prometheus -> Alertmanager -> webhook, with real servers on loopback."""

from pathlib import Path

import pytest

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.core.codes import Code
from tests.mixin.exposition import Tallies, serve
from tests.services.loopback import wait_until
from tests.services.prometheus import Webhook, alertmanager, prometheus

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
RULES = [DASHBOARDS / "rules.yaml", DASHBOARDS / "alerts.yaml"]
WHO = {"step": "review-documentation", "agent": "editor", "enforced": "true"}


@pytest.fixture
def routes(tmp_path):
    """The shipped Alertmanager example with its addresses and waits changed, and the webhook behind it."""
    with Webhook() as webhook:
        text = (DASHBOARDS / "alertmanager.example.yaml").read_text()
        text = text.replace("http://127.0.0.1:9/", f"http://127.0.0.1:{webhook.port}/").replace("10s", "1s")
        (tmp_path / "alertmanager.yaml").write_text(text.replace("5m", "1s"))
        yield tmp_path / "alertmanager.yaml", webhook


@pytest.mark.service
def test_a_looping_agent_reaches_the_webhook_with_its_labels_and_its_runbook(tmp_path, routes):
    config, webhook = routes
    tallies = Tallies()
    with (
        serve(tallies) as target,
        alertmanager(tmp_path, config) as sink,
        prometheus(tmp_path, target=target, rules=RULES, alertmanager=sink) as server,
    ):
        tallies.attempt_began(**WHO)
        wait_until("the new series is scraped at 0", lambda: server.query(m.READ_LOOP_STOPS.prometheus_name))
        assert not server.firing()

        tallies.add(m.READ_LOOP_STOPS, {**WHO, "code": Code.WITHHELD_READS})

        wait_until("the alert fires", server.firing)
        wait_until("the webhook hears of it", lambda: webhook.got)
        path, message = webhook.got[0]
        [alert] = message["alerts"]

    assert path == "/team"
    assert alert["status"] == "firing"
    assert alert["labels"] == {
        "alertname": "DocsfabReadLoopStops",
        "severity": "warning",
        "job": "agents",
        "step": "review-documentation",
        "agent": "editor",
        "code": "execution-read-loop-withheld-reads-bound",
    }
    runbook = alert["annotations"]["runbook_url"]
    assert runbook == "https://runbooks.example.org/otel-docsfab/DocsfabReadLoopStops.md"
    assert (DASHBOARDS / "runbooks" / runbook.rsplit("/", 1)[1]).is_file()
    assert "review-documentation" in alert["annotations"]["summary"]


@pytest.mark.service
def test_an_observed_loop_that_begins_with_its_first_stop_goes_to_the_person_on_call(tmp_path, routes):
    """No zero was ever scraped: the agent's first attempt looped between two scrapes."""
    config, webhook = routes
    tallies = Tallies()
    with (
        serve(tallies) as target,
        alertmanager(tmp_path, config) as sink,
        prometheus(tmp_path, target=target, rules=RULES, alertmanager=sink) as server,
    ):
        wait_until("the process is scraped", lambda: server.query(m.LIVE_ATTEMPTS.prometheus_name))
        tallies.add(m.READ_LOOP_STOPS, {**WHO, "enforced": "false", "code": Code.UNCHANGED_RE_READS})
        wait_until("the webhook hears of it", lambda: webhook.got)

    path, message = webhook.got[0]
    assert path == "/on-call"
    assert message["commonLabels"]["alertname"] == "DocsfabReadLoopStopsObserved"
