"""THE list of metrics, span attributes and log events, as data.

Recorders, reference page, dashboards, alerts and conformance tests are made from it; nothing of it is written twice.
"""

from otel_docsfab.catalogue.attributes import SPAN_ATTRIBUTES, Label, SpanAttribute
from otel_docsfab.catalogue.events import LOG_EVENTS, LogEvent
from otel_docsfab.catalogue.metric import Kind, Metric, Recorded, Stability, Zero
from otel_docsfab.catalogue.metrics import BY_NAME, METRICS

__all__ = [
    "BY_NAME",
    "LOG_EVENTS",
    "METRICS",
    "SPAN_ATTRIBUTES",
    "Kind",
    "Label",
    "LogEvent",
    "Metric",
    "Recorded",
    "SpanAttribute",
    "Stability",
    "Zero",
]
