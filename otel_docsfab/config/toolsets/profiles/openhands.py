"""OpenHands, the application and the software agent SDK."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import (
    MCP_FILE_READS,
    MCP_FILE_WRITES,
    Profile,
    editor,
)
from otel_docsfab.config.toolsets.rules import ShellCall, progress, read, shell

# All-Hands-AI/OpenHands: openhands/llm/tool_names.py and openhands/agenthub/codeact_agent/tools/str_replace_editor.py;
# OpenHands/software-agent-sdk: openhands-tools/openhands/tools/*/definition.py (tool and argument names). security_risk
# and summary are arguments that its SDK adds to any tool.
OPENHANDS: Final = Profile(
    "openhands",
    "OpenHands and its software agent SDK",
    (
        *editor("str_replace_editor", "file_editor", "planning_file_editor"),
        read("glob", "grep", "codebase_search", *MCP_FILE_READS),
        progress("edit_file", "edit", "replace", "apply_patch", *MCP_FILE_WRITES),
        shell(
            "execute_bash",
            "terminal",
            "bash",
            unless={"is_input": (True, "true"), "reset": (True, "true")},
            call=ShellCall(command=("command",), directory=(), program=()),
        ),
    ),
    ignore=frozenset({"security_risk", "summary"}),
)
