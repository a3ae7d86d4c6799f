"""Claude Code and the Claude Agent SDK."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import Profile, mcp_files
from otel_docsfab.config.toolsets.rules import ShellCall, neutral, progress, read, shell

# anthropics/claude-agent-sdk-typescript, package @anthropic-ai/claude-agent-sdk: sdk-tools.d.ts and sdk.d.ts
# (tool and argument names); LS, NotebookRead, MultiEdit, BashOutput, KillShell and AgentOutputTool:
# anthropics/claude-code, CHANGELOG.md (older versions).
CLAUDE_CODE: Final = Profile(
    "claude-code",
    "Claude Code and the Claude Agent SDK",
    (
        read("Read", "Grep", "Glob", "LS", "NotebookRead"),
        read("ReadMcpResourceTool", "ReadMcpResourceDirTool", "ListMcpResourcesTool"),
        progress("Edit", "Write", "MultiEdit", "NotebookEdit"),
        neutral("BashOutput", "TaskOutput", "AgentOutputTool", "KillShell", "KillBash", "TaskStop"),
        shell(
            "Bash",
            unless={"run_in_background": (True,)},
            call=ShellCall(command=("command",), directory=("cwd",), program=()),
        ),
        *mcp_files("mcp__*__"),
    ),
)
