"""A small runtime that emits real spans, for tests of the processor."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.trace import StatusCode

from otel_docsfab import ReadLoopSpanProcessor, Supervisor
from otel_docsfab.testing import ManualClock, MemorySink

UNKNOWN = object()


class Runtime:
    """A provider with the processor, and one method for each kind of span that an agent runtime makes."""

    def __init__(
        self, *, scope="some.runtime", processor: Any = None, span_limits: SpanLimits | None = None, **options
    ):
        self.sink, self.clock = MemorySink(), ManualClock()
        sinks = options.pop("sinks", [self.sink])
        interrupt = {key: options.pop(key) for key in ("interrupt", "strict") if key in options}
        self.supervisor = Supervisor(sinks=sinks, clock=self.clock, **{"mode": "enforce", **options})
        self.processor = ReadLoopSpanProcessor(self.supervisor, **interrupt)
        self.provider = TracerProvider(span_limits=span_limits)
        self.provider.add_span_processor(self.processor)
        self.tracer = self.provider.get_tracer(scope)

    @contextmanager
    def span(self, name, **attributes):
        with self.tracer.start_as_current_span(name, attributes=keys(attributes)) as span:
            yield span

    def agent(self, name="reader", **more):
        return self.span("invoke_agent", gen_ai__operation__name="invoke_agent", gen_ai__agent__name=name, **more)

    def start_tool(self, tool="read", parent=None, **more):
        context = None if parent is None else trace.set_span_in_context(parent)
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool} | keys(more)
        return self.tracer.start_span(f"execute_tool {tool}", context, attributes=attributes)

    @contextmanager
    def tool(self, tool="read", result="same", *, arguments='{"path": "a.md"}', **more):
        """A tool span around the tool's body, which may be empty."""
        with self.span(
            f"execute_tool {tool}", gen_ai__operation__name="execute_tool", gen_ai__tool__name=tool, **more
        ) as span:
            yield span
            if arguments is not UNKNOWN:
                span.set_attribute("gen_ai.tool.call.arguments", arguments)
            if result is not UNKNOWN:
                span.set_attribute("gen_ai.tool.call.result", result)

    def call(self, tool="read", result="same", **more):
        with self.tool(tool, result, **more):
            pass

    def model(self, *, calls=False, reason=None, error=False, **more):
        """A model request and its response."""
        with self.span("chat", gen_ai__operation__name="chat", **more) as span:
            finish = reason or ("tool_calls" if calls else "stop")
            span.set_attribute("gen_ai.response.finish_reasons", (finish,))
            if error:
                span.set_status(StatusCode.ERROR)

    def turn(self, *calls):
        """A response and the calls it asked for, one after another; each is (tool, result) or a path to read."""
        self.model(calls=True)
        for call in calls or ("a.md",):
            tool, result, path = ("read", "same", call) if isinstance(call, str) else (*call, "a.md")
            self.call(tool, result, arguments=f'{{"path": "{path}", "text": "{result}"}}')

    def loop(self, turns=18):
        for _ in range(turns):
            self.turn()

    @property
    def spans(self):
        """What was made of each span that ended."""
        counts = self.supervisor.tallies.read().items()
        return {labels[0]: count for (name, labels), count in counts if name == "docsfab.supervisor.spans"}

    @property
    def faults(self):
        return {site: count for site, count in self.supervisor.faults.counts().items() if count}

    @property
    def record(self):
        (record,) = self.sink.records
        return record


def keys(attributes):
    """Keyword names with double underscores for dots."""
    return {key.replace("__", "."): value for key, value in attributes.items()}
