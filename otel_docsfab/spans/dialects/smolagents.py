"""smolagents through OpenInference: a span is named after the tool's class, a step is a turn."""

from __future__ import annotations

from otel_docsfab.spans.dialects.arguments import keyword_arguments
from otel_docsfab.spans.dialects.openinference import OpenInferenceFamily
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.dialects.values import text_of
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import SpanView


class Smolagents(OpenInferenceFamily):
    """Tool-calling and code agents; the latter pass arguments by position."""

    name = "smolagents"
    scopes = frozenset({"openinference.instrumentation.smolagents"})
    arguments = (Source("input.value", keyword_arguments),)

    def role(self, view: SpanView) -> Role | None:
        """A step is a turn."""
        role = super().role(view)
        if role is None and view.name.startswith("Step ") and _is_chain(view):
            return Role.TURN
        return role


def _is_chain(view: SpanView) -> bool:
    return text_of(view.attributes.get("openinference.span.kind")) == "CHAIN"
