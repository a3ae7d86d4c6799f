"""The shipped files are what the collector takes, and they name what the catalogue names."""

import re
import subprocess

import pytest
import yaml

from otel_docsfab.catalogue.attributes import SPAN_ATTRIBUTES
from otel_docsfab.catalogue.events import LOG_EVENTS
from otel_docsfab.catalogue.metrics import METRICS
from tests.services.collector import COLLECTOR, Collector

CONFIGS = ["agent", "gateway", "record"]


def config(name):
    return yaml.safe_load((COLLECTOR / f"{name}.yaml").read_text())


def run(otelcol, directory, name, old="", new="", command="validate"):
    """Run the collector on a file, with one text of it replaced."""
    text = (COLLECTOR / f"{name}.yaml").read_text()
    assert old in text
    changed = directory / f"{name}.yaml"
    changed.write_text(text.replace(old, new))
    words = [otelcol, *([command] if command else []), "--config", changed]
    environment = Collector(otelcol, name, directory).environment()
    return subprocess.run(
        words, env=environment, cwd=directory, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.service
@pytest.mark.parametrize("name", CONFIGS)
def test_validate_accepts_it(otelcol, tmp_path, name):
    done = run(otelcol, tmp_path, name)
    assert done.returncode == 0, done.stderr


@pytest.mark.service
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("agent", "set(span.status.message", "set(span.status.massage"),
        ("agent", "allow_all_keys", "allow_al_keys"),
        ("agent", "IsMatch(metric.name", "IsMtch(metric.name"),
        ("agent", "exporters: [prometheus]", "exporters: [prometheu]"),
        ("gateway", "span-ingest", "span-digest"),
        ("gateway", "max_elapsed_time: 0", "max_elapsed_time: soon"),
        ("gateway", "processors: [memory_limiter, tail_sampling", "processors: [memory_limiter, tail_sampler"),
        ("record", "exporters: [file]", "exporters: [files]"),
        ("record", "append: true", "apend: true"),
    ],
)
def test_validate_refuses_a_mistake(otelcol, tmp_path, name, old, new):
    done = run(otelcol, tmp_path, name, old, new)
    assert done.returncode != 0
    assert re.search(r"Error|invalid", done.stderr)


@pytest.mark.service
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('span.attributes["docsfab.stop.code"]', 'span.attribute["docsfab.stop.code"]'),
        ("status_codes: [ERROR]", "status_codes: [BROKEN]"),
        ("storage: file_storage", "storage: no_such_storage"),
    ],
)
def test_a_mistake_that_validate_cannot_see_is_refused_at_start(otelcol, tmp_path, old, new):
    done = run(otelcol, tmp_path, "gateway", old, new, command="")
    assert done.returncode != 0


def test_labels_that_the_agent_lets_through_are_those_of_the_catalogue():
    allowed = set(config("agent")["processors"]["redaction/labels"]["allowed_keys"])
    of_others = {key for key in allowed if "." in key}
    assert allowed - of_others == {label.name for metric in METRICS for label in metric.labels}


def test_every_attribute_and_event_of_the_catalogue_passes_the_agent():
    content = config("agent")["processors"]["redaction/content"]
    patterns = [re.compile(pattern) for pattern in content["ignored_key_patterns"]]
    names = {attribute.name for attribute in SPAN_ATTRIBUTES}
    names |= {attribute.name for event in LOG_EVENTS for attribute in event.attributes}
    stopped = {
        name for name in names if name not in content["allowed_keys"] and not any(p.search(name) for p in patterns)
    }
    assert not stopped
    assert all(re.search(r"^docsfab\.", event.name) for event in LOG_EVENTS)


def test_what_the_gateway_selects_on_is_what_the_supervisor_writes():
    policies = config("gateway")["processors"]["tail_sampling"]["policies"]
    conditions = [condition for policy in policies for condition in policy.get("ottl_condition", {}).get("span", [])]
    ours = set(re.findall(r'"(docsfab\.[a-z_.]+)"', " ".join(conditions)))
    assert ours == {"docsfab.stop.code", "docsfab.conclude_now.trigger", "docsfab.deadline_turn"}
    assert ours <= {attribute.name for attribute in SPAN_ATTRIBUTES}


def test_allowed_keys_are_sorted_in_their_groups_and_given_once():
    text = (COLLECTOR / "agent.yaml").read_text()
    block = text[text.index("# >>> keys: none") : text.index("# <<< keys\n")]
    groups = [re.findall(r"- (\S+)", group) for group in re.split(r"\n +# ", block)[1:]]
    assert all(group == sorted(group) for group in groups)
    keys = [key for group in groups for key in group]
    assert len(keys) == len(set(keys)) > 90


def test_every_setting_is_in_the_readme_with_its_default():
    readme = (COLLECTOR / "README.md").read_text()
    for name in CONFIGS:
        for setting, default in re.findall(r"\$\{env:(\w+):-([^}]*)\}", (COLLECTOR / f"{name}.yaml").read_text()):
            assert re.search(rf"`{setting}`[^\n]*`{re.escape(default)}`", readme), f"{setting} = {default}"


def test_the_parts_are_of_one_release_and_their_builder_too():
    parts = yaml.safe_load((COLLECTOR / "builder.yaml").read_text())
    modules = [part["gomod"].split() for group in parts.values() if isinstance(group, list) for part in group]
    assert {version for module, version in modules if "/confmap/" not in module} == {f"v{parts['dist']['version']}"}
    assert len({version for module, version in modules if "/confmap/" in module}) == 1
    assert f"cmd/builder@v{parts['dist']['version']}" in (COLLECTOR / "build.sh").read_text()


def test_every_part_that_a_file_uses_is_built_in():
    parts = yaml.safe_load((COLLECTOR / "builder.yaml").read_text())
    built = {
        part["gomod"].split()[0].rsplit("/", 1)[1]
        for group in parts.values()
        if isinstance(group, list)
        for part in group
    }
    modules = {"otlp_grpc": "otlpexporter", "otlp_http": "otlphttpexporter", "file_storage": "filestorage"}
    for name in CONFIGS:
        for kind in ("receivers", "processors", "exporters", "extensions"):
            for part in config(name)[kind]:
                word = part.split("/")[0]
                assert modules.get(word, word.replace("_", "") + kind.removesuffix("s")) in built
