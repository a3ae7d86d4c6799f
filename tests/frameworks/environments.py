"""One environment for each agent framework, pinned, in a cache outside the checkout.

A framework is a name with a lock: ``requirements/frameworks/<name>.in`` says what is wanted, ``<name>.txt`` pins it
with hashes, this package's own dependencies included. ``make frameworks`` (``python -m tests.frameworks.environments``)
makes what is missing, two at a time; with names as arguments, those only.

Tests carry ``@pytest.mark.framework`` and start programs with ``python_of(name)``: the environment's interpreter, in
which this checkout is installed. A missing environment skips the test with a reason, and fails it under
``REQUIRE_SERVICES=1``. ``run_in`` runs a module of the checkout there and returns what it printed. Such a module may
import ``otel_docsfab`` and its neighbours under ``tests/frameworks/``, but not pytest: the environment has none.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements" / "frameworks"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-docsfab" / "frameworks"
AT_ONCE = 2
PATIENCE_S = 300.0
"""Longest run of a scenario; a slow machine waits, nothing is measured against it."""


def names() -> list[str]:
    """Frameworks that have a lock."""
    return sorted(lock.stem for lock in LOCKS.glob("*.txt"))


def directory_of(name: str) -> Path:
    """Where the environment of a framework is or will be: another lock, checkout or interpreter, another directory."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    facts = [(LOCKS / f"{name}.txt").read_bytes(), repr(project).encode(), str(ROOT).encode(), sys.version.encode()]
    return CACHE / f"{name}-{hashlib.sha256(b'|'.join(facts)).hexdigest()[:16]}"


def python_of(name: str) -> Path:
    """The interpreter of a framework's environment.

    Returns:
        Its path; skips, or fails under ``REQUIRE_SERVICES=1``, when the environment was not made.
    """
    from tests.services.loopback import missing  # noqa: PLC0415 - needs pytest; making environments does not

    directory = directory_of(name)
    if not (directory / "ready").exists():
        missing(f"the environment of {name} is not there: make frameworks")
    return directory / "bin" / "python"


def run_in(name: str, module: str, *arguments: str, **environment: str) -> str:
    """Run a module of this checkout in a framework's environment.

    Args:
        name: The framework.
        module: Dotted name, as after ``python -m``.
        arguments: Its arguments.
        environment: Variables over the process's own.

    Returns:
        What it wrote to standard output; an assertion with its errors when it failed.
    """
    done = run_with(python_of(name), module, *arguments, **environment)
    assert done.returncode == 0, f"{module} in {name}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def run_with(python: Path, module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this checkout with an interpreter, to its end."""
    return subprocess.run(
        [python, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def make(name: str) -> Path:
    """Make the environment of a framework unless it is there; several processes may try at once."""
    directory = directory_of(name)
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{directory.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "ready").exists():
            install(directory, "--require-hashes", "-r", str(LOCKS / f"{name}.txt"))
            (directory / "ready").touch()
    return directory


def install(directory: Path, *what: str) -> None:
    """Make an environment with these packages and this checkout.

    Raises:
        subprocess.CalledProcessError: A package could not be installed.
    """
    shutil.rmtree(directory, ignore_errors=True)
    uv = shutil.which("uv")
    python = str(directory / "bin" / "python")
    if uv:
        run(uv, "venv", "--quiet", "--python", sys.executable, str(directory))
        pip = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        run(sys.executable, "-m", "venv", str(directory))
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, *what)
    run(*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT))


def run(*command: str) -> None:
    """Run an installer's command to its end."""
    subprocess.run(command, check=True, stdout=sys.stderr)


def main(wanted: list[str]) -> int:
    """Make the environments of these frameworks, of all when none is named."""
    failed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        making = {name: pool.submit(make, name) for name in wanted or names()}
        for name, made in making.items():
            try:
                sys.stdout.write(f"{name}: {made.result()}\n")
            except subprocess.CalledProcessError as error:
                failed += 1
                sys.stderr.write(f"{name}: {error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
