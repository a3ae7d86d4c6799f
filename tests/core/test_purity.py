"""The core imports the standard library only, and of it nothing that knows the time, threads or the outside world."""

import ast
import sys
from pathlib import Path

import pytest

import otel_docsfab.core

MODULES = sorted(Path(otel_docsfab.core.__file__).parent.glob("*.py"))
IMPURE = {
    "time",
    "threading",
    "asyncio",
    "logging",
    "os",
    "pathlib",
    "datetime",
    "random",
    "socket",
    "subprocess",
    "io",
}


def imports(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name} imports relatively"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_of_the_core_is_pure(module):
    for name in imports(module):
        top = name.partition(".")[0]
        ours = name.startswith(("otel_docsfab.core", "otel_docsfab.errors"))
        assert ours or (top in sys.stdlib_module_names and top not in IMPURE), f"{module.name} imports {name}"


def test_the_core_has_modules():
    assert len(MODULES) > 10
