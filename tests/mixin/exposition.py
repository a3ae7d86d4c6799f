"""Catalogue metrics by hand, as the recorders export them: for tests of rules, alerts and boards.

The seam: a test that uses ``serve`` needs an object with ``port`` whose ``/metrics`` has the catalogue's series. The
recorders can take this module's place without a change to the tests.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from otel_docsfab.catalogue import METRICS, Kind, Zero
from otel_docsfab.catalogue import Metric as Entry


class Tallies(Collector):
    """Values by metric and labels; every label a metric has must be given, and no other."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, tuple[str, ...]], float] = {}
        self._observed: dict[tuple[str, tuple[str, ...]], list[float]] = {}
        for metric in METRICS:
            if metric.zero is Zero.AT_START:
                for labels in metric.closed_combinations():
                    self.add(metric, labels, 0)
            elif metric.kind is Kind.GAUGE:
                self.set(metric, {}, 0)

    def attempt_began(self, **known: str) -> None:
        """Zero the series of a step's first attempt."""
        for metric in METRICS:
            if metric.zero is Zero.AT_ATTEMPT:
                for labels in metric.closed_combinations(known):
                    self.add(metric, labels, 0)

    def add(self, metric: Entry, labels: Mapping[str, str], amount: float = 1) -> None:
        """Count."""
        key = self._key(metric, labels)
        self._values[key] = self._values.get(key, 0) + amount

    def set(self, metric: Entry, labels: Mapping[str, str], value: float) -> None:
        """Set a gauge."""
        self._values[self._key(metric, labels)] = value

    def observe(self, metric: Entry, labels: Mapping[str, str], value: float) -> None:
        """Add to a histogram."""
        self._observed.setdefault(self._key(metric, labels), []).append(value)

    @staticmethod
    def _key(metric: Entry, labels: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
        assert set(labels) == set(metric.label_names), (metric.name, labels)
        for name, value in labels.items():
            assert metric.label(name).open or value in metric.label(name).values, (metric.name, name, value)
        return metric.name, tuple(labels[name] for name in metric.label_names)

    def collect(self) -> Iterator[Metric]:
        """Every metric that has a series."""
        for metric in METRICS:
            name = metric.prometheus_name.removesuffix("_total")
            if metric.kind is Kind.HISTOGRAM:
                histogram = HistogramMetricFamily(name, metric.description, labels=metric.label_names)
                for (owner, labels), values in list(self._observed.items()):
                    if owner == metric.name:
                        buckets = [(f"{b:g}", sum(value <= b for value in values)) for b in metric.bounds]
                        histogram.add_metric(labels, [*buckets, ("+Inf", len(values))], sum(values))
                yield histogram
                continue
            family = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
            plain = family(name, metric.description, labels=metric.label_names)
            for (owner, labels), value in list(self._values.items()):
                if owner == metric.name:
                    plain.add_metric(labels, value)
            yield plain


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve(tallies: Tallies) -> Iterator[int]:
    """Serve the tallies on a free loopback port; yields it."""
    registry = CollectorRegistry()
    registry.register(tallies)
    server = make_server("127.0.0.1", 0, make_wsgi_app(registry), handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
