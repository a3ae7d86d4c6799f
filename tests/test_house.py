"""The house rules that no linter knows: who may import what, who may feed a machine, what an import may do."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import otel_docsfab

PACKAGE = Path(__file__).parents[1] / "otel_docsfab"
CORE = sorted((PACKAGE / "core").glob("*.py"))
IMPURE = {"time", "threading", "asyncio", "logging", "os", "pathlib", "io", "socket", "subprocess"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_the_core_imports_the_pure_part_of_the_standard_library_only(path):
    outside = {name for name in imports(path) if not name.startswith(("otel_docsfab.core", "otel_docsfab.errors"))}
    roots = {name.partition(".")[0] for name in outside}
    assert roots <= set(sys.stdlib_module_names)
    assert not roots & IMPURE


def test_only_an_attempt_feeds_its_machine():
    feeders = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "apply":
                feeders.add(path.relative_to(PACKAGE).as_posix())
    assert feeders == {"supervisor/attempt.py"}


PROBE = """
import sys, threading, builtins, io, os
opened = []
real = builtins.open
def watched(file, *rest, **more):
    opened.append(str(file))
    return real(file, *rest, **more)
builtins.open = watched
io.open = watched
before = threading.active_count()
import otel_docsfab
otel_docsfab.Supervisor, otel_docsfab.ReadLoopSpanProcessor
assert threading.active_count() == before, "a thread was started"
read = [name for name in opened if not name.endswith((".py", ".pyc", "METADATA", "entry_points.txt", "pyvenv.cfg"))]
print([name for name in read if "docsfab" in name or name.startswith("/etc")])
"""


def test_importing_the_package_starts_no_thread_and_reads_no_file():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():

    for name in otel_docsfab.__all__:
        assert getattr(otel_docsfab, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = otel_docsfab.nothing
