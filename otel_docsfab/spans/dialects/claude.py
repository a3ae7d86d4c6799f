"""Claude: the Agent SDK through OpenInference, and the command line's own telemetry."""

from __future__ import annotations

from otel_docsfab.spans.dialects.envelopes import claude_response
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.sources import Source, read_first
from otel_docsfab.spans.dialects.values import ARGUMENTS, RESULT, Content, text_of
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.view import SpanView

_EXECUTION = "claude_code.tool.execution"
_TRUNCATED = "[TRUNCATED - Content exceeds"
_TELLING_TOOLS = {"Read": ("file_path", "file_path"), "Bash": ("full_command", "command")}
"""Tools whose one ad hoc attribute stands for the arguments. Never those that change files: two different edits of one
file would look the same, and an edit with unknown arguments counts as new."""


class ClaudeAgentSdk(OpenInferenceFamily):
    """The result is the structured response, not the text that the model sees."""

    name = "claude"
    scopes = frozenset({"openinference.instrumentation.claude_agent_sdk"})
    name_affixes = (".query",)
    results = (Source("output.value", claude_response, mime="output.mime_type"),)


def _whole(value: object) -> Content:
    """Output longer than the exporter allows ends with a mark."""
    if isinstance(value, str) and _TRUNCATED in value[-200:]:
        return Content(None, RESULT.cut)
    return Content(value)


class ClaudeCode(Family):
    """A tool span and a child that executes it; only the child says that it failed, only the parent has content.

    Without the tool's input in a span, the line range of a read is not known.
    """

    name = "claude_code"
    scopes = frozenset({"com.anthropic.claude_code.tracing"})
    tool_keys = ("gen_ai.tool.name", "tool_name")
    call_id_keys = ("gen_ai.tool.call.id", "tool_use_id")
    arguments = (Source("gen_ai.tool.call.arguments"), Source("tool_input"))
    results = (Source("gen_ai.tool.call.result"), Source("content", _whole, event="tool.output"))

    def role(self, view: SpanView) -> Role | None:
        """As conventions say; the executing child is a tool span too, to be folded into its parent by the call id."""
        return Role.TOOL if view.name == _EXECUTION else super().role(view)

    def bare_name(self, name: str) -> str:  # noqa: ARG002 - one signature for all families
        """The span's name says nothing of the tool."""
        return ""

    def read_content(self, view: SpanView) -> tuple[Content, Content]:
        """Arguments of the tools that tell them in one attribute of their own."""
        arguments, result = super().read_content(view)
        telling = _TELLING_TOOLS.get(self.tool_name(view))
        if arguments.reason is ARGUMENTS.not_captured and telling is not None:
            key, argument = telling
            told = read_first(view, (Source(key, Content),), ARGUMENTS)
            arguments = told if told.reason is not None else Content({argument: told.value})
        return arguments, result

    def read_tool(self, view: SpanView) -> Observation:
        """A failure of the execution is told in words too."""
        observation = super().read_tool(view)
        success = view.attributes.get("success")
        if success is False or text_of(success) == "false":
            return observation._replace(ok=False)
        return observation
