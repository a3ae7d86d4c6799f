"""Whether a command surely writes files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from otel_docsfab.config.toolsets.shell.commands import SHELL_OPTION, SHELLS, program_name
from otel_docsfab.config.toolsets.shell.parser import parse
from otel_docsfab.config.toolsets.shell.reads import MAX_DEPTH
from otel_docsfab.config.toolsets.shell.words import NotSureError, Scope, Word, read_word, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_OUTPUTS: Final = frozenset({">", ">>", ">|", "&>", "&>>"})
_IN_PLACE: Final = re.compile(r"-[nErsuz]*i.*|--in-place(?:=.*)?", re.DOTALL)
_APPLY_ONLY_LOOKS: Final = frozenset({"--check", "--stat", "--numstat", "--summary"})


def surely_writes(text: str, depth: int = 0) -> str | None:
    """What of a command surely writes a file when the command succeeds.

    Args:
        text: The command.
        depth: Nesting so far.

    Returns:
        What writes, in words; None when nothing surely does.

    Raises:
        NotSureError: The command does not parse.
    """
    if depth > MAX_DEPTH:
        return None
    return _find(parse(text).root_node, depth)


def _find(node: Node, depth: int) -> str | None:
    """The first sure write; what may not run (after ``||``, in a condition or a loop, in the background) is none."""
    if depth > MAX_DEPTH:
        return None
    if node.type == "command":
        return _command(node, depth)
    if node.type == "redirected_statement":
        body = node.children[0]
        if _certain(body) and any(_writes_file(redirect) for redirect in _redirects(node)):
            return "output to a file"
        return _find(body, depth + 1)
    return next((found for child in _surely_run(node) if (found := _find(child, depth + 1)) is not None), None)


def _certain(body: Node) -> bool:
    """Whether redirections behind a body are in force; the grammar hangs those of the last command on a whole list."""
    return body.type != "list" or body.children[1].type == "&&"


def _redirects(node: Node) -> list[Node]:
    """File redirections of a statement, those on the line of a here-document included."""
    found: list[Node] = []
    for child in node.children:
        if child.type == "file_redirect":
            found.append(child)
        elif child.type == "heredoc_redirect":
            found += [inner for inner in child.children if inner.type == "file_redirect"]
    return found


def _surely_run(node: Node) -> list[Node]:
    children = node.children
    if node.type == "list":
        return [children[0], children[2]] if children[1].type == "&&" else [children[0]]
    if node.type not in {"pipeline", "subshell", "compound_statement", "program"}:
        return []
    followers = [child.type for child in children[1:]]
    return [child for child, end in zip_longest(children, followers) if child.is_named and end != "&"]


def _word(node: Node) -> Word:
    def unknown(_node: Node, _scope: Scope) -> None:
        """A substitution: its text is not known, which is enough here."""

    try:
        return read_word(node, {}, unknown)
    except NotSureError:
        return Word("", known=False, many=True, may_be_option=True)


def _writes_file(redirect: Node) -> bool:
    operator = next((child for child in redirect.children if not child.is_named), None)
    descriptor = next((text_of(child) for child in redirect.children if child.type == "file_descriptor"), "1")
    if operator is None or operator.type not in _OUTPUTS or descriptor != "1":
        return False
    target = _word(redirect.children[-1])
    return bool(target.text) and not target.text.startswith("/dev/")


def _command(node: Node, depth: int) -> str | None:
    if any(_writes_file(redirect) for redirect in _redirects(node)):
        return "output to a file"
    names = [child.children[0] for child in node.children if child.type == "command_name" and child.children]
    if not names:
        return None
    name = program_name(_word(names[0]).text)
    words = [_word(child) for child in node.children if not child.type.endswith(("_redirect", "assignment", "name"))]
    texts = [word.text for word in words if word.known]
    if name in SHELLS and len(words) == len(texts) == 2 and SHELL_OPTION.fullmatch(texts[0]):  # noqa: PLR2004 - option and script
        return surely_writes(texts[1], depth + 1)
    writer = _WRITERS.get(name)
    return writer(texts) if writer is not None else None


def _tee(texts: list[str]) -> str | None:
    return "tee to a file" if any(text and not text.startswith(("-", "/dev/")) for text in texts) else None


def _sed(texts: list[str]) -> str | None:
    options = texts[: texts.index("--")] if "--" in texts else texts
    return "sed -i" if any(_IN_PLACE.fullmatch(text) for text in options) else None


def _git(texts: list[str]) -> str | None:
    return "git apply" if texts[:1] == ["apply"] and not _APPLY_ONLY_LOOKS & set(texts) else None


def _apply_patch(_texts: list[str]) -> str | None:
    return "apply_patch"


_WRITERS: Final[Mapping[str, Callable[[list[str]], str | None]]] = {
    "apply_patch": _apply_patch,
    "applypatch": _apply_patch,
    "git": _git,
    "sed": _sed,
    "tee": _tee,
}
"""What a program surely writes, from those of its words whose text is known."""
