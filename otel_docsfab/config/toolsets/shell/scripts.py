"""Little languages inside commands: sed scripts, awk programs, find expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from otel_docsfab.config.toolsets.shell.options import Given
from otel_docsfab.config.toolsets.shell.words import NotSureError, Word


def _bracketed(delimiter: str) -> str:
    """A regular expression up to its delimiter; brackets hold no delimiter, so that every sed reads it alike."""
    return rf"(?:[^\\\n\[{delimiter}]|\\.|\[[^\]\\\n{delimiter}]*\])*"


_REGEX: Final = "/" + _bracketed("/") + "/[IM]*"
_ADDRESS: Final = rf"(?:[0-9]+(?:~[0-9]+)?|\$|{_REGEX})"
_ADDRESSES: Final = rf"(?:{_ADDRESS}(?:[ ]*,[ ]*(?:{_ADDRESS}|[+~][0-9]+))?)?[ ]*!?[ ]*"
_SUBSTITUTE: Final = "|".join(
    "s" + d + _bracketed(d) + d + rf"(?:[^\\\n{d}]|\\.)*" + d + "[gpiIM0-9]*"
    for d in ("/", ",", "#", ":", "@", r"\|", "%", "_")
)
_COMMAND: Final = re.compile(
    rf"[ \t]*{_ADDRESSES}(?:[pdDPNnhHgGxz=]|[qQl][ ]*[0-9]*|{_SUBSTITUTE})[ \t]*(?:;|\n|$)", re.ASCII
)
_BLOCK: Final = re.compile(rf"[ \t]*{_ADDRESSES}\{{([^{{}}]*)\}}[ \t]*(?:;|\n|$)", re.ASCII)


def check_sed(given: Given) -> None:
    """Accept scripts of commands that only print, delete or substitute in the output.

    Raises:
        NotSureError: The script is not known, or uses ``w``, ``e``, ``r``, ``a``, labels or anything else.
    """
    scripts = [value for name, value in given.options if name in {"-e", "--expression"}]
    if not scripts:
        scripts = list(given.operands[:1])
    for script in scripts:
        if script is None or not script.known:
            raise NotSureError("a sed script that is not known")
        if not _sed_reads(script.text):
            raise NotSureError("a sed script that may write or run something")
    if not scripts:
        raise NotSureError("sed without a script")


def _sed_reads(script: str, *, nested: bool = False) -> bool:
    at = 0
    while at < len(script):
        match = _COMMAND.match(script, at)
        if match is None and not nested:
            match = _BLOCK.match(script, at)
            if match is not None and not _sed_reads(match[1], nested=True):
                return False
        if match is None or match.end() == at:
            return not script[at:].strip(" \t\n;")
        at = match.end()
    return True


_AWK_REFUSED: Final = re.compile(r"system|getline|close|fflush|@|\\\n|ENVIRON|PROCINFO|srand|rand|systime|strftime")


def check_awk(given: Given) -> None:
    """Accept programs that print to the standard output only.

    ``>`` compares in a pattern and writes after ``print``: it is taken for a comparison before the first brace only.

    Raises:
        NotSureError: The program is not known, or might write, run or read from a command.
    """
    program = given.operands[0] if given.operands else None
    if program is None or not program.known:
        raise NotSureError("an awk program that is not known")
    pattern, _, action = program.text.partition("{")
    if _AWK_REFUSED.search(program.text) or ">" in action or "print" in pattern:
        raise NotSureError("an awk program that may write or run something")
    if "|" in program.text.replace("||", ""):
        raise NotSureError("an awk program with a pipe")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FIND_PLAIN: Final = _names(
    "( ) ! , -not -o -or -a -and -print -print0 -ls -prune -xdev -mount -depth -d -follow -empty -readable "
    "-writable -executable -true -false -quit -daystart -nouser -nogroup -noleaf -L -H -P -E -s -X -x"
)
_FIND_VALUED: Final = _names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -maxdepth -mindepth -size "
    "-mtime -mmin -newer -anewer -cnewer -newermt -ctime -cmin -atime -amin -perm -user -group -uid -gid -links "
    "-inum -samefile -regextype -lname -ilname -fstype -printf"
)


def check_find(words: Sequence[Word]) -> None:
    """Accept starting points, tests and printing; nothing that runs, deletes or writes.

    Raises:
        NotSureError: Any other primary, or a word whose text is not known.
    """
    rest = iter(words)
    for word in rest:
        if word.may_be_option and not word.known:
            raise NotSureError("a word that may become a primary of find")
        if word.known and word.text in _FIND_VALUED:
            value = next(rest, None)
            if value is None or value.many or (value.known and value.may_be_option and not _number(value)):
                raise NotSureError("a value of find that is not known")
        elif word.may_be_option and word.text not in _FIND_PLAIN:
            raise NotSureError(f"find {word.text[:40]} is not known to read only")


def _number(word: Word) -> bool:
    return word.known and re.fullmatch(r"[-+]?[0-9]+[bcwkMG]?", word.text) is not None


_SIGNATURE: Final = re.compile(r"%G")


def check_git_formats(given: Given) -> None:
    """Refuse formats that make git start a signature checker.

    Raises:
        NotSureError: A format with ``%G``, or one whose text is not known.
    """
    for name, value in given.options:
        if (
            name in {"--format", "--pretty"}
            and value is not None
            and (not value.known or _SIGNATURE.search(value.text))
        ):
            raise NotSureError("a git format that may start a program")
