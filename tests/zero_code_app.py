"""An application that knows nothing of this package: an agent reads one file again and again, and shows its spans."""

import json
import sys

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = trace.get_tracer_provider()
if "own-provider" in sys.argv:
    provider = TracerProvider()
    trace.set_tracer_provider(provider)
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = trace.get_tracer("some.runtime")
READ = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "read",
    "gen_ai.tool.call.arguments": '{"path": "a.md"}',
    "gen_ai.tool.call.result": "same",
}
with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
    for _ in range(19):
        with tracer.start_as_current_span("chat", attributes={"gen_ai.operation.name": "chat"}):
            pass
        with tracer.start_as_current_span("execute_tool read", attributes=READ):
            pass
agents = [span for span in exporter.get_finished_spans() if span.name == "invoke_agent"]
json.dump([dict(span.attributes) for span in agents], sys.stdout)
