"""Keep AI agents from re-reading what they already know, and show it to the people who run them.

Public names only; each is loaded when it is first used, so that importing the package costs nothing and starts nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_docsfab.config import toolsets as toolset
    from otel_docsfab.core import (
        AnswerPath,
        AttemptMachine,
        AttemptRecord,
        Code,
        DeadlineTurn,
        Limits,
        Outcome,
        RetryOf,
        Step,
        StepKind,
        ToolClass,
        Trigger,
        Unjudged,
        Verdict,
    )
    from otel_docsfab.errors import AttemptStopped, ConfigError, DocsfabError, LimitError
    from otel_docsfab.gate import StepResult
    from otel_docsfab.instrumentation import instrument, uninstrument
    from otel_docsfab.lease import (
        Lease,
        LeaseKeeper,
        LeaseLost,
        LeaseStore,
        MemoryLeaseStore,
        RedisLeaseStore,
        SqliteLeaseStore,
    )
    from otel_docsfab.runs import RunIndex
    from otel_docsfab.spans.dialects import register_dialect
    from otel_docsfab.spans.processor import ReadLoopSpanProcessor
    from otel_docsfab.supervisor import Attempt, AttemptRef, BaseSink, Decision, Sink, Supervisor

_HOMES = {
    "otel_docsfab.core": (
        "AnswerPath",
        "AttemptMachine",
        "AttemptRecord",
        "Code",
        "DeadlineTurn",
        "Limits",
        "Outcome",
        "RetryOf",
        "Step",
        "StepKind",
        "ToolClass",
        "Trigger",
        "Unjudged",
        "Verdict",
    ),
    "otel_docsfab.errors": ("AttemptStopped", "ConfigError", "DocsfabError", "LimitError"),
    "otel_docsfab.gate": ("StepResult",),
    "otel_docsfab.instrumentation": ("instrument", "uninstrument"),
    "otel_docsfab.lease": (
        "Lease",
        "LeaseKeeper",
        "LeaseLost",
        "LeaseStore",
        "MemoryLeaseStore",
        "RedisLeaseStore",
        "SqliteLeaseStore",
    ),
    "otel_docsfab.runs": ("RunIndex",),
    "otel_docsfab.spans.dialects": ("register_dialect",),
    "otel_docsfab.spans.processor": ("ReadLoopSpanProcessor",),
    "otel_docsfab.supervisor": ("Attempt", "AttemptRef", "BaseSink", "Decision", "Sink", "Supervisor"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {"toolset": "otel_docsfab.config.toolsets"}

__version__ = "0.1.0"
__all__ = [
    "AnswerPath",
    "Attempt",
    "AttemptMachine",
    "AttemptRecord",
    "AttemptRef",
    "AttemptStopped",
    "BaseSink",
    "Code",
    "ConfigError",
    "DeadlineTurn",
    "Decision",
    "DocsfabError",
    "Lease",
    "LeaseKeeper",
    "LeaseLost",
    "LeaseStore",
    "LimitError",
    "Limits",
    "MemoryLeaseStore",
    "Outcome",
    "ReadLoopSpanProcessor",
    "RedisLeaseStore",
    "RetryOf",
    "RunIndex",
    "Sink",
    "SqliteLeaseStore",
    "Step",
    "StepKind",
    "StepResult",
    "Supervisor",
    "ToolClass",
    "Trigger",
    "Unjudged",
    "Verdict",
    "instrument",
    "register_dialect",
    "toolset",
    "uninstrument",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    home = _HOME_OF.get(name) or _MODULES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: Any = importlib.import_module(home)
    if name not in _MODULES:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
