"""Sending a command's spans to a collector, and knowing whether they arrived."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from otel_docsfab.errors import ConfigError

GRPC_PORT: Final = 4317
TIMEOUT_S: Final = 5


class Delivery(SpanExporter):
    """An exporter that remembers whether every batch arrived.

    Attributes:
        endpoint: Where the spans go.
        failed: Whether a batch did not arrive.
    """

    def __init__(self, endpoint: str) -> None:
        """Send to this address.

        Args:
            endpoint: ``http://HOST:PORT``; by gRPC on its usual port 4317 or as ``grpc://``, else by HTTP.

        Raises:
            ConfigError: It is no address.
        """
        self.endpoint = endpoint
        self.failed = False
        self._exporter = _exporter(endpoint)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch."""
        result = self._exporter.export(spans)
        self.failed = self.failed or result is not SpanExportResult.SUCCESS
        return result

    def shutdown(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()

    def deliver(self, provider: TracerProvider) -> None:
        """Let a provider's spans go here; what goes wrong is told once, by the command."""
        logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
        provider.add_span_processor(BatchSpanProcessor(self))


def _exporter(endpoint: str) -> SpanExporter:
    parts = urlsplit(endpoint if "//" in endpoint else f"http://{endpoint}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https", "grpc") or not re.fullmatch(r"[\w.:-]+", host) or port == -1:
        raise ConfigError(f"--otlp {endpoint!r} is no address: give http://HOST:PORT")
    if parts.scheme == "grpc" or port == GRPC_PORT:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415 - slow to load
            OTLPSpanExporter as Grpc,
        )

        target = f"{host}:{port or GRPC_PORT}"
        return Grpc(endpoint=target, insecure=parts.scheme != "https", timeout=TIMEOUT_S)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - slow to load
        OTLPSpanExporter as Http,
    )

    path = parts.path if parts.path not in ("", "/") else "/v1/traces"
    return Http(endpoint=f"{parts.scheme}://{parts.netloc}{path}", timeout=TIMEOUT_S)
