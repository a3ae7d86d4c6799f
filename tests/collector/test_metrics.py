"""Metrics of an application come out of the agent under the catalogue's names and labels, and nothing else does."""

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from otel_docsfab.catalogue.metric import Kind
from otel_docsfab.catalogue.metrics import METRICS
from tests.services.loopback import fetch, wait_until

pytestmark = pytest.mark.service

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
VALUE = 7


def record(meter, metric, attributes):
    """One value through a real instrument of the metric's kind."""
    about = {"unit": metric.unit, "description": metric.description}
    if metric.kind is Kind.COUNTER:
        meter.create_counter(metric.name, **about).add(VALUE, attributes)
    elif metric.kind is Kind.GAUGE:
        meter.create_gauge(metric.name, **about).set(VALUE, attributes)
    else:
        bounds = {"explicit_bucket_boundaries_advisory": metric.bounds}
        meter.create_histogram(metric.name, **about, **bounds).record(VALUE, attributes)


def labels_of(metric):
    return {label.name: label.values[0] if label.values else "sample" for label in metric.labels}


@pytest.fixture(scope="module")
def scraped(chain):
    """What the agent shows after every metric of the catalogue was sent once, in both formats."""
    exporter = OTLPMetricExporter(endpoint=f"http://127.0.0.1:{chain.agent.grpc}", insecure=True)
    resource = Resource({"service.name": "app", "service.instance.id": "app-1", "process.command_line": "SECRET"})
    provider = MeterProvider([PeriodicExportingMetricReader(exporter)], resource, shutdown_on_exit=False)
    meter = provider.get_meter("otel_docsfab", "1.2.3")
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("attempt")
    with tracer.start_as_current_span("invoke_agent reader") as span:
        for metric in METRICS:
            record(meter, metric, labels_of(metric))
        meter.create_counter("docsfab.retries").add(
            1, {"prompt": "SECRET", "reason": "read-loop", "outcome": "answered"}
        )
        meter.create_counter("gen_ai.client.of.another").add(1, {"prompt": "SECRET"})
    provider.shutdown()
    wait_until("our metrics at the agent", lambda: "docsfab_" in fetch(chain.agent.prometheus, "/metrics"))
    text, exemplars = (fetch(chain.agent.prometheus, "/metrics", accept) for accept in ("text/plain", OPENMETRICS))
    return text, exemplars, trace.format_trace_id(span.get_span_context().trace_id)


def samples(text):
    families = text_string_to_metric_families(text)
    return [sample for family in families for sample in family.samples if sample.name.startswith("docsfab_")]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_it_has_the_catalogues_name_labels_value_and_bounds(scraped, metric):
    wanted = {**labels_of(metric), "job": "app", "instance": "app-1"}
    found = [sample for sample in samples(scraped[0]) if sample.name in metric.series_names]
    found = [sample for sample in found if wanted.items() <= sample.labels.items()]
    assert {sample.name for sample in found} == set(metric.series_names)
    assert all(set(sample.labels) - {"le"} == set(wanted) for sample in found)
    values = {sample.name: sample.value for sample in found if "le" not in sample.labels}
    if metric.kind is not Kind.HISTOGRAM:
        assert values == {metric.prometheus_name: VALUE}
        return
    assert values == {f"{metric.prometheus_name}_sum": VALUE, f"{metric.prometheus_name}_count": 1}
    assert [float(sample.labels["le"]) for sample in found if "le" in sample.labels] == [*metric.bounds, float("inf")]


def test_no_other_metric_scope_label_or_content_comes_with_them(scraped):
    text = scraped[0]
    known = {name for metric in METRICS for name in metric.series_names}
    assert {sample.name for sample in samples(text)} == known
    assert "otel_scope" not in text
    assert "SECRET" not in text
    assert "of_another" not in text


def test_exemplars_lead_to_the_trace(scraped):
    found = [
        sample.exemplar.labels["trace_id"]
        for family in openmetrics.text_string_to_metric_families(scraped[1])
        for sample in family.samples
        if sample.name.startswith("docsfab_") and sample.exemplar
    ]
    assert set(found) == {scraped[2]}
