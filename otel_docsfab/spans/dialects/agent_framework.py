"""Microsoft agent-framework: the GenAI conventions; agent and model spans show nothing but their names at the start."""

from __future__ import annotations

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.kinds import SEMCONV_NAMES
from otel_docsfab.spans.dialects.sources import Source


class AgentFramework(Family):
    """Native spans of agent-framework."""

    name = "agent_framework"
    scopes = frozenset({"agent_framework"})
    span_names = SEMCONV_NAMES
    arguments = (Source(ARGUMENTS_KEY),)
    results = (Source(RESULT_KEY),)
