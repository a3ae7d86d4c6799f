"""What a hook of the Claude Agent SDK answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Shape:
    """The program's answers to a result: context beside it, or another output of the tool's own shape."""

    def __init__(self, given: dict[str, Any]) -> None:
        """For the result of this call."""
        self._given = given

    def with_notice(self, result: Any, notice: str) -> Any:  # noqa: ARG002 - a shape's signature
        return output(self._given, additionalContext=notice)

    def notice_only(self, result: Any, notice: str) -> Any:  # noqa: ARG002 - as above
        return output(self._given, updatedToolOutput=self.replaced(notice))

    def replaced(self, notice: str) -> Any:
        """The tool's output with the notice in place of its content; None where its shape is not known."""
        result = self._given.get("tool_response")
        if str(self._given.get("tool_name", "")).startswith("mcp__"):
            return [{"type": "text", "text": notice}] if isinstance(result, list) else notice
        if not isinstance(result, Mapping):
            return None
        file = result.get("file")
        if result.get("type") == "text" and isinstance(file, Mapping):
            return {**result, "file": {**file, "content": notice, "numLines": 1, "startLine": 1, "totalLines": 1}}
        if isinstance(result.get("stdout"), str):
            return {**result, "stdout": notice, "stderr": ""}
        if result.get("mode") == "content" and isinstance(result.get("content"), str):
            return {**result, "content": notice, "numLines": 1}
        return None


def output(given: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": given["hook_event_name"], **fields}}
