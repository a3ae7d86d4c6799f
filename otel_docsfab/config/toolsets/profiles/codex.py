"""Codex."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import Profile, mcp_files
from otel_docsfab.config.toolsets.rules import ShellCall, neutral, progress, read, shell

# openai/codex: codex-rs/core/src/tools/spec.rs and codex-rs/core/src/tools/handlers/shell_spec.rs (tool and argument
# names).
CODEX: Final = Profile(
    "codex",
    "Codex",
    (
        read("read_file", "list_dir", "grep_files", "view_image"),
        read("read_mcp_resource", "list_mcp_resources", "list_mcp_resource_templates"),
        progress("apply_patch"),
        neutral("write_stdin", "wait", "wait_agent", "update_plan", "view_output"),
        shell(
            "shell",
            "shell_command",
            "exec_command",
            "local_shell",
            "container.exec",
            call=ShellCall(command=("command", "cmd"), directory=("workdir", "working_directory"), program=("shell",)),
        ),
        *mcp_files("mcp__*__"),
    ),
)
