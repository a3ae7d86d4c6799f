"""The entry point of ``opentelemetry-instrument``: needs the extra ``[auto]``."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined]  # it is untyped

from otel_docsfab.errors import DocsfabError
from otel_docsfab.instrumentation import instrument, uninstrument

_log = logging.getLogger("otel_docsfab")


class DocsfabInstrumentor(BaseInstrumentor):  # type: ignore[misc]  # as above
    """``instrument()`` without code: settings by ``OTEL_DOCSFAB_*`` and a settings file, limits by ``DOCSFAB_*``.

    A wrong setting is logged once, and nothing is installed: the application starts as it would without.
    """

    def instrumentation_dependencies(self) -> Collection[str]:
        """Nothing has to be installed: any runtime that emits spans is read."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        try:
            instrument(tracer_provider=kwargs.get("tracer_provider"))
        except DocsfabError as error:
            _log.error("otel-docsfab stays off: %s", error)
        except Exception as error:  # noqa: BLE001 - telemetry must never hurt the host
            _log.error("otel-docsfab stays off: %s", type(error).__name__)

    def _uninstrument(self, **_kwargs: Any) -> None:
        uninstrument()
