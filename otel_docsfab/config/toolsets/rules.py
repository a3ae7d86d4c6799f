"""Rules: a tool name or glob, a condition on arguments, a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

from otel_docsfab.core.codes import ToolClass

_NOTHING: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType({})


class ShellMode(StrEnum):
    """What shell rules may say; off unless asked for."""

    OFF = "off"
    """Every shell command is neutral."""
    READS = "reads"
    """A command that surely only reads is a read."""
    READS_AND_WRITES = "reads-and-writes"
    """And one that surely writes a file is progress."""


@dataclass(frozen=True, slots=True)
class ShellCall:
    """Where a shell tool's arguments hold the command.

    Attributes:
        command: Argument names of the command (a text, or a list of words as Codex sends it); the first present counts.
        directory: Argument names of the working directory.
        program: Argument names that choose the shell; a call that chooses no known one is neutral.
    """

    command: tuple[str, ...] = ("command", "cmd")
    directory: tuple[str, ...] = ("cwd", "workdir", "working_directory", "dir_path", "directory")
    program: tuple[str, ...] = ("shell",)


@dataclass(frozen=True, slots=True)
class ToolRule:
    """One rule; the first one of a toolset that fits a call decides.

    Attributes:
        tools: Exact names, or globs with ``*``, ``?`` and ``[…]``.
        tool_class: The class; None for a shell rule.
        when: Argument name to the values of which one must be given. A text is a glob; others must be equal, and of
            one type.
        unless: As ``when``, but the rule does not fit when one of these is given.
        ignore: Arguments that do not belong to the result identity, such as a description.
        shell: For shell tools: where the command is.
    """

    tools: tuple[str, ...]
    tool_class: ToolClass | None
    when: Mapping[str, tuple[object, ...]] = field(default_factory=lambda: _NOTHING)
    unless: Mapping[str, tuple[object, ...]] = field(default_factory=lambda: _NOTHING)
    ignore: frozenset[str] = frozenset()
    shell: ShellCall | None = None

    @property
    def conditional(self) -> bool:
        """Whether the arguments must be known."""
        return bool(self.when or self.unless)

    def fits(self, arguments: Mapping[str, object]) -> bool:
        """Whether the arguments meet the conditions."""
        return all(_given(arguments, name, allowed) for name, allowed in self.when.items()) and not any(
            _given(arguments, name, refused) for name, refused in self.unless.items()
        )


def is_glob(name: str) -> bool:
    """Whether a name of a rule stands for several tools."""
    return not {"*", "?", "["}.isdisjoint(name)


def read(*tools: str, ignore: tuple[str, ...] = (), when: Mapping[str, tuple[object, ...]] = _NOTHING) -> ToolRule:
    """A rule for tools that read."""
    return ToolRule(tools, ToolClass.READ, when, ignore=frozenset(ignore))


def progress(*tools: str, ignore: tuple[str, ...] = (), when: Mapping[str, tuple[object, ...]] = _NOTHING) -> ToolRule:
    """A rule for tools whose success is progress."""
    return ToolRule(tools, ToolClass.PROGRESS, when, ignore=frozenset(ignore))


def neutral(*tools: str) -> ToolRule:
    """A rule for tools that are never counted, such as polls."""
    return ToolRule(tools, ToolClass.NEUTRAL)


def shell(*tools: str, unless: Mapping[str, tuple[object, ...]] = _NOTHING, call: ShellCall | None = None) -> ToolRule:
    """A rule for tools that run a shell command."""
    return ToolRule(tools, None, unless=unless, shell=call or ShellCall())


def _given(arguments: Mapping[str, object], name: str, values: tuple[object, ...]) -> bool:
    value = arguments.get(name)
    if isinstance(value, str):
        return any(isinstance(allowed, str) and fnmatchcase(value, allowed) for allowed in values)
    return any(type(value) is type(allowed) and value == allowed for allowed in values)
