"""Shell calls: the command and the directory out of a tool's arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final, NamedTuple

from otel_docsfab.config.toolsets.directory import join
from otel_docsfab.config.toolsets.rules import ShellCall, ShellMode
from otel_docsfab.core.codes import ToolClass
from otel_docsfab.core.tools import Classified

_SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh"})
_SCRIPT_OPTIONS: Final = frozenset({"-c", "-lc", "-cl"})
_MAX_WORDS: Final = 4_096


class _Command(NamedTuple):
    text: str
    identity: dict[str, object]


def classify_shell(
    arguments: object, given: Mapping[str, object] | None, shape: ShellCall, mode: ShellMode, base: str | None
) -> Classified:
    """Class a call of a shell tool.

    The identity is the command text without blanks around it, and the working directory where it is known;
    ``description``, ``timeout`` and the like are no part of it. A list of words is the command that it makes,
    ``["bash", "-lc", script]`` the script.

    The directory of a shell that lives on between calls is known only when the host says it (``Tools.at``); otherwise
    the result's bytes, which belong to the identity anyway, tell two directories apart.

    Args:
        arguments: Arguments as they came, for calls that are neutral.
        given: The same as a mapping; None when they are not known.
        shape: Where the command is.
        mode: What may be said.
        base: Working directory of the toolset.

    Returns:
        The class; the arguments as given when it is neutral.
    """
    if mode is ShellMode.OFF:
        return Classified(ToolClass.NEUTRAL, arguments, "a shell tool, and shell rules are off")
    command = None if given is None else _command(given, shape, base)
    if command is None:
        return Classified(ToolClass.NEUTRAL, arguments, "a shell tool without a command that can be looked at")
    from otel_docsfab.config.toolsets.shell import judge  # noqa: PLC0415 - needs an extra that other toolsets do without

    judged = judge(command.text)
    if judged.reads:
        return Classified(ToolClass.READ, command.identity, f"shell command: {judged.reason}")
    if judged.writes and mode is ShellMode.READS_AND_WRITES:
        return Classified(ToolClass.PROGRESS, command.identity, f"shell command: surely writes ({judged.reason})")
    return Classified(ToolClass.NEUTRAL, arguments, f"shell command: {judged.reason}")


def _command(arguments: Mapping[str, object], shape: ShellCall, base: str | None) -> _Command | None:
    directory: str | None = None
    for name in shape.directory:
        given = arguments.get(name)
        if given is not None and not isinstance(given, str):
            return None
        directory = directory or given
    if not all(_known_shell(arguments.get(name)) for name in shape.program):
        return None
    text = _text(next((arguments[name] for name in shape.command if arguments.get(name) is not None), None))
    if text is None:
        return None
    identity: dict[str, object] = {"command": text}
    directory = join(base, directory)
    if directory is not None:
        identity["cwd"] = directory
    return _Command(text, identity)


def _known_shell(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.rpartition("/")[2] in _SHELLS)


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value.strip(" \t\n") or None
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= _MAX_WORDS:
        return None
    words = [word for word in value if isinstance(word, str)]
    if len(words) != len(value):
        return None
    if len(words) == 3 and _known_shell(words[0]) and words[1] in _SCRIPT_OPTIONS:  # noqa: PLR2004 - shell, option, script
        return words[2].strip(" \t\n") or None
    return shlex.join(words)
