"""``opentelemetry-instrument python app.py``, for real: the application is not changed."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from otel_docsfab.instrumentor import DocsfabInstrumentor

HERE = Path(__file__).parent
STOP = "docsfab.stop.code"
QUIET = {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}


def run(*arguments, **settings):
    """The app under ``opentelemetry-instrument``: its agent spans, and what it wrote to standard error."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "DOCSFAB_"))}
    program = Path(sys.executable).with_name("opentelemetry-instrument")
    done = subprocess.run(
        [program, sys.executable, HERE / "zero_code_app.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=clean | QUIET | settings,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("provider", [(), ("own-provider",)], ids=["the distro's provider", "the app's own, later"])
def test_the_processor_is_added(provider):
    # the distro's configurator sets a provider of its own unless told not to
    settings = {"OTEL_PYTHON_CONFIGURATOR": "none"} if provider else {}
    ((agent,), errors) = run(*provider, **settings)
    assert agent[STOP] == "execution-read-loop-withheld-reads-bound"
    assert "otel-docsfab" not in errors


def test_limits_and_toolset_come_from_the_environment():
    ((agent,), _) = run(DOCSFAB_EXECUTION_READ_LOOP_WITHHELD_READS="100")
    assert STOP not in agent
    ((agent,), _) = run(OTEL_DOCSFAB_TOOLSET="codex")
    assert STOP not in agent


def test_off_is_off():
    ((agent,), _) = run(OTEL_DOCSFAB_MODE="off")
    assert not [key for key in agent if key.startswith("docsfab.")]


@pytest.mark.parametrize(
    ("variable", "value"),
    [("DOCSFAB_EXECUTION_READ_LOOP_WITHHELD_READS", "many"), ("OTEL_DOCSFAB_MODE", "loud")],
)
def test_a_wrong_setting_is_logged_once_and_the_app_runs_without(variable, value):
    ((agent,), errors) = run(**{variable: value})
    assert not [key for key in agent if key.startswith("docsfab.")]
    lines = [line for line in errors.splitlines() if "otel-docsfab" in line]
    assert len(lines) == 1
    assert "stays off" in lines[0]
    assert variable in lines[0]
    assert value in lines[0]
    assert "Traceback" not in errors


def test_it_can_be_disabled_by_name():
    ((agent,), _) = run(OTEL_PYTHON_DISABLED_INSTRUMENTATIONS="otel_docsfab")
    assert not [key for key in agent if key.startswith("docsfab.")]


def test_the_entry_point_is_the_instrumentor_and_needs_nothing_installed():
    (entry,) = entry_points(group="opentelemetry_instrumentor", name="otel_docsfab")
    assert entry.load() is DocsfabInstrumentor
    assert list(DocsfabInstrumentor().instrumentation_dependencies()) == []
