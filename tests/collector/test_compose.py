"""The compose stack, as far as it can be judged without a container engine: each file by its own program's checker."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.services.collector import COLLECTOR, Collector
from tests.services.loopback import missing

# The specification's own loader, which holds the file against the specification's JSON schema.
CHECKER = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2"
STACK = COLLECTOR / "compose"
COMPOSE = yaml.safe_load((COLLECTOR / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def check(*words, cwd):
    if shutil.which(words[0]) is None:
        missing(f"{words[0]} is not installed")
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def mounts(service):
    """Bind mounts of a service: target to source."""
    pairs = (volume.split(":")[:2] for volume in SERVICES[service].get("volumes", []))
    return {target: (COLLECTOR / source).resolve() for source, target in pairs if source.startswith(".")}


@pytest.mark.service
def test_the_compose_specification_accepts_it():
    done = check("go", "run", CHECKER, COLLECTOR / "compose.yaml", cwd=COLLECTOR)
    assert done.returncode == 0, done.stderr


@pytest.mark.service
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("healthcheck:", "healthchecks:"),
        ("condition: service_healthy", "condition: service_hearty"),
        ("restart: unless-stopped", "restart: [unless-stopped]"),
    ],
)
def test_the_compose_specification_refuses_a_mistake(tmp_path, old, new):
    text = (COLLECTOR / "compose.yaml").read_text()
    assert old in text
    (tmp_path / "compose.yaml").write_text(text.replace(old, new))
    assert check("go", "run", CHECKER, tmp_path / "compose.yaml", cwd=tmp_path).returncode != 0


def prometheus_config(directory, old="", new=""):
    text = (STACK / "prometheus.yaml").read_text()
    assert old in text
    rules = directory / "rules"
    rules.mkdir()
    for target, source in mounts("prometheus").items():
        if target.startswith("/etc/prometheus/rules/"):
            shutil.copy(source, rules)
    place = directory / "prometheus.yaml"
    place.write_text(text.replace("/etc/prometheus/rules/", f"{rules}/").replace(old, new))
    return place


@pytest.mark.service
def test_promtool_accepts_the_prometheus_configuration_with_our_rules(tmp_path):
    done = check("promtool", "check", "config", prometheus_config(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"SUCCESS: \d+ rules found", done.stdout)


@pytest.mark.service
def test_promtool_refuses_a_mistake(tmp_path):
    config = prometheus_config(tmp_path, "honor_labels", "honour_labels")
    assert check("promtool", "check", "config", config, cwd=tmp_path).returncode != 0


@pytest.mark.service
def test_amtool_accepts_the_alertmanager_configuration(tmp_path):
    done = check("amtool", "check-config", STACK / "alertmanager.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.service
def test_amtool_refuses_a_mistake(tmp_path):
    changed = tmp_path / "alertmanager.yaml"
    changed.write_text((STACK / "alertmanager.yaml").read_text().replace("- name: nobody", "- name: somebody"))
    assert check("amtool", "check-config", changed, cwd=tmp_path).returncode != 0


@pytest.mark.service
@pytest.mark.parametrize("name", ["agent", "gateway"])
def test_the_collectors_accept_the_settings_that_compose_gives_them(otelcol, tmp_path, name):
    settings = SERVICES[name]["environment"]
    known = set(re.findall(r"\$\{env:(\w+)", (COLLECTOR / f"{name}.yaml").read_text()))
    assert set(settings) <= known
    environment = Collector(otelcol, name, tmp_path).environment() | settings
    environment["OTELCOL_DOCSFAB_QUEUE_DIR"] = str(tmp_path)
    words = [otelcol, "validate", "--config", COLLECTOR / f"{name}.yaml"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_images_are_pinned_and_every_service_is_watched():
    assert all(re.fullmatch(r"[a-z/-]+:v?\d+\.\d+(\.\d+)?(-slim)?", service["image"]) for service in SERVICES.values())
    # These images hold no program that could ask; the probe asks for them.
    bare = {name for name, service in SERVICES.items() if "healthcheck" not in service}
    asked = set(re.findall(r"http://([a-z]+):", str(SERVICES["probe"]["healthcheck"]["test"])))
    assert bare == asked == {"agent", "gateway", "tempo"}
    assert all(port.startswith("127.0.0.1:") for service in SERVICES.values() for port in service.get("ports", []))


def test_what_is_mounted_is_there_and_read_only():
    for name, service in SERVICES.items():
        assert all(source.exists() for source in mounts(name).values())
        assert all(volume.endswith(":ro") for volume in service.get("volumes", []) if volume.startswith("."))


def test_every_dependency_and_volume_is_defined():
    for service in SERVICES.values():
        assert set(service.get("depends_on", [])) <= set(SERVICES)
        named = {volume.split(":")[0] for volume in service.get("volumes", []) if not volume.startswith(".")}
        assert named <= set(COMPOSE["volumes"])


def test_every_address_in_the_stack_is_one_of_its_services():
    texts = [(COLLECTOR / "compose.yaml").read_text(), *(path.read_text() for path in STACK.rglob("*.yaml"))]
    named = {host for text in texts for host in re.findall(r"(?:http://|\[|, | )([a-z]+):\d{4,5}\b", text)}
    assert named <= set(SERVICES)
    assert {"agent", "gateway", "tempo", "prometheus", "alertmanager"} <= named


def test_grafana_finds_its_dashboards_and_exemplars_find_their_traces():
    provider = yaml.safe_load((STACK / "grafana/dashboards/docsfab.yaml").read_text())["providers"][0]
    boards = mounts("grafana")[provider["options"]["path"]]
    assert list(boards.glob("*.json"))
    sources = yaml.safe_load((STACK / "grafana/datasources/docsfab.yaml").read_text())["datasources"]
    kinds = {source["uid"]: source["type"] for source in sources}
    (exemplars,) = sources[0]["jsonData"]["exemplarTraceIdDestinations"]
    assert (kinds[exemplars["datasourceUid"]], exemplars["name"]) == ("tempo", "trace_id")
