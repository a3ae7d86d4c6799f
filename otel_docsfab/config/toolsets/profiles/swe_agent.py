"""SWE-agent."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import Profile, editor
from otel_docsfab.config.toolsets.rules import ShellCall, neutral, progress, read, shell

# SWE-agent/SWE-agent: tools/edit_anthropic/config.yaml, tools/search/config.yaml, tools/filemap, tools/windowed/bin,
# tools/windowed_edit_*/bin, tools/image_tools/bin, sweagent/tools/commands.py (tool and argument names). goto and
# scroll move a window whose file no argument names.
SWE_AGENT: Final = Profile(
    "swe-agent",
    "SWE-agent",
    (
        *editor("str_replace_editor"),
        read("open", "find_file", "search_dir", "search_file", "filemap", "view_image"),
        progress("edit", "insert", "create"),
        neutral("goto", "scroll_up", "scroll_down", "submit"),
        shell("bash", call=ShellCall(command=("command",), directory=(), program=())),
    ),
)
