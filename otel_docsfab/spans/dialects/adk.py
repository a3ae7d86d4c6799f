"""Google ADK: native spans in both schemas, alone or with OpenInference's keys on the same spans."""

from __future__ import annotations

from otel_docsfab.core import Unjudged
from otel_docsfab.spans.dialects.envelopes import adk_function_response, adk_response
from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source, read_first
from otel_docsfab.spans.dialects.values import ARGUMENTS, RESULT, Content, text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView

_OLD_ARGUMENTS = "gcp.vertex.agent.tool_call_args"
_OLD_RESULT = "gcp.vertex.agent.tool_response"
_NAMES = (
    ("execute_tool ", Role.TOOL),
    ("invoke_agent ", Role.AGENT),
    ("generate_content ", Role.MODEL),
    ("call_llm", Role.MODEL),
)


class Adk(Family):
    """The name decides first: with OpenInference an agent span ends with the attributes of its last model request."""

    name = "adk"
    scopes = frozenset({"gcp.vertex.agent", "openinference.instrumentation.google_adk"})
    span_names = _NAMES
    arguments = (Source(ARGUMENTS_KEY), Source(_OLD_ARGUMENTS), Source("input.value"))
    results = (
        Source(RESULT_KEY, adk_response),
        Source(_OLD_RESULT, adk_response),
        Source("output.value", adk_function_response, mime="output.mime_type"),
    )
    conversation_keys = (*Family.conversation_keys, "gcp.vertex.agent.session_id")

    def role(self, view: SpanView) -> Role | None:
        """By name, then as conventions say."""
        return self.role_by_name(view.name) or super().role(view)

    def read_content(self, view: SpanView) -> tuple[Content, Content]:
        """The older schema writes ``{}`` for both when content is off."""
        attributes = view.attributes
        off = text_of(attributes.get(_OLD_ARGUMENTS)) == "{}" == text_of(attributes.get(_OLD_RESULT))
        if not off:
            return super().read_content(view)
        arguments = read_first(view, (self.arguments[0], self.arguments[2]), ARGUMENTS)
        result = read_first(view, (self.results[0], self.results[2]), RESULT)
        return _or_placeholder(arguments, ARGUMENTS.placeholder), _or_placeholder(result, RESULT.placeholder)


def _or_placeholder(content: Content, reason: Unjudged) -> Content:
    return content if content.reason is None else Content(None, reason, content.failed)
