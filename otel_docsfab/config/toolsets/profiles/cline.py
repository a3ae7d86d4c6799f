"""Cline and its descendant Roo Code."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import MCP_FILE_READS, MCP_FILE_WRITES, Profile, mcp_files
from otel_docsfab.config.toolsets.rules import ShellCall, neutral, progress, read, shell

# cline/cline: src/shared/tools.ts; RooCodeInc/Roo-Code: packages/types/src/tool.ts and src/shared/tools.ts (tool and
# argument names). task_progress is an argument that Cline adds to any tool.
_RULES: Final = (
    read(
        "read_file", "list_files", "search_files", "list_code_definition_names", "codebase_search", "fetch_instructions"
    ),
    read("access_mcp_resource"),
    read("use_mcp_tool", when={"tool_name": MCP_FILE_READS}),
    progress("use_mcp_tool", when={"tool_name": MCP_FILE_WRITES}),
    progress(
        "write_to_file",
        "write_file",
        "replace_in_file",
        "apply_diff",
        "apply_patch",
        "insert_content",
        "search_and_replace",
        "search_replace",
        "edit_file",
        "edit_file_roo",
        "edit_file_anthropic",
        "edit_file_grok",
        "edit_file_gemini",
        "edit_file_codex",
    ),
    neutral("read_command_output", "browser_action"),
    shell("execute_command", call=ShellCall(command=("command",), directory=("cwd",), program=())),
    *mcp_files("mcp_*_", "mcp--*--"),
)
_IGNORE: Final = frozenset({"task_progress"})

CLINE: Final = Profile("cline", "Cline", _RULES, _IGNORE)
ROO: Final = Profile("roo", "Roo Code", _RULES, _IGNORE)
