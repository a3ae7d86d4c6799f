"""Locked npm packages in a cache outside the checkout."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.services.loopback import missing

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-docsfab"


def installed(project: Path) -> Path:
    """A directory with the project's ``node_modules``, exactly as its lock file says.

    Args:
        project: Directory with ``package.json`` and ``package-lock.json``.

    Returns:
        The directory; skips, or fails under ``REQUIRE_SERVICES=1``, when npm or its registry is not there.
    """
    npm = shutil.which("npm") or missing("npm is not installed")
    files = [project / name for name in ("package.json", "package-lock.json", ".npmrc")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    directory = CACHE / f"{project.name}-{digest}"
    done = directory / "installed"
    if not done.exists():
        directory.mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copy(path, directory)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        result = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        if result.returncode:
            missing(f"npm ci failed: {result.stderr[-300:]}")
        done.touch()
    return directory
