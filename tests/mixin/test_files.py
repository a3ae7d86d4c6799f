"""Generated files: what is committed is what the catalogue says."""

from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from otel_docsfab.errors import ConfigError
from otel_docsfab.mixin.alerts import alerts
from otel_docsfab.mixin.config import DEFAULTS, MixinConfig, load
from otel_docsfab.mixin.files import Format, differences, render, write
from tests.services.prometheus import promtool

ROOT = Path(__file__).parents[2]


def test_committed_files_are_as_made():
    assert differences(render(), ROOT) == []


def test_the_check_sees_missing_changed_and_left_over_files(tmp_path):
    files = render()
    write(files, tmp_path)
    assert differences(files, tmp_path) == []
    (tmp_path / "dashboards/rules.yaml").unlink()
    (tmp_path / "dashboards/alerts.yaml").write_text("groups: []")
    (tmp_path / "dashboards/json/older.json").write_text("{}")
    assert [line.split(":")[0] for line in differences(files, tmp_path)] == ["missing", "changed", "left over"]


def test_two_renderings_are_the_same():
    assert render() == render()


@pytest.mark.service
def test_the_operators_rule_holds_the_same_groups_and_promtool_takes_them(tmp_path):
    plain = render()
    [manifest] = [
        yaml.safe_load(text)
        for name, text in render(rules_format=Format.PROMETHEUS_OPERATOR).items()
        if name.endswith("prometheusrule.yaml")
    ]
    assert (manifest["apiVersion"], manifest["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    groups = [
        *yaml.safe_load(plain["dashboards/rules.yaml"])["groups"],
        *yaml.safe_load(plain["dashboards/alerts.yaml"])["groups"],
    ]
    assert manifest["spec"]["groups"] == groups
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(manifest["spec"]))
    assert "SUCCESS" in promtool("check", "rules", tmp_path / "rules.yaml")


@pytest.mark.parametrize("name", [one.name for one in fields(MixinConfig) if one.name != "stretch_calls"])
def test_every_setting_reaches_the_alerts(name):
    old = getattr(DEFAULTS, name)
    new = {"runbook_url": "https://books.example", "soon": "20m", "long": "2h", "seen_within": "2d"}.get(
        name
    ) or old * 3
    files = render(replace(DEFAULTS, **{name: new}))
    assert files["dashboards/alerts.yaml"] != render()["dashboards/alerts.yaml"]


def test_a_stretch_is_a_bound_of_the_histogram():
    with pytest.raises(ValueError, match=r"no bound 60"):
        alerts(replace(DEFAULTS, stretch_calls=60))
    changed = render(replace(DEFAULTS, stretch_calls=100.5))
    assert 'le="100.5"' in changed["dashboards/rules.yaml"]


def test_settings_come_from_a_file_and_the_others_keep_their_defaults(tmp_path):
    path = tmp_path / "mixin.toml"
    path.write_text('runbook_url = "https://books.example"\nstop_share = 1\n')
    assert load(path) == replace(DEFAULTS, runbook_url="https://books.example", stop_share=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stop_shares = 0.1", "there is no stop_shares"),
        ('stop_share = "high"', "stop_share = 'high' is no float"),
        ("least_reads = true", "least_reads = True is no int"),
        ("stop_share = ", "mixin.toml"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name(tmp_path, text, said):
    path = tmp_path / "mixin.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        load(path)
