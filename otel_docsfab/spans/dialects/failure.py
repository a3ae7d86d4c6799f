"""Whether a call failed: any one signal is enough."""

from __future__ import annotations

from typing import Final

from otel_docsfab.spans.dialects.values import text_of
from otel_docsfab.spans.view import SpanView

_SIGNALS: Final = (("gen_ai.tool.status", "error"), ("gen_ai.task.status", "failure"))


def failed(view: SpanView) -> bool:
    """Whether the span itself tells a failure: status, ``error.type``, an exception event or a runtime's own sign."""
    if view.error:
        return True
    attributes = view.attributes
    if attributes.get("error.type") is not None or attributes.get("haystack.tool.error") is True:
        return True
    for key, value in _SIGNALS:
        if key in attributes and text_of(attributes[key]) == value:
            return True
    events = view.events
    return bool(events) and any(text_of(event.name) == "exception" for event in events)
