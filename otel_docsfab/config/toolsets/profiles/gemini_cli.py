"""Gemini CLI."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import Profile, mcp_files
from otel_docsfab.config.toolsets.rules import ShellCall, neutral, progress, read, shell

# google-gemini/gemini-cli: packages/core/src/tools/definitions/base-declarations.ts (tool and argument names);
# search_file_content: packages/core/src/tools/grep.ts of older versions; MCP names: packages/core/src/tools/mcp-
# tool.ts.
GEMINI_CLI: Final = Profile(
    "gemini-cli",
    "Gemini CLI",
    (
        read("read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"),
        read("get_internal_docs"),
        progress("write_file"),
        progress("replace", ignore=("instruction",)),
        neutral("google_web_search", "web_fetch", "write_todos", "save_memory"),
        shell(
            "run_shell_command",
            unless={"is_background": (True,)},
            call=ShellCall(command=("command",), directory=("dir_path", "directory"), program=()),
        ),
        *mcp_files("mcp_*_", "*__"),
    ),
)
