"""Toolsets that fit real runtimes: rules, profiles, and an opt-in look into shell commands.

A toolset is pure and may be asked from any thread. Two ways to one::

    profile("claude-code", shell_rules="reads")
    from_data(tomllib.loads(text)["toolset"], source="settings.toml")
"""

from __future__ import annotations

from otel_docsfab.config.toolsets.engine import Tools
from otel_docsfab.config.toolsets.explain import Explanation, explain, profile, profile_names
from otel_docsfab.config.toolsets.rules import ShellCall, ShellMode, ToolRule
from otel_docsfab.config.toolsets.settings import ToolsetSettings, from_data

__all__ = [
    "Explanation",
    "ShellCall",
    "ShellMode",
    "ToolRule",
    "Tools",
    "ToolsetSettings",
    "explain",
    "from_data",
    "profile",
    "profile_names",
]
