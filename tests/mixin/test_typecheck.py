"""Boards are what Grafana's own types say, by the word of the TypeScript compiler."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.services.npm import installed

pytestmark = pytest.mark.service

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
PROJECT = DASHBOARDS / "typecheck"


@pytest.fixture(scope="module")
def packages():
    return installed(PROJECT)


def compiled(directory, packages, boards):
    """What the compiler says of the boards (name to JSON text), with exit code 0 for nothing."""
    for name in ("types.ts", "tsconfig.json"):
        shutil.copy(PROJECT / name, directory)
    (directory / "node_modules").symlink_to(packages / "node_modules")
    (directory / "boards").mkdir()
    for name, text in boards.items():
        source = f"import type {{ Board }} from '../types';\nexport const board: Board = {text};\n"
        (directory / "boards" / f"{name}.ts").write_text(source)
    command = ["node", "node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def test_every_board_is_a_dashboard_of_grafana_11_6(tmp_path, packages):
    boards = {path.stem: path.read_text() for path in (DASHBOARDS / "json").glob("*.json")}
    assert len(boards) == 4
    result = compiled(tmp_path, packages, boards)
    assert result.returncode == 0, result.stdout


def test_the_types_see_a_wrong_option_a_wrong_enum_and_a_key_too_many(tmp_path, packages):
    def spoiled(change):
        board = json.loads((DASHBOARDS / "json" / "read-loops.json").read_text())
        [tile, *_] = [panel for panel in board["panels"] if panel["type"] == "stat"]
        change(tile)
        return json.dumps(board)

    boards = {
        "option": spoiled(lambda tile: tile["options"].update(graphMode="nothing")),
        "enum": spoiled(lambda tile: tile["fieldConfig"]["defaults"]["thresholds"].update(mode="relative")),
        "key": spoiled(lambda tile: tile.update(widht=4)),
    }
    result = compiled(tmp_path, packages, boards)
    assert result.returncode != 0
    assert {line.split("(")[0] for line in result.stdout.splitlines() if line.startswith("boards/")} == {
        f"boards/{name}.ts" for name in boards
    }
