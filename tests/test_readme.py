"""The README's examples run, and what it shows is what really comes out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from otel_docsfab.core import LIMITS

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
BLOCKS = BLOCK.findall(README)
EXAMPLES = [
    pytest.param(
        code, BLOCKS[n + 1][1] if n + 1 < len(BLOCKS) and BLOCKS[n + 1][0] == "text" else None, id=f"example-{n}"
    )
    for n, (language, code) in enumerate(BLOCKS)
    if language == "python"
]


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_an_example_of_the_readme_runs_and_prints_what_it_says(code, expected, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    if expected is not None and "architecture" not in expected:
        assert done.stdout == expected


def test_the_demo_shown_is_a_real_one():
    shown = README.split("<!-- demo: begin", 1)[1].split("```text\n", 1)[1].split("```", 1)[0].splitlines()
    done = subprocess.run(
        [sys.executable, "-m", "otel_docsfab.cli.main", "demo"], capture_output=True, text=True, check=True
    )
    real = done.stdout.splitlines()
    place = 0
    for line in shown:
        place = real.index(line, place) + 1


def test_every_limit_shown_has_the_default_shown():
    defaults = {spec.name: spec.default for spec in LIMITS}
    rows = re.findall(r"^\| `((?:execution|retry|compositionExecution)\.[\w.]+)` \| (\d+) \|", README, re.MULTILINE)
    assert rows
    for name, default in rows:
        assert defaults[name] == int(default)


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target
