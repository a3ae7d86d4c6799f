"""Agno through OpenInference."""

from __future__ import annotations

from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily


class Agno(OpenInferenceFamily):
    """The hook that replaces a result runs inside the span: what the span shows is what the model gets."""

    name = "agno"
    scopes = frozenset({"openinference.instrumentation.agno"})
    conversation_keys = (*OpenInferenceFamily.conversation_keys, "agno.run.id")
