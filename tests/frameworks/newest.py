"""Tries the newest releases of every framework and reports drift: ``make frameworks-newest``. Never fails for drift."""

import json
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.frameworks.environments import AT_ONCE, CACHE, LOCKS, ROOT, install, names, run_with
from tests.frameworks.expected import differences
from tests.frameworks.variants import VARIANTS, Variant


def main(wanted: list[str]) -> int:
    """Try these frameworks, all when none is named."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for lines in pool.map(tried, wanted or names()):
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()
    return 0


def tried(framework: str) -> list[str]:
    """Lines on one framework: its releases, then each variant."""
    directory = CACHE / f"newest-{framework}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = ["-r", str(LOCKS / f"{framework}.in"), "-r", str(LOCKS / "_checkout.in"), *project["dependencies"]]
    try:
        install(directory, "--upgrade", *wanted)
    except subprocess.CalledProcessError as error:
        return [f"{framework}: the newest releases cannot be installed together: {error}"]
    return [line for variant in VARIANTS if variant.framework == framework for line in _lines(variant, directory)]


def _lines(variant: Variant, directory: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        done = run_with(
            directory / "bin" / "python",
            "tests.frameworks.record",
            variant.framework,
            variant.name,
            place,
            **dict(variant.environment),
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            return [f"{variant}: DRIFT, the agent does not run: {' '.join(last)}"]
        found = differences(variant, folder)
        versions = json.loads((folder / "report.json").read_text())["versions"]
    return [f"{variant}: {'DRIFT' if found else 'as expected'} ({_news(variant.framework, versions)})", *found]


def _news(framework: str, versions: dict[str, str]) -> str:
    """The releases that are newer than the pinned ones."""
    lines = (line.split()[0] for line in (LOCKS / f"{framework}.txt").read_text().splitlines() if "==" in line)
    pinned = dict(line.split("==") for line in lines)
    news = [
        f"{name} {pinned.get(name, 'none')} -> {version}"
        for name, version in sorted(versions.items())
        if pinned.get(name) != version
    ]
    return ", ".join(news) or "nothing newer than the lock"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
