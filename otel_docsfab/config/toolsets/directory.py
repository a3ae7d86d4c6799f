"""The working directory in the identity of a call.

``read README.md`` is another call in another directory. A directory belongs to the identity where it is known: a
``cwd``-like argument of the call is part of the arguments anyway; the directory of the toolset is added as ``cwd``
when the call's paths are relative or it names none. Absolute paths stay as they are, so that the same file stays the
same call. Nothing is looked up on disk and no ``..`` is folded: two spellings of one place are two calls, which errs
on the side of delivery.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

DIRECTORY_ARGUMENTS: Final = ("cwd", "workdir", "working_directory")
"""Arguments that name the directory of a call, whatever the tool."""
_PATH_ARGUMENTS: Final = (
    "path",
    "paths",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "files",
    "filename",
    "file_name",
    "absolute_path",
    "target_file",
    "notebook_path",
    "relative_path",
    "directory",
    "dir_path",
    "dir",
    "uri",
)
_ABSOLUTE: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z0-9+.-]*://")


def is_absolute(path: str) -> bool:
    """Whether a path means the same in every directory (Windows drives, home and URIs included)."""
    return _ABSOLUTE.match(path) is not None


def join(base: str | None, directory: str | None) -> str | None:
    """A directory under a base, by their texts only.

    Args:
        base: Directory of the toolset; None when unknown.
        directory: Directory of the call; None when it names none.

    Returns:
        What is known; None when nothing is.
    """
    if not directory:
        return base
    if base is None or is_absolute(directory):
        return directory
    return f"{base.rstrip('/')}/{directory}"


def with_directory(arguments: Mapping[str, object], base: str) -> Mapping[str, object]:
    """The arguments of a file tool, with the directory where it matters.

    Args:
        arguments: Arguments of the call.
        base: Directory of the toolset.

    Returns:
        The same mapping, or a new one with ``cwd``.
    """
    own = next((value for name in DIRECTORY_ARGUMENTS if isinstance(value := arguments.get(name), str) and value), None)
    if own is not None and is_absolute(own):
        return arguments
    paths = [path for name in _PATH_ARGUMENTS if name in arguments for path in _paths(arguments[name])]
    if paths and all(is_absolute(path) for path in paths):
        return arguments
    return {**arguments, "cwd": join(base, own)}


def _paths(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Mapping):
        inner = value.get("path")
        return [inner] if isinstance(inner, str) else [""]
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [path for item in value for path in (_paths(item) or [""])] if len(value) <= 64 else [""]  # noqa: PLR2004 - more paths than one call names
    return []
