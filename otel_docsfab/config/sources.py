"""Limits as text: the limits file and the environment."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from otel_docsfab.config.names import LIMIT_PREFIXES, find_limit, nearest_limit
from otel_docsfab.config.values import (
    DEFAULT_LIMITS_FILE,
    LIMITS_FILE_VARIABLE,
    Ignored,
    Setting,
    printable,
    printable_text,
)
from otel_docsfab.core.limits import LimitSpec
from otel_docsfab.errors import ConfigError, LimitError

MAX_FILE_BYTES = 1_048_576
"""A configuration file larger than this is none; bytes."""

_MOST_DIGITS = 32


class Reading(NamedTuple):
    """What one source says.

    Attributes:
        values: Dotted limit name to value and source.
        ignored: Keys that name no limit.
    """

    values: Mapping[str, Setting]
    ignored: tuple[Ignored, ...] = ()


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a small regular file, without a byte order mark.

    A pipe or a device is refused unopened: reading one could hang the host.

    Raises:
        OSError: It cannot be read or is no regular file.
        ValueError: It is too large, no UTF-8, or the path itself cannot be one.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a Path cannot be made of every text that is given
        raise OSError("no regular file")
    with Path(path).open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES} bytes")
    return data.decode("utf-8-sig")


def parse_number(text: str, spec: LimitSpec, source: str) -> int:
    """A limit's value from text: ASCII digits and nothing else.

    Raises:
        LimitError: It is no whole number in the limit's range.
    """
    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return spec.check(int(text), source)
    raise LimitError(spec.name, text, source, spec.allowed)


def parse_limits(text: str, path: str) -> Reading:
    """Limits from the text of a limits file.

    ``KEY=value`` lines; the key is a limit's dotted name or its variable, the last line of a limit wins. Blank lines
    and lines that begin with ``#`` are skipped, unknown keys are ignored and listed.

    Args:
        text: Text of the file.
        path: Where it stands, for sources and errors.

    Raises:
        LimitError: A limit's value is refused, be it on a line that a later one overrides.

    Source: SPEC section 2.
    """
    values: dict[str, Setting] = {}
    ignored: list[Ignored] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        where = f"file {path}:{number}"
        spec = find_limit(key)
        if spec is None:
            # What stands before a missing "=" may be half of somebody's secret: it is not repeated.
            shown = printable(key)[1:-1] if equals else f"line {number}"
            ignored.append(Ignored(shown, where, "no limit" + nearest_limit(key) if equals else "no KEY=value line"))
            continue
        if spec.name in values:
            ignored.append(Ignored(key, values[spec.name].source, f"set again on line {number}"))
        values[spec.name] = Setting(parse_number(value, spec, where), where)
    return Reading(values, tuple(ignored))


def read_limits_file(environ: Mapping[str, str]) -> Reading:
    """Limits from the host's limits file.

    A missing default file is simply absent. Any other file that cannot be read is skipped with one line on stderr.

    Args:
        environ: ``DOCSFAB_SERVICE_ENV_FILE`` names the file, else it is ``/etc/docsfab/service.env``.

    Raises:
        LimitError: A limit's value is refused.

    Source: SPEC section 2.
    """
    named = environ.get(LIMITS_FILE_VARIABLE)
    path = named or DEFAULT_LIMITS_FILE
    try:
        text = read_text(path)
    except FileNotFoundError as error:
        if not named:
            return Reading({})
        reason: Exception = error
    except (OSError, ValueError) as error:
        reason = error
    else:
        return parse_limits(text, printable_text(path))
    why = getattr(reason, "strerror", None) or str(reason)
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr may be closed or missing
        sys.stderr.write(f"otel-docsfab: host-limits-file-unreadable: {printable_text(path)} is skipped: {why}\n")
    return Reading({}, (Ignored("(whole file)", f"file {printable_text(path)}", f"unreadable: {why}"),))


def read_environment(environ: Mapping[str, str]) -> Reading:
    """Limits from ``DOCSFAB_`` variables.

    Raises:
        LimitError: A limit's value is refused.

    Source: SPEC section 2.
    """
    values: dict[str, Setting] = {}
    ignored: list[Ignored] = []
    for key in sorted(key for key in environ if key.startswith(LIMIT_PREFIXES)):
        where = f"environment {printable(key, 120)[1:-1]}"
        spec = find_limit(key)
        if spec is None:
            ignored.append(Ignored(printable(key)[1:-1], "environment", "no limit" + nearest_limit(key)))
        else:
            values[spec.name] = Setting(parse_number(environ[key].strip(), spec, where), where)
    return Reading(values, tuple(ignored))


def parse_options(options: Iterable[str], option: str = "--limit") -> dict[str, int]:
    """Limits from ``NAME=VALUE`` options of a command.

    Args:
        options: Texts such as ``execution.toolCallCeiling=100``.
        option: The option's name, for errors.

    Raises:
        ConfigError: An option is no ``NAME=VALUE`` or names no limit.
        LimitError: A value is refused.
    """
    values: dict[str, int] = {}
    for text in options:
        name, _, value = (part.strip() for part in text.partition("="))
        spec = find_limit(name)
        if spec is None:
            raise ConfigError(f"{option} {printable(text)}: no such limit{nearest_limit(name)}; give NAME=VALUE")
        values[spec.name] = parse_number(value, spec, f"option {option}")
    return values
