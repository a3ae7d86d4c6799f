"""The parser, imported when it is first needed (extra ``[shell]``)."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

from otel_docsfab.config.toolsets.shell.words import NotSureError
from otel_docsfab.errors import ConfigError

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

MAX_COMMAND: Final = 16_384
"""Longest command that is looked at, in characters; beyond it a command is neutral."""
_BLANKS: Final = " \t\n"
_ODD_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})


@cache
def language() -> Language:
    """The grammar of bash.

    Raises:
        ConfigError: The extra ``[shell]`` is not installed.
    """
    try:
        import tree_sitter_bash  # noqa: PLC0415 - an extra, loaded when a shell rule is switched on
        from tree_sitter import Language  # noqa: PLC0415 - as above
    except ImportError as error:
        raise ConfigError(
            "a shell rule needs a parser: install otel-docsfab[shell], or leave shellRules of the toolset at off"
        ) from error
    return Language(tree_sitter_bash.language())


def parse(text: str) -> Tree:
    """Parse a command.

    Args:
        text: The command.

    Returns:
        The tree, without errors.

    Raises:
        NotSureError: Too long, not parsable, or with characters that shells and the parser take differently.
        ConfigError: The parser is not installed.
    """
    if len(text) > MAX_COMMAND:
        raise NotSureError("a command too long to be looked at")
    if not text.isascii() or not text.isprintable():
        for character in text:
            if character not in _BLANKS and unicodedata.category(character) in _ODD_CATEGORIES:
                raise NotSureError("a control character or an odd space")

    grammar = language()
    from tree_sitter import Parser  # noqa: PLC0415 - an extra; language() has said so when it is missing

    tree = Parser(grammar).parse(text.encode())  # a parser serves one thread; making one costs a microsecond
    if tree.root_node.has_error:
        raise NotSureError("a command that does not parse")
    return tree
