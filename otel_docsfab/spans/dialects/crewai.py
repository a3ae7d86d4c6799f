"""CrewAI through OpenInference (wrappers or event listener) and traceloop, which shows no tools."""

from __future__ import annotations

from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.values import text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView


class CrewAi(OpenInferenceFamily):
    """OpenInference's spans of CrewAI."""

    name = "crewai"
    scopes = frozenset({"openinference.instrumentation.crewai", "openinference.instrumentation.crewai._event_listener"})


class CrewAiTraceloop(OpenInferenceFamily):
    """Crew, task and agent all claim to be agents; the agent is one."""

    name = "crewai_traceloop"
    scopes = frozenset({"opentelemetry.instrumentation.crewai", "opentelemetry.instrumentation.crewai.instrumentation"})
    name_affixes = (".agent",)

    def role(self, view: SpanView) -> Role | None:
        """As conventions say, crews and tasks apart."""
        role = super().role(view)
        if role is Role.AGENT and text_of(view.attributes.get("traceloop.span.kind")) != "agent":
            return None
        return role
