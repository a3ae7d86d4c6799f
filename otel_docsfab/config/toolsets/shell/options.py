"""Options of programs, as white lists: what a table does not name is not surely reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from otel_docsfab.config.toolsets.shell.words import NotSureError, Word

_NUMBER: Final = re.compile(r"[-+]?[0-9]+[bkKmMGc]?")


class Given(NamedTuple):
    """A command line taken apart.

    Attributes:
        options: (name, value) in order; None for a flag.
        operands: The other words.
    """

    options: list[tuple[str, Word | None]]
    operands: list[Word]


Check = Callable[[Given], None]
"""Looks at what options alone do not tell (a sed script); raises ``NotSureError``."""


class Program(NamedTuple):
    """What is known of a program.

    Attributes:
        flags: Options without a value, such as ``-n`` and ``--number``.
        values: Options with one value.
        pairs: Options with two values.
        optional: Long options whose value may follow after ``=`` only.
        numbers: Whether ``-20`` is an option.
        harmless: Whether no option at all, known or not, writes or starts anything: then words may be given whose text
            is not known.
        operands: Most operands that are only read; None for any number.
        leading: Whether options must stand before operands, because some versions take later ones for operands, and
            that would matter.
        needs: Operands without which it reads its standard input only.
        check: Further look at the words.
    """

    flags: frozenset[str]
    values: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    numbers: bool = False
    harmless: bool = False
    operands: int | None = None
    leading: bool = False
    needs: int = 0
    check: Check | None = None


def names(text: str) -> frozenset[str]:
    """Option names: a first word without dash is a bunch of letters, the rest are long options.

    >>> sorted(names("nb --number"))
    ['--number', '-b', '-n']
    """
    out: set[str] = set()
    for token in text.split():
        if token.startswith("--"):
            out.add(token)
        else:
            out.update("-" + letter for letter in token)
    return frozenset(out)


def take_apart(program: Program, words: Sequence[Word]) -> Given:
    """Sort the words of a command line into options and operands.

    Args:
        program: What is known of the program.
        words: The words after its name.

    Returns:
        Options and operands.

    Raises:
        NotSureError: An option that the table does not name, or a word that might be one.
    """
    given = Given([], [])
    rest = iter(words)
    for word in rest:
        if not word.may_be_option:
            given.operands.append(word)
        elif program.leading and given.operands:
            raise NotSureError("an option behind an operand")
        elif word.known and word.text == "--":
            given.operands.extend(rest)
        elif word.known and program.numbers and word.text[1:].isdigit():
            given.options.append((word.text, None))
        elif word.text.startswith("--"):
            _long(program, word, rest, given)
        elif word.text.startswith("-"):
            _short(program, word, rest, given)
        elif program.harmless:
            given.operands.append(word)
        else:
            raise NotSureError("a word that may become an option")
    _check_operands(program, given)
    if program.check is not None:
        program.check(given)
    return given


def _check_operands(program: Program, given: Given) -> None:
    if program.operands is None:
        return
    if len(given.operands) > program.operands or any(word.many for word in given.operands):
        raise NotSureError("more operands than are only read")


def _long(program: Program, word: Word, rest: Iterable[Word], given: Given) -> None:
    name, equals, value = word.text.partition("=")
    if equals and (name in program.values or name in program.optional):
        if not word.known and word.many and not program.harmless:
            raise NotSureError("a word that may become an option")
        given.options.append((name, Word(value, word.known)))
        return
    if not word.known or equals:
        raise NotSureError("an option that is not known to read only")
    if name in program.flags or name in program.optional:
        given.options.append((name, None))
    elif name in program.values:
        given.options.append((name, _value(program, rest)))
    elif name in program.pairs:
        given.options.append((name, _value(program, rest)))
        _value(program, rest)
    else:
        raise NotSureError(f"option {name[:40]} is not known to read only")


def _short(program: Program, word: Word, rest: Iterable[Word], given: Given) -> None:
    letters = word.text[1:]
    for index, letter in enumerate(letters):
        name = "-" + letter
        if name in program.values:
            attached = letters[index + 1 :]
            if word.known and not attached:
                given.options.append((name, _value(program, rest)))
            elif word.many and not program.harmless:
                raise NotSureError("a word that may become an option")
            else:
                given.options.append((name, Word(attached, word.known)))
            return
        if name not in program.flags:
            raise NotSureError(f"option {name} is not known to read only")
        given.options.append((name, None))
    if not word.known:
        raise NotSureError("an option that is not known to read only")


def _value(program: Program, rest: Iterable[Word]) -> Word:
    """The word that an option takes; one that looks like an option shows that the table may be wrong."""
    word = next(iter(rest), None)
    if word is None:
        raise NotSureError("an option without its value")
    if (
        word.may_be_option
        and not (word.known and _NUMBER.fullmatch(word.text))
        and not (not word.many and not word.text)
    ):
        raise NotSureError("an option where a value belongs")
    if word.many and not program.harmless:
        raise NotSureError("a word that may become an option")
    return word
