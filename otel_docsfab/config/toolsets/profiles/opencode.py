"""opencode."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.toolsets.profiles.base import Profile, mcp_files
from otel_docsfab.config.toolsets.rules import ShellCall, progress, read, shell

# anomalyco/opencode (before: sst/opencode): packages/opencode/src/tool/registry.ts, read.ts, apply_patch.ts,
# shell/id.ts (tool and argument names); list, multiedit and patch: the same folder of older versions.
OPENCODE: Final = Profile(
    "opencode",
    "opencode",
    (
        read("read", "glob", "grep", "list"),
        progress("edit", "write", "multiedit", "patch", "apply_patch"),
        shell(
            "bash",
            unless={"background": (True,)},
            call=ShellCall(command=("command",), directory=("workdir",), program=()),
        ),
        *mcp_files("*_"),
    ),
)
