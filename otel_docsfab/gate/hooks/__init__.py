"""Hooks into agent frameworks: one thin adapter each, loaded when it is used.

An adapter translates a runtime's moments into the supervisor's and its verdicts into what the model gets; it has no
rule of its own. ``levers`` says what each runtime lets it do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib import metadata
from typing import Final

from otel_docsfab.gate.hooks.levers import LEVERS, Lever, Runtime, levers_table
from otel_docsfab.supervisor import Site, Supervisor

__all__ = ["LEVERS", "Lever", "Runtime", "install", "levers_table", "uninstall"]

_DISTRIBUTIONS: Final = {
    Runtime.PYDANTIC_AI: ("pydantic-ai-slim", "pydantic-ai"),
    Runtime.LANGCHAIN: ("langchain",),
    Runtime.OPENAI_AGENTS: ("openai-agents",),
    Runtime.GOOGLE_ADK: ("google-adk",),
    Runtime.CLAUDE_AGENT_SDK: ("claude-agent-sdk",),
}
"""By their distributions, because the names of their packages (``agents``) may be anybody's."""
_undo: list[Callable[[], None]] = []


def install(supervisor: Supervisor) -> tuple[Runtime, ...]:
    """Install the adapter of every framework that is there; this imports those frameworks.

    Args:
        supervisor: Judges the runs.

    Returns:
        The runtimes that are now enforced in. One whose adapter cannot be installed is counted (``Site.HOOK``) and
        logged; its runs are as without us.
    """
    installed = []
    for runtime, distributions in _DISTRIBUTIONS.items():
        if not any(_is_there(name) for name in distributions):
            continue
        try:
            adapter = importlib.import_module(f"{__name__}.{runtime}")
            _undo.append(adapter.install(supervisor))
        except Exception as error:  # noqa: BLE001 - a foreign framework, in whatever version
            supervisor.faults.count(Site.HOOK, error, f"Nothing is enforced in {runtime}.")
        else:
            installed.append(runtime)
    return tuple(installed)


def uninstall() -> None:
    """Take away what ``install`` put in place; more often does no harm."""
    while _undo:
        _undo.pop()()


def _is_there(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
