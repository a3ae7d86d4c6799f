"""What a shell word is before the shell expands it.

The parser's tree is not believed: every byte of a word is read again here, and whatever the two could see differently
is refused. A refusal costs nothing (the command stays neutral); a wrong word could make a write look like a read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node


class NotSureError(Exception):
    """The command is not surely reading; the message says why."""


class Word(NamedTuple):
    """A word of a command.

    Attributes:
        text: The value; when it is not known, the part before the first expansion.
        known: Whether ``text`` is the whole value.
        many: Whether the shell may make several words, or none, of it.
        may_be_option: Whether one of those may start with ``-``.
    """

    text: str
    known: bool = True
    many: bool = False
    may_be_option: bool = False


class _Part(Enum):
    TEXT = auto()
    PATTERN = auto()  # glob or brace: several words, each with the same start
    VALUE = auto()  # quoted expansion: one word of unknown text
    SPLIT = auto()  # unquoted expansion: any number of words of unknown text
    PLAIN = auto()  # a loop variable over plain words: one word that is no option


class Loop(Enum):
    """What a loop variable can hold."""

    PLAIN = auto()
    """Words without blanks and patterns that are no options."""
    PATTERN = auto()
    """File names by a pattern with a fixed start; they may hold blanks."""


Scope = Mapping[str, Loop]
Substitution = Callable[["Node", Scope], None]
"""Looks into a command substitution; raises ``NotSureError`` when it does not surely read."""

_PATTERN_CHARACTERS: Final = frozenset("*?[]{}")
_REFUSED_CHARACTERS: Final = frozenset("&|;<>()'\"`$ \t\n")
_NAME: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_QUOTED_DOLLAR: Final = re.compile(r"\$(?![ |)./\\]|$)")
_LEAVES: Final = frozenset({"word", "number", "variable_name"})


def text_of(node: Node) -> str:
    """The source text of a node."""
    return (node.text or b"").decode()


def read_word(node: Node, scope: Scope, substitution: Substitution) -> Word:
    """Read a word.

    Args:
        node: A word, string, concatenation, expansion or substitution of the tree.
        scope: Loop variables in reach.
        substitution: Judge of command substitutions.

    Returns:
        The word.

    Raises:
        NotSureError: It has a part that could hide an effect.
    """
    parts = _parts(node, scope, substitution)
    first = next((i for i, (kind, _) in enumerate(parts) if kind is not _Part.TEXT), len(parts))
    text = "".join(part for _, part in parts[:first])
    kinds = {kind for kind, _ in parts}
    known = first == len(parts)
    split = _Part.SPLIT in kinds
    if known:
        may_be_option = len(text) > 1 and text[0] == "-"
    elif text:
        may_be_option = text[0] == "-" or split
    else:
        may_be_option = parts[first][0] is not _Part.PLAIN or split
    return Word(text, known, split or _Part.PATTERN in kinds, may_be_option)


def _parts(node: Node, scope: Scope, substitution: Substitution) -> list[tuple[_Part, str]]:
    kind = node.type
    if kind in _LEAVES:
        return _bare(text_of(node))
    if kind == "raw_string":
        return _raw_string(text_of(node))
    if kind == "string":
        return _string(node, scope, substitution)
    if kind == "concatenation":
        return _concatenation(node, scope, substitution)
    return [(_whole(node, scope, substitution), "")]


def _whole(node: Node, scope: Scope, substitution: Substitution) -> _Part:
    """An unquoted expansion."""
    if node.type in {"simple_expansion", "expansion"}:
        return _expansion(node, scope, quoted=False)
    if node.type == "command_substitution":
        substitution(node, scope)
        return _Part.SPLIT
    if node.type == "brace_expression":
        return _Part.PATTERN
    raise NotSureError(f"{node.type.replace('_', ' ')} in a word")


def _raw_string(text: str) -> list[tuple[_Part, str]]:
    if len(text) < 2 or text[0] != "'" or text[-1] != "'" or "'" in text[1:-1]:  # noqa: PLR2004 - two quotes
        raise NotSureError("odd quoting")
    return [(_Part.TEXT, text[1:-1])]


def _bare(text: str) -> list[tuple[_Part, str]]:
    """Unquoted text: escapes are undone, patterns marked, all that the shell could take apart refused."""
    if text[:1] in {"#", "="}:  # a comment; zsh's path look-up
        raise NotSureError(f"a word that starts with {text[0]}")
    parts: list[tuple[_Part, str]] = []
    if text.startswith("~"):  # a home directory: unknown, but surely a path
        parts = [(_Part.TEXT, "~"), (_Part.PLAIN, "")]
        text = text[1:]
    index = 0
    while index < len(text):
        character = text[index]
        if character == "\\":
            index += 1
            if index >= len(text) or text[index] == "\n":
                raise NotSureError("a backslash at the end of a word")
            parts.append((_Part.TEXT, text[index]))
        elif character in _REFUSED_CHARACTERS:
            raise NotSureError("odd quoting")
        elif character == "!" and index + 1 < len(text) and text[index + 1] != "=":
            raise NotSureError("history expansion in an interactive shell")
        elif character in _PATTERN_CHARACTERS:
            parts.append((_Part.PATTERN, character))
        else:
            parts.append((_Part.TEXT, character))
        index += 1
    return parts


def _string(node: Node, scope: Scope, substitution: Substitution) -> list[tuple[_Part, str]]:
    parts: list[tuple[_Part, str]] = []
    source, start = node.text or b"", node.start_byte
    if len(source) < 2 or source[:1] != b'"' or source[-1:] != b'"':  # noqa: PLR2004 - two quotes
        raise NotSureError("odd quoting")
    at = 1
    for child in node.named_children:
        if child.type == "string_content":
            continue
        parts.append((_Part.TEXT, _quoted_text(source[at : child.start_byte - start].decode())))
        if child.type in {"simple_expansion", "expansion"}:
            parts.append((_expansion(child, scope, quoted=True), ""))
        elif child.type == "command_substitution":
            substitution(child, scope)
            parts.append((_Part.VALUE, ""))
        else:
            raise NotSureError(f"{child.type.replace('_', ' ')} in quotes")
        at = child.end_byte - start
    parts.append((_Part.TEXT, _quoted_text(source[at:-1].decode())))
    return parts


def _quoted_text(text: str) -> str:
    """Text between double quotes, without expansions."""
    out: list[str] = []
    index = 0
    while index < len(text):
        character = text[index]
        if character == "\\" and index + 1 < len(text):
            following = text[index + 1]
            if following == "\n":
                raise NotSureError("a line continuation in quotes")
            out.append(following if following in '$`"\\' else character + following)
            index += 2
            continue
        if character in '`"\\' or (character == "$" and _QUOTED_DOLLAR.match(text, index)):
            raise NotSureError("odd quoting")
        if character == "!" and index + 1 < len(text) and text[index + 1] not in "= \t":
            raise NotSureError("history expansion in an interactive shell")
        out.append(character)
        index += 1
    return "".join(out)


def _concatenation(node: Node, scope: Scope, substitution: Substitution) -> list[tuple[_Part, str]]:
    parts: list[tuple[_Part, str]] = []
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            raise NotSureError("odd quoting")
        parts += _parts(child, scope, substitution)
        at = child.end_byte
    if at != node.end_byte:
        raise NotSureError("odd quoting")
    return parts


def _expansion(node: Node, scope: Scope, *, quoted: bool) -> _Part:
    match = _NAME.fullmatch(text_of(node))
    if match is None:
        raise NotSureError("an expansion that is more than a variable")
    loop = scope.get(match[1] or match[2])
    if loop is Loop.PLAIN or (loop is Loop.PATTERN and quoted):
        return _Part.PLAIN
    return _Part.VALUE if quoted else _Part.SPLIT
