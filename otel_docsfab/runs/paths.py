"""Where the run index lies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

STATE_VARIABLE: Final = "DOCSFAB_STATE_DIR"
_FILE: Final = "runs.sqlite3"


def state_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The directory for what is kept between runs.

    Args:
        environ: The environment; the process's own by default.

    Returns:
        ``DOCSFAB_STATE_DIR``, else ``otel-docsfab`` in ``XDG_STATE_HOME`` (ignored unless absolute, as that
        specification says), else in ``~/.local/state``.
    """
    environ = os.environ if environ is None else environ
    named = environ.get(STATE_VARIABLE)
    if named:
        return Path(named).expanduser()
    home = environ.get("XDG_STATE_HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path("~/.local/state").expanduser()) / "otel-docsfab"


def index_path(environ: Mapping[str, str] | None = None) -> Path:
    """The run index in the state directory."""
    return state_dir(environ) / _FILE
