"""Which words make a command that only reads: programs, wrappers, nested shells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from otel_docsfab.config.toolsets.shell.git import read_git
from otel_docsfab.config.toolsets.shell.options import take_apart
from otel_docsfab.config.toolsets.shell.programs import BESIDE, READERS, TIME_DEPENDENT
from otel_docsfab.config.toolsets.shell.scripts import check_find
from otel_docsfab.config.toolsets.shell.words import NotSureError, Word

Nested = Callable[[str], bool]
"""Judges the script of a nested shell."""

_PLACES: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")
SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh"})
SHELL_OPTION: Final = re.compile(r"-[lceu]*c")
_DURATION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?")
HARMLESS_ENVIRONMENT: Final = re.compile(
    r"(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|NO_COLOR|CLICOLOR|FORCE_COLOR|GIT_OPTIONAL_LOCKS)=[A-Za-z0-9_.@:+-]*"
    r"|(?:GIT_PAGER|PAGER)=cat"
)
"""Environment settings that start nothing and load nothing."""
_SET: Final = re.compile(r"[-+][eu]+|[-+][eu]*o")
_TESTS: Final = frozenset({"-e", "-f", "-d", "-r", "-s", "-L", "-h", "-n", "-z"})


def program_name(text: str) -> str:
    """The name of a program, without one of the usual directories.

    Args:
        text: The first word of a command.

    Returns:
        The bare name; the word as it is when it names another place (then no table knows it).
    """
    for place in _PLACES:
        if text.startswith(place):
            return text.removeprefix(place)
    return text


def judge_words(words: Sequence[Word], nested: Nested) -> bool:
    """Judge a simple command.

    Args:
        words: Its words, the program first; the first is known.
        nested: Judge of ``bash -c`` scripts.

    Returns:
        Whether it reads content.

    Raises:
        NotSureError: It may do more.
    """
    name, rest = program_name(words[0].text), words[1:]
    if name in READERS:
        program = READERS[name]
        return len(take_apart(program, rest).operands) >= program.needs
    if name in BESIDE:
        take_apart(BESIDE[name], rest)
        return False
    special = _SPECIAL.get(name)
    if special is not None:
        return special(rest, nested)
    unwrap = _WRAPPERS.get(name)
    if unwrap is None:
        raise NotSureError(
            f"{name} tells of the moment"
            if name in TIME_DEPENDENT
            else f"program {name[:40]!r} is not known to read only"
        )
    inner = list(rest)
    unwrap(inner)
    if not inner or not inner[0].known or inner[0].may_be_option:
        raise NotSureError(f"{name} of an unknown form")
    return judge_words(inner, nested)


def _git(words: Sequence[Word], _nested: Nested) -> bool:
    read_git(words)
    return True


def _find(words: Sequence[Word], _nested: Nested) -> bool:
    check_find(words)
    return True


def _shell(words: Sequence[Word], nested: Nested) -> bool:
    """``bash -c script`` or ``bash -lc script``."""
    rest = list(words)
    if rest and rest[0].known and rest[0].text in {"-l", "--login", "--noprofile", "--norc"}:
        rest.pop(0)
    if len(rest) != 2 or not all(word.known for word in rest) or SHELL_OPTION.fullmatch(rest[0].text) is None:  # noqa: PLR2004 - option and script
        raise NotSureError("a nested shell of an unknown form")
    return nested(rest[1].text)


def _skip_timeout(words: list[Word]) -> None:
    _skip(words, re.compile(r"--preserve-status|--foreground|-v|--verbose"))
    if not words or not words[0].known or _DURATION.fullmatch(words[0].text) is None:
        raise NotSureError("a timeout of an unknown form")
    words.pop(0)


def _skip_nice(words: list[Word]) -> None:
    if len(words) > 1 and words[0].known and words[0].text == "-n" and words[1].known and words[1].text.isdigit():
        del words[:2]


def _skip(words: list[Word], pattern: re.Pattern[str]) -> None:
    """Drop leading words of a form."""
    while words and words[0].known and pattern.fullmatch(words[0].text):
        words.pop(0)


def _echo(_words: Sequence[Word], _nested: Nested) -> bool:
    return False


def _printf(words: Sequence[Word], _nested: Nested) -> bool:
    if words and (words[0].may_be_option or not words[0].known or "%n" in words[0].text):
        raise NotSureError("printf that may set a variable")
    return False


def _set(words: Sequence[Word], _nested: Nested) -> bool:
    rest = iter(words)
    for word in rest:
        if not word.known or _SET.fullmatch(word.text) is None:
            raise NotSureError("set with unknown options")
        if word.text.endswith("o") and next(rest, None) not in {Word("pipefail"), Word("errexit"), Word("nounset")}:
            raise NotSureError("set with unknown options")
    return False


def _test(words: Sequence[Word], _nested: Nested) -> bool:
    """One test of a file or a text; others may evaluate arithmetic, which runs substitutions."""
    rest = list(words)
    if rest and rest[0] == Word("!"):
        rest.pop(0)
    if len(rest) != 2 or not rest[0].known or rest[0].text not in _TESTS or rest[1].many:  # noqa: PLR2004 - test and word
        raise NotSureError("a test of an unknown form")
    return False


_SPECIAL: Final[Mapping[str, Callable[[Sequence[Word], Nested], bool]]] = {
    "git": _git,
    "find": _find,
    "echo": _echo,
    "printf": _printf,
    "set": _set,
    "test": _test,
    **dict.fromkeys(SHELLS, _shell),
}
_WRAPPERS: Final[Mapping[str, Callable[[list[Word]], None]]] = {
    "timeout": _skip_timeout,
    "nice": _skip_nice,
    "stdbuf": partial(_skip, pattern=re.compile(r"-[ioe][L0]")),
    "env": partial(_skip, pattern=HARMLESS_ENVIRONMENT),
    "command": partial(_skip, pattern=re.compile(r"(?!)")),
}
"""Programs that run the rest of their words; each drops its own words."""
