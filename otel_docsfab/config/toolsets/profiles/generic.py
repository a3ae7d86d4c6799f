"""Common names of file tools, for runtimes without a profile of their own."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import (
    MCP_FILE_READS,
    MCP_FILE_WRITES,
    Profile,
    behind,
    editor,
)
from otel_docsfab.config.toolsets.rules import neutral, progress, read, shell

_PREFIXES: Final = ("mcp__*__", "mcp_*_", "*__", "*-", "*.", "*/", "*:")
_READS: Final = (
    *MCP_FILE_READS,
    "read_files",
    "read_many_files",
    "read_file_range",
    "view_file",
    "open_file",
    "get_file_contents",
    "get_file",
    "list_dir",
    "list_files",
    "file_search",
    "find_files",
    "find_file",
    "glob_files",
    "glob_search",
    "grep_search",
    "grep_files",
    "search_code",
    "search_in_files",
    "codebase_search",
)
_WRITES: Final = (
    *MCP_FILE_WRITES,
    "create_file",
    "append_file",
    "append_to_file",
    "write_to_file",
    "replace_in_file",
    "insert_edit_into_file",
    "apply_patch",
    "apply_diff",
    "str_replace",
    "delete_file",
)

GENERIC: Final = Profile(
    "generic",
    "common names of file tools, editors with a command argument and shells, also behind MCP and plugin prefixes",
    (
        # platform.claude.com text editor tool: tool names and commands; also the names of OpenHands and SWE-agent
        *editor(
            "str_replace_editor",
            "str_replace_based_edit_tool",
            "str_replace_editor_tool",
            "text_editor",
            "file_editor",
            "editor",
        ),
        neutral("write_stdin", "process", "wait", "TaskOutput", "BashOutput", "get_terminal_output", "read_output"),
        read("read", "grep", "glob", "find", "ls", "view", *_READS, *behind(_PREFIXES, _READS)),
        progress("edit", "write", "multi_edit", "multiedit", *_WRITES, *behind(_PREFIXES, _WRITES)),
        shell(
            "bash",
            "sh",
            "shell",
            "terminal",
            "execute_bash",
            "run_bash",
            "run_shell_command",
            "run_command",
            "run_in_terminal",
            "run_terminal_cmd",
            "execute_command",
            "exec_command",
            "shell_command",
            "local_shell",
            unless={
                "is_background": (True,),
                "isBackground": (True,),
                "background": (True,),
                "run_in_background": (True,),
                "is_input": (True, "true"),
            },
        ),
    ),
)
