"""Whether a command surely only reads.

A walk over the tree that knows a few kinds of nodes and refuses all others. Between nodes nothing but blanks may
stand, at least one where the shell needs one: so the shell cannot see other words than the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_docsfab.config.toolsets.shell.commands import HARMLESS_ENVIRONMENT, judge_words
from otel_docsfab.config.toolsets.shell.parser import parse
from otel_docsfab.config.toolsets.shell.words import Loop, NotSureError, Scope, Word, read_word, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 24
"""Commands nested deeper than this (substitutions, ``bash -c``, groups) are not looked at."""

_CONTINUED: Final = r"(?:[ \t]+(?:\\\n[ \t]*)*)"
_BLANK: Final = re.compile(_CONTINUED)
_NO_NEWLINE: Final = re.compile(_CONTINUED + "?")
_LOOSE: Final = re.compile(r"(?:[ \t\n]+(?:\\\n[ \t\n]*)*)?")
_NULL_REDIRECT: Final = re.compile(r"(?:[12]?>{1,2}|&>{1,2})[ \t]*/dev/null|[12]?>&[ \t]*[12-]")
_COMMENT: Final = re.compile(r"#[\w \t.,:/=+-]*")
_LOOP_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_SEPARATORS: Final = frozenset({";", "\n"})
_GROUPS: Final[Mapping[str, tuple[str, str]]] = {
    "program": ("", ""),
    "subshell": ("(", ")"),
    "compound_statement": ("{", "}"),
    "do_group": ("do", "done"),
    "command_substitution": ("$(", ")"),
}
_REFUSALS: Final = {
    "heredoc_redirect": "a here-document",
    "herestring_redirect": "a here-string",
    "variable_assignment": "a variable is set",
    "variable_assignments": "variables are set",
    "declaration_command": "a variable is set",
    "function_definition": "a function is defined",
}


def surely_reads(text: str, depth: int = 0) -> bool:
    """Judge a command.

    Args:
        text: The command.
        depth: Nesting so far.

    Returns:
        Whether it reads content; False when it does nothing of note (``cd x``, ``echo``).

    Raises:
        NotSureError: It may do more than read; the message says what.
    """
    tree = parse(text)
    root = tree.root_node
    source = text.encode()
    for outside in (source[: root.start_byte], source[root.end_byte :]):
        if outside.strip(b" \t\n"):
            raise NotSureError("text that the parser left out")
    return _Walk(source).statement(root, {}, depth)


class _Walk:
    """One command's source and the walk over its tree."""

    __slots__ = ("_source",)

    def __init__(self, source: bytes) -> None:
        self._source = source

    def statement(self, node: Node, scope: Scope, depth: int) -> bool:
        """Whether the statement reads content."""
        if depth > MAX_DEPTH:
            raise NotSureError("a command nested too deeply")
        look = _LOOKS.get(node.type)
        if look is None:
            raise NotSureError(_REFUSALS.get(node.type, f"{node.type.replace('_', ' ')} is not looked into"))
        return look(self, node, scope, depth + 1)

    def negated(self, node: Node, scope: Scope, depth: int) -> bool:
        first, inner = self._shape(node, 2)
        self._gap(first, inner, _BLANK)
        return self.statement(inner, scope, depth)

    def _shape(self, node: Node, count: int) -> Sequence[Node]:
        if len(node.children) != count:
            raise NotSureError(f"{node.type.replace('_', ' ')} of an unknown form")
        return node.children

    def _gap(self, left: Node, right: Node, allowed: re.Pattern[str]) -> str:
        text = self._source[left.end_byte : right.start_byte].decode()
        if allowed.fullmatch(text) is None:
            raise NotSureError("odd spacing")
        return text

    def group(self, node: Node, scope: Scope, depth: int) -> bool:
        opening, closing = _GROUPS[node.type]
        children = list(node.children)
        if opening:
            if len(children) < 2 or text_of(children[0]) != opening or text_of(children[-1]) != closing:  # noqa: PLR2004 - a pair
                raise NotSureError(f"{node.type.replace('_', ' ')} of an unknown form")
            self._edges(children)
            children = children[1:-1]
        reads = False
        open_statement: Node | None = None  # a statement that nothing has ended yet
        previous: Node | None = None
        for child in children:
            gap = self._gap(previous, child, _LOOSE) if previous is not None else ""
            previous = child
            if child.type in _SEPARATORS:
                open_statement = None
            elif child.type == "comment":
                if _COMMENT.fullmatch(text_of(child)) is None:
                    raise NotSureError("a comment that an interactive shell might run")
            elif not child.is_named:
                raise NotSureError("a background job" if child.type == "&" else f"{child.type} between commands")
            else:
                if open_statement is not None and "\n" not in gap:
                    raise NotSureError("two commands on one line")
                open_statement = child
                reads |= self.statement(child, scope, depth)
        return reads

    def _edges(self, children: Sequence[Node]) -> None:
        self._gap(children[0], children[1], _LOOSE)
        self._gap(children[-2], children[-1], _LOOSE)

    def chain(self, node: Node, scope: Scope, depth: int) -> bool:
        left, operator, right = self._shape(node, 3)
        if operator.type not in {"&&", "||"}:
            raise NotSureError(f"{operator.type} between commands")
        self._gap(left, operator, _NO_NEWLINE)
        self._gap(operator, right, _LOOSE)
        reads = self.statement(left, scope, depth)
        return self.statement(right, scope, depth) or reads

    def pipeline(self, node: Node, scope: Scope, depth: int) -> bool:
        reads: list[bool] = []
        children = node.children
        for index, child in enumerate(children):
            if index % 2:
                if child.type not in {"|", "|&"}:
                    raise NotSureError(f"{child.type} between commands")
                self._gap(children[index - 1], child, _NO_NEWLINE)
                continue
            if index:
                self._gap(children[index - 1], child, _LOOSE)
            reads.append(self.statement(child, scope, depth))
        return bool(reads) and reads[0]  # the others read what the first one wrote

    def redirected(self, node: Node, scope: Scope, depth: int) -> bool:
        body, *redirects = node.children
        if body.type == "file_redirect":
            raise NotSureError("a redirection without a command")
        previous, opened = body, False
        for redirect in redirects:
            self._gap(previous, redirect, _NO_NEWLINE)
            opened |= self._redirect(redirect, scope, depth)
            previous = redirect
        return self.statement(body, scope, depth) or opened

    def _redirect(self, node: Node, scope: Scope, depth: int) -> bool:
        """Whether the redirection reads a file."""
        if node.type != "file_redirect":
            raise NotSureError(_REFUSALS.get(node.type, "an unknown redirection"))
        if _NULL_REDIRECT.fullmatch(text_of(node)):
            return False
        children = node.children
        if len(children) == 2 and children[0].type == "<":  # noqa: PLR2004 - operator and file
            self._gap(children[0], children[1], _NO_NEWLINE)
            word = self._word(children[1], scope, depth)
            if word.known and not word.many:
                _check_place(word)
                return True
        raise NotSureError("a redirection to a file")

    def loop(self, node: Node, scope: Scope, depth: int) -> bool:
        children = node.children
        if (
            len(children) < 5  # noqa: PLR2004 - for, name, in, a word, body
            or [child.type for child in children[:3]] != ["for", "variable_name", "in"]
            or children[-1].type != "do_group"
            or children[-2].type not in _SEPARATORS
        ):
            raise NotSureError("a loop of an unknown form")
        name = text_of(children[1])
        if _LOOP_NAME.fullmatch(name) is None or name in scope:  # an inner loop would change it for the outer one
            raise NotSureError("a loop over a variable that the shell may use")
        for left, right in pairwise(children):
            ends = left.type in _SEPARATORS or right.type in _SEPARATORS
            self._gap(left, right, _LOOSE if ends else _BLANK)
        words = [self._word(child, scope, depth) for child in children[3:-2]]
        for word in words:
            _check_place(word)
        inner = dict(scope)
        if not any(word.may_be_option or not word.text for word in words):
            plain = all(word.known and word.text.split() == [word.text] for word in words)
            if plain and not any(set("*?[{\\") & set(word.text) for word in words):
                inner[name] = Loop.PLAIN
            elif all(word.known or word.many for word in words):
                inner[name] = Loop.PATTERN
        return self.statement(children[-1], inner, depth)

    def _word(self, node: Node, scope: Scope, depth: int) -> Word:
        def substitution(inner: Node, inner_scope: Scope) -> None:
            if not text_of(inner).startswith("$("):
                raise NotSureError("backticks")
            self.statement(inner, inner_scope, depth + 1)

        return read_word(node, scope, substitution)

    def command(self, node: Node, scope: Scope, depth: int) -> bool:
        words: list[Word] = []
        opened = False
        previous: Node | None = None
        for child in node.children:
            if previous is not None:
                self._gap(previous, child, _BLANK if "redirect" not in child.type else _NO_NEWLINE)
            previous = child
            if child.type == "variable_assignment":
                if words or HARMLESS_ENVIRONMENT.fullmatch(text_of(child)) is None:
                    raise NotSureError("an environment prefix that may change what runs")
            elif child.type == "command_name":
                (name,) = self._shape(child, 1)
                words.append(self._word(name, scope, depth))
            elif child.type.endswith("_redirect"):
                opened |= self._redirect(child, scope, depth)
            else:
                words.append(self._word(child, scope, depth))
        if not words or not words[0].known:
            raise NotSureError("a program whose name is not known")
        for word in words[1:]:
            _check_place(word)
        return judge_words(words, lambda script: surely_reads(script, depth + 1)) or opened


_LOOKS: Final[Mapping[str, Callable[[_Walk, Node, Scope, int], bool]]] = {
    "command": _Walk.command,
    "list": _Walk.chain,
    "pipeline": _Walk.pipeline,
    "redirected_statement": _Walk.redirected,
    "for_statement": _Walk.loop,
    "negated_command": _Walk.negated,
    **dict.fromkeys(_GROUPS, _Walk.group),
}
_PLACES: Final = ("/dev/", "/proc/", "/sys/", "/inet")
_PLAIN_DEVICES: Final = frozenset({"/dev/null", "/dev/stdin"})


def _check_place(word: Word) -> None:
    """Refuse devices and kernel state: reading them may act, wait or poll."""
    text = word.text.rpartition("=")[2] if word.text.startswith("-") else word.text
    if f"{text}/".startswith(_PLACES) and not (word.known and text in _PLAIN_DEVICES):
        raise NotSureError("a device or kernel state")
