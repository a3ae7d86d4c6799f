"""DSPy through OpenInference: the tool's name is the span's, values are JSON, ``finish`` is the answer."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import keyword_arguments
from otel_docsfab.spans.dialects.envelopes import json_value
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.observation import Role


class DsPy(OpenInferenceFamily):
    """A ReAct module is the agent."""

    name = "dspy"
    scopes = frozenset({"openinference.instrumentation.dspy"})
    span_names = (("ReAct.forward", Role.AGENT), ("ReAct.aforward", Role.AGENT))
    name_affixes = (".__call__", ".acall", ".aforward", ".forward")
    arguments = (Source("input.value", keyword_arguments),)
    results = (Source("output.value", json_value, mime="output.mime_type"),)
