"""Why a call is classed as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from otel_docsfab.config.toolsets.engine import Tools
from otel_docsfab.config.toolsets.profiles import PROFILES
from otel_docsfab.config.toolsets.rules import ShellMode, ToolRule
from otel_docsfab.config.toolsets.settings import ToolsetSettings
from otel_docsfab.core.codes import ToolClass
from otel_docsfab.core.identity import NotJson, parse_arguments
from otel_docsfab.core.tools import Toolset


class Explanation(NamedTuple):
    """What a toolset makes of a call, and why.

    Attributes:
        tool: The tool's name.
        tool_class: Read, progress or neutral.
        reason: Why.
        identity: The part of the arguments that belongs to the result identity.
        left_out: Arguments that do not.
    """

    tool: str
    tool_class: ToolClass
    reason: str
    identity: object
    left_out: tuple[str, ...]


def profile_names() -> tuple[str, ...]:
    """The names of the profiles; the first one is the default."""
    return tuple(PROFILES)


def profile(
    name: str = "docsfab",
    *,
    shell_rules: ShellMode | str = ShellMode.OFF,
    working_directory: str | None = None,
    rules: Iterable[ToolRule] = (),
    prefixes: Iterable[str] = (),
) -> Tools:
    """A toolset for a runtime.

    Args:
        name: Such as ``claude-code``; see ``profile_names``.
        shell_rules: ``off``, ``reads`` or ``reads-and-writes``.
        working_directory: Where relative paths start.
        rules: Rules before the profile's.
        prefixes: Globs of prefixes under which the named tools also come.

    Raises:
        ConfigError: The profile or the shell mode is unknown, or a shell rule is on without its parser.
    """
    data = {"profile": name, "shellRules": shell_rules, "prefixes": list(prefixes), "rules": list(rules)}
    if working_directory is not None:
        data["workingDirectory"] = working_directory
    return ToolsetSettings.from_data(data, source="code").build()


def explain(
    tool: str,
    arguments: object = None,
    profile: str | Toolset = "docsfab",  # noqa: A002,RUF100 - the word that settings use
    shell_rules: ShellMode | str = ShellMode.OFF,
) -> Explanation:
    """Say what becomes of a call.

    Args:
        tool: The tool's name.
        arguments: Arguments as a mapping or as text; None when they are not known.
        profile: A profile's name, or a toolset.
        shell_rules: What shell rules of a profile may say.

    Returns:
        Class, reason and identity.

    Raises:
        ConfigError: The profile or the shell mode is unknown, or a shell rule is on without its parser.
    """
    toolset = profile
    if isinstance(toolset, str):
        toolset = ToolsetSettings.from_data({"profile": toolset, "shellRules": shell_rules}, source="code").build()
    classified = toolset.classify(tool, arguments)
    left_out: tuple[str, ...] = ()
    if classified.tool_class is not ToolClass.NEUTRAL:
        given, kept = _as_mapping(arguments), _as_mapping(classified.arguments)
        values = list(kept.values())
        left_out = tuple(name for name, value in given.items() if name not in kept and value not in values)
    return Explanation(tool, classified.tool_class, classified.reason, classified.arguments, left_out)


def _as_mapping(arguments: object) -> Mapping[str, object]:
    if isinstance(arguments, str):
        try:
            arguments = parse_arguments(arguments)
        except NotJson:
            return {}
    return arguments if isinstance(arguments, Mapping) else {}
