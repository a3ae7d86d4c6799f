"""A toolset by rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from typing import Final

from otel_docsfab.config.toolsets.calls import classify_shell
from otel_docsfab.config.toolsets.directory import with_directory
from otel_docsfab.config.toolsets.rules import ShellCall, ShellMode, ToolRule, is_glob
from otel_docsfab.core.codes import ToolClass
from otel_docsfab.core.identity import NotJson, parse_arguments
from otel_docsfab.core.tools import Classified

_CACHED_NAMES: Final = 4_096
_LONGEST_NAME: Final = 256
_NO_RULE: Final = "no rule names this tool"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A rule as one tool name meets it."""

    rule: ToolRule
    reason: str
    plain: ToolClass | None  # the class, when name alone decides and the arguments stay as they are


class Tools:
    """A toolset by rules; the first rule that fits decides. Pure, and may be asked from any thread.

    The cost of a name that a rule spells out is one dictionary look-up; names that only a glob fits are remembered,
    4,096 of them.

    Attributes:
        rules: The rules in order.
        shell_rules: What shell rules may say.
        working_directory: Where relative paths start; None when unknown.
        prefixes: Globs of prefixes under which the named tools also come, such as ``mcp__filesystem__``.
    """

    __slots__ = ("_exact", "_globs", "_ignore", "_others", "prefixes", "rules", "shell_rules", "working_directory")

    def __init__(
        self,
        rules: Iterable[ToolRule],
        *,
        shell_rules: ShellMode = ShellMode.OFF,
        working_directory: str | None = None,
        prefixes: Iterable[str] = (),
        ignore: Iterable[str] = (),
    ) -> None:
        """Compile the rules.

        Args:
            rules: Rules, the strongest first.
            shell_rules: What shell rules may say.
            working_directory: Where relative paths start.
            prefixes: Globs of prefixes.
            ignore: Arguments that belong to no call's identity.

        Raises:
            ConfigError: Shell rules are on and their parser is not installed.
        """
        self.rules = tuple(rules)
        self.shell_rules = shell_rules
        self.working_directory = working_directory or None
        self.prefixes = tuple(prefixes)
        self._ignore = frozenset(ignore)
        if shell_rules is not ShellMode.OFF and any(rule.shell is not None for rule in self.rules):
            from otel_docsfab.config.toolsets.shell import require_parser  # noqa: PLC0415 - needs an extra

            require_parser()
        self._globs = tuple(_matcher(rule) for rule in self.rules)
        names = {name for rule in self.rules for name in rule.tools if not is_glob(name)}
        self._exact: dict[str, tuple[_Entry, ...]] = {name: self._entries(name) for name in names}
        self._others: Callable[[str], tuple[_Entry, ...]] = lru_cache(_CACHED_NAMES)(self._find)

    def at(self, working_directory: str | None) -> Tools:
        """The same toolset in another working directory."""
        return Tools(
            self.rules,
            shell_rules=self.shell_rules,
            working_directory=working_directory,
            prefixes=self.prefixes,
            ignore=self._ignore,
        )

    def classify(self, tool: str, arguments: object = None) -> Classified:
        """Class one call.

        Args:
            tool: Tool name as the runtime gives it.
            arguments: Parsed arguments, argument text, or None when they are not known.

        Returns:
            The class, the part of the arguments that belongs to the result identity, and why.
        """
        entries = self._exact.get(tool)
        if entries is None:
            entries = self._others(tool) if len(tool) <= _LONGEST_NAME else ()
        if entries:
            first = entries[0]
            if first.plain is not None:
                return Classified(first.plain, arguments, first.reason)
            return self._decide(entries, arguments)
        return Classified(ToolClass.NEUTRAL, arguments, _NO_RULE)

    def _decide(self, entries: tuple[_Entry, ...], arguments: object) -> Classified:
        given = _mapping(arguments)
        for entry in entries:
            rule = entry.rule
            if given is None and rule.shell is not None:
                given = _command_text(arguments, rule.shell)
            if rule.conditional:
                if given is None:
                    return Classified(ToolClass.NEUTRAL, arguments, f"{entry.reason}, but its arguments are not known")
                if not rule.fits(given):
                    continue
            if rule.shell is not None:
                return classify_shell(arguments, given, rule.shell, self.shell_rules, self.working_directory)
            tool_class = rule.tool_class or ToolClass.NEUTRAL
            if tool_class is ToolClass.NEUTRAL or given is None:
                return Classified(tool_class, arguments, entry.reason)
            return Classified(tool_class, self._identity(rule, arguments, given), entry.reason)
        return Classified(ToolClass.NEUTRAL, arguments, f"{entries[0].reason}, but its arguments fit no rule")

    def _identity(self, rule: ToolRule, arguments: object, given: Mapping[str, object]) -> object:
        ignored = (rule.ignore | self._ignore) & given.keys()
        kept = {name: value for name, value in given.items() if name not in ignored} if ignored else given
        if self.working_directory is not None:
            kept = with_directory(kept, self.working_directory)
        return arguments if kept is given else kept

    def _find(self, tool: str) -> tuple[_Entry, ...]:
        entries = self._entries(tool)
        if entries or not self.prefixes:
            return entries
        for name in sorted(self._exact, key=len, reverse=True):
            prefix = tool.removesuffix(name)
            if prefix != tool and any(fnmatchcase(prefix, glob) for glob in self.prefixes):
                return tuple(
                    replace(entry, reason=f"{entry.reason} behind the prefix {prefix}") for entry in self._exact[name]
                )
        return ()

    def _entries(self, tool: str) -> tuple[_Entry, ...]:
        entries: list[_Entry] = []
        for rule, globs in zip(self.rules, self._globs, strict=True):
            by = tool
            if tool not in rule.tools:
                if globs is None or globs.match(tool) is None:
                    continue
                by = next(glob for glob in rule.tools if is_glob(glob) and fnmatchcase(tool, glob))
            reason = f"tool name {by}" if by == tool else f"tool name by {by}"
            stays = not (rule.ignore or self._ignore or self.working_directory) or rule.tool_class is ToolClass.NEUTRAL
            plain = rule.tool_class if stays and not rule.conditional else None
            entries.append(_Entry(rule, reason, plain))
            if not rule.conditional:
                break  # a later rule is never reached
        return tuple(entries)


def _matcher(rule: ToolRule) -> re.Pattern[str] | None:
    """All globs of a rule as one expression, which is some ten times as fast as asking each."""
    globs = [translate(name) for name in rule.tools if is_glob(name)]
    return re.compile("|".join(globs)) if globs else None


def _command_text(arguments: object, shape: ShellCall) -> Mapping[str, object] | None:
    """The arguments of a shell tool that is given the command as mere text; a cut JSON text is none."""
    if isinstance(arguments, str) and arguments.lstrip()[:1] not in {"", "{", "["}:
        return {shape.command[0]: arguments}
    return None


def _mapping(arguments: object) -> Mapping[str, object] | None:
    """The arguments as a mapping; argument text is parsed."""
    if isinstance(arguments, Mapping):
        return arguments
    if isinstance(arguments, str) and arguments.lstrip()[:1] == "{":
        try:
            value = parse_arguments(arguments)
        except NotJson:
            return None
        return value if isinstance(value, dict) else None
    return None
