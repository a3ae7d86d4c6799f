"""Records that last: the run index, its queries, and why runs failed.

Names are loaded when they are used: commands that only read need no supervisor.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_docsfab.runs.index import RunIndex
    from otel_docsfab.runs.retention import Keep

_HOMES = {"Keep": "otel_docsfab.runs.retention", "RunIndex": "otel_docsfab.runs.index"}

__all__ = ["Keep", "RunIndex"]


def __getattr__(name: str) -> Any:
    """Load a name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
