"""OpenAI Agents through OpenTelemetry's own, traceloop's, the v2 and OpenInference's instrumentation."""

from __future__ import annotations

from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.sources import Source, first_text
from otel_docsfab.spans.dialects.values import text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView


class OpenAiAgents(OpenInferenceFamily):
    """A cancelled tool ends with arguments, without result and without status: it did not succeed.

    The workflow around the agents also claims to be an agent; it is none, it has no context of its own.
    """

    name = "openai_agents"
    scopes = frozenset(
        {
            "opentelemetry.instrumentation.genai.openai_agents",
            "opentelemetry.instrumentation.openai_agents",
            "openinference.instrumentation.openai_agents",
        }
    )
    arguments = (Source(ARGUMENTS_KEY), Source("input.value"))
    results = (Source(RESULT_KEY), Source("output.value"))
    name_affixes = (*OpenInferenceFamily.name_affixes, ".agent")
    silence_is_failure = True

    def role(self, view: SpanView) -> Role | None:
        """As conventions say, workflows apart."""
        role = super().role(view)
        if role is Role.AGENT and first_text(view.attributes, self.agent_keys) is None:
            return None
        if role is None and view.name == "turn" and text_of(view.attributes.get("openinference.span.kind")) == "CHAIN":
            return Role.TURN
        return role

    def role_at_start(self, view: SpanView) -> Role | None:
        """OpenInference names the agent late: at the start only the root is known to be a workflow."""
        role = super().role_at_start(view)
        if role is None and not view.is_root and text_of(view.attributes.get("openinference.span.kind")) == "AGENT":
            return Role.AGENT
        return role
