"""Shell commands: a read only when it surely only reads.

Needs the extra ``[shell]``. A false read is the worst outcome (a result might be withheld whose command was run for its
effect), a neutral is always safe; so everything is a white list: the nodes of the tree, the characters of a word, the
programs, their options, the commands of sed. What no list names is neutral.

What cannot be seen from a command is out of reach: aliases and functions that an earlier command defined in the same
shell, programs that somebody put under a well-known name, text converters that the user's git configuration starts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from otel_docsfab.config.toolsets.shell.parser import language
from otel_docsfab.config.toolsets.shell.reads import surely_reads
from otel_docsfab.config.toolsets.shell.words import NotSureError
from otel_docsfab.config.toolsets.shell.writes import surely_writes

CACHED_COMMANDS: Final = 1024
CACHED_CHARACTERS: Final = 2048
"""Longer commands are judged anew each time, so that the cache stays below a few MB."""


class Judged(NamedTuple):
    """What a command surely does.

    Attributes:
        reads: It only reads, and does read.
        writes: It surely writes a file.
        reason: Why, for people; holds no argument but names of programs and options.
    """

    reads: bool
    writes: bool
    reason: str


def require_parser() -> None:
    """Load the parser.

    Raises:
        ConfigError: The extra ``[shell]`` is not installed.
    """
    language()


def judge(command: str) -> Judged:
    """Judge a shell command; never raises once the parser is there.

    Args:
        command: The command text.

    Returns:
        What it surely does.
    """
    return _cached(command) if len(command) <= CACHED_CHARACTERS else _judge(command)


def _judge(command: str) -> Judged:
    try:
        if surely_reads(command):
            return Judged(reads=True, writes=False, reason="surely only reads")
        reason = "reads nothing"
    except NotSureError as refusal:
        reason = str(refusal)
    except RecursionError:
        return Judged(reads=False, writes=False, reason="a command nested too deeply")
    try:
        writes = surely_writes(command)
    except (NotSureError, RecursionError):
        writes = None
    return Judged(reads=False, writes=writes is not None, reason=writes or reason)


_cached = lru_cache(maxsize=CACHED_COMMANDS)(_judge)
