"""An application under load: told over standard input how many spans to make, it answers with a line of JSON."""

import json
import resource
import sys

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

RESULT = "content " * 1024


def main() -> None:
    """Serve until standard input ends."""
    endpoint = sys.argv[1]
    of = Resource({"service.name": "load", "service.instance.id": "load-1"})
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint, insecure=True, timeout=2), 500)
    meters = MeterProvider([reader], of, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=True, timeout=2, meter_provider=meters)
    spans = BatchSpanProcessor(exporter, schedule_delay_millis=100, meter_provider=meters)
    provider = TracerProvider(resource=of, shutdown_on_exit=False, meter_provider=meters)
    provider.add_span_processor(spans)
    tracer = provider.get_tracer("load")
    ended = 0
    for line in sys.stdin:
        for number in range(int(line)):
            with tracer.start_as_current_span("execute_tool read") as span:
                # Another string object each time, as results are.
                span.set_attribute("gen_ai.tool.call.result", f"{number}{RESULT}")
            ended += 1
        rss_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"ended": ended, "rss_mib": rss_kib / 1024}), flush=True)  # noqa: T201 - its protocol


if __name__ == "__main__":
    main()
