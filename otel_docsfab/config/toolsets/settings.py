"""A toolset as settings: plain data in, a toolset out.

In TOML::

    [toolset]
    profile = "claude-code"
    shellRules = "reads"
    workingDirectory = "/srv/docs"
    prefixes = ["mcp__files__"]

    [[toolset.rules]]                       # before the profile's; the first one that fits decides
    tools = ["kb_*"]
    class = "read"
    ignore = ["reason"]

    [[toolset.rules]]
    tools = ["notes"]
    class = "read"
    when = { action = ["get", "list"] }

    [[toolset.rules]]
    tools = ["run"]
    class = "shell"
    command = "script"
    directory = "folder"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from otel_docsfab.config.names import did_you_mean
from otel_docsfab.config.toolsets.engine import Tools
from otel_docsfab.config.toolsets.profiles import find_profile
from otel_docsfab.config.toolsets.rules import ShellCall, ShellMode, ToolRule
from otel_docsfab.core.codes import ToolClass
from otel_docsfab.errors import ConfigError

_KEYS: Final = ("profile", "rules", "shellRules", "workingDirectory", "prefixes")
_RULE_KEYS: Final = ("tools", "class", "when", "unless", "ignore", "command", "directory")
_CLASSES: Final = (*ToolClass, "shell")


@dataclass(frozen=True, slots=True)
class ToolsetSettings:
    """Everything a toolset is made of.

    Attributes:
        profile: Name of the profile below the rules.
        rules: Rules before the profile's.
        shell_rules: What shell rules may say.
        working_directory: Where relative paths start; None when unknown.
        prefixes: Globs of prefixes under which named tools also come.
    """

    profile: str = "docsfab"
    rules: tuple[ToolRule, ...] = ()
    shell_rules: ShellMode = ShellMode.OFF
    working_directory: str | None = None
    prefixes: tuple[str, ...] = ()

    def build(self) -> Tools:
        """The toolset.

        Raises:
            ConfigError: The profile is unknown, or shell rules are on without their parser.
        """
        profile = find_profile(self.profile)
        return Tools(
            (*self.rules, *profile.rules),
            shell_rules=self.shell_rules,
            working_directory=self.working_directory,
            prefixes=self.prefixes,
            ignore=profile.ignore,
        )

    @classmethod
    def from_data(cls, data: object, source: str = "settings", name: str = "toolset") -> ToolsetSettings:
        """Read settings from plain data, such as a table of a TOML file.

        Args:
            data: A mapping, or a profile's name alone.
            source: Where the data came from, for errors.
            name: What errors call the table.

        Raises:
            ConfigError: Something is unknown or of the wrong kind; says what, where, and what is right.
        """
        read = _Reader(source)
        if isinstance(data, str):
            data = {"profile": data}
        table = read.table(name, data, _KEYS)
        shell_rules = read.choice(f"{name}.shellRules", table.get("shellRules", "off"), tuple(ShellMode))
        rules = table.get("rules", [])
        if not isinstance(rules, Sequence) or isinstance(rules, str):
            read.refuse(f"{name}.rules", rules, "give a list of rules")
        profile = read.text(f"{name}.profile", table.get("profile", "docsfab"))
        find_profile(profile, f"{name}.profile (from {source})")
        directory = table.get("workingDirectory")
        settings = cls(
            profile=profile,
            rules=tuple(read.rule(f"{name}.rules[{i}]", rule) for i, rule in enumerate(rules)),
            shell_rules=ShellMode(shell_rules),
            working_directory=None if directory is None else read.text(f"{name}.workingDirectory", directory),
            prefixes=read.texts(f"{name}.prefixes", table.get("prefixes", [])),
        )
        if settings.shell_rules is ShellMode.OFF:
            for index, rule in enumerate(settings.rules):
                if rule.shell is not None:
                    read.refuse(
                        f"{name}.rules[{index}].class",
                        "shell",
                        f"needs {name}.shellRules to be reads or reads-and-writes",
                    )
        return settings


def from_data(data: object, source: str = "settings") -> Tools:
    """A toolset from plain data; see ``ToolsetSettings.from_data``."""
    return ToolsetSettings.from_data(data, source).build()


class _Reader:
    """Reads plain data; every error names the key, the value and the source."""

    __slots__ = ("_source",)

    def __init__(self, source: str) -> None:
        self._source = source

    def refuse(self, name: str, value: object, allowed: str) -> NoReturn:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."  # noqa: PLR2004 - one line
        raise ConfigError(f"{name} = {shown} (from {self._source}) is refused: {allowed}")

    def table(self, name: str, value: object, keys: tuple[str, ...]) -> Mapping[str, object]:
        if not isinstance(value, Mapping):
            self.refuse(name, value, "give a table")
        for key in value:
            if key not in keys:
                raise ConfigError(
                    f"{name}.{str(key)[:80]} (from {self._source}) is unknown{did_you_mean(str(key), keys)} "
                    f"(there are {', '.join(keys)})"
                )
        return value

    def choice(self, name: str, value: object, choices: tuple[str, ...]) -> str:
        if not isinstance(value, str) or value not in choices:
            self.refuse(name, value, f"give one of {', '.join(choices)}")
        return value

    def text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not value:
            self.refuse(name, value, "give a text")
        return value

    def texts(self, name: str, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, Sequence):
            self.refuse(name, value, "give a text or a list of texts")
        return tuple(self.text(f"{name}[{i}]", item) for i, item in enumerate(value))

    def condition(self, name: str, value: object) -> Mapping[str, tuple[object, ...]]:
        if not isinstance(value, Mapping):
            self.refuse(name, value, "give a table of argument names and values")
        out: dict[str, tuple[object, ...]] = {}
        for argument, given in value.items():
            key = f"{name}.{self.text(name, argument)}"
            values = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
            if not values or not all(isinstance(item, (str, bool, int, float)) for item in values):
                self.refuse(key, given, "give a text, a number, a truth value, or a list of these")
            out[argument] = tuple(values)
        return out

    def rule(self, name: str, value: object) -> ToolRule:
        if isinstance(value, ToolRule):
            return value
        table = self.table(name, value, _RULE_KEYS)
        tools = self.texts(f"{name}.tools", table.get("tools"))
        if not tools:
            self.refuse(f"{name}.tools", tools, "name at least one tool")
        kind = self.choice(f"{name}.class", table.get("class"), _CLASSES)
        shell: ShellCall | None = None
        if kind == "shell":
            usual = ShellCall()
            shell = ShellCall(
                command=self.texts(f"{name}.command", table.get("command", usual.command)),
                directory=self.texts(f"{name}.directory", table.get("directory", usual.directory)),
            )
        elif "command" in table or "directory" in table:
            self.refuse(f"{name}.class", kind, "command and directory belong to class shell")
        return ToolRule(
            tools=tools,
            tool_class=None if kind == "shell" else ToolClass(kind),
            when=self.condition(f"{name}.when", table.get("when", {})),
            unless=self.condition(f"{name}.unless", table.get("unless", {})),
            ignore=frozenset(self.texts(f"{name}.ignore", table.get("ignore", []))),
            shell=shell,
        )
