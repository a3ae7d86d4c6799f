"""AutoGen: native spans never carry content; OpenInference's outer span of a call does, but calls failures OK."""

from __future__ import annotations

from otel_docsfab.spans.dialects.kinds import SEMCONV_NAMES
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily


class AutoGen(OpenInferenceFamily):
    """Both spans of a call; they are folded by whoever sees them both."""

    name = "autogen"
    scopes = frozenset({"autogen-core", "openinference.instrumentation.autogen_agentchat"})
    span_names = SEMCONV_NAMES
    name_affixes = (*OpenInferenceFamily.name_affixes, ".on_messages_stream", ".on_messages")
