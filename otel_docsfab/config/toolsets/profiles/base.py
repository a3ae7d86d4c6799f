"""What a profile is, and what several of them share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from otel_docsfab.config.toolsets.rules import ToolRule, progress, read


class Profile(NamedTuple):
    """The tools of one runtime, as data.

    Attributes:
        name: Its name in settings.
        about: The runtime, for people.
        rules: Its rules, the strongest first.
        ignore: Arguments that the runtime adds to any call and that change nothing about it.
    """

    name: str
    about: str
    rules: tuple[ToolRule, ...]
    ignore: frozenset[str] = frozenset()


EDITOR_VIEWS: Final[Mapping[str, tuple[object, ...]]] = {"command": ("view",)}
EDITOR_WRITES: Final[Mapping[str, tuple[object, ...]]] = {
    "command": ("create", "str_replace", "insert", "undo_edit", "delete", "rename")
}

# modelcontextprotocol/servers: src/filesystem/index.ts (tool names)
MCP_FILE_READS: Final = (
    "read_file",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "search_files",
    "get_file_info",
    "list_allowed_directories",
)
MCP_FILE_WRITES: Final = ("write_file", "edit_file", "create_directory", "move_file")


def behind(prefixes: tuple[str, ...], tools: tuple[str, ...]) -> tuple[str, ...]:
    """Globs for tools behind a prefix, such as ``mcp__*__read_file``."""
    return tuple(prefix + tool for prefix in prefixes for tool in tools)


def mcp_files(*prefixes: str) -> tuple[ToolRule, ...]:
    """Rules for the file tools of MCP servers as a runtime names them."""
    return (read(*behind(prefixes, MCP_FILE_READS)), progress(*behind(prefixes, MCP_FILE_WRITES)))


def editor(*tools: str, ignore: tuple[str, ...] = ()) -> tuple[ToolRule, ...]:
    """Rules for a text editor with a ``command`` argument."""
    return (
        read(*tools, when=EDITOR_VIEWS, ignore=ignore),
        progress(*tools, when=EDITOR_WRITES, ignore=ignore),
    )
