"""Where facts go: metrics, records, the lease. One protocol; a sink never hurts the host."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from otel_docsfab.core import AttemptRecord, DeliverResult, DenyCall, Progress, Step
from otel_docsfab.supervisor.decisions import AttemptRef, Decision


@runtime_checkable
class Sink(Protocol):
    """Receives facts outside every lock, in the thread that caused them. What it raises is caught and counted.

    Implementations keep no content and do not block: a slow sink slows the agent's tool calls.
    """

    def opened(self, attempt: AttemptRef, step: Step) -> None:
        """An attempt began."""

    def judged(self, attempt: AttemptRef, effect: DeliverResult | DenyCall, *, enforced: bool) -> None:
        """A call was judged or denied; ``effect.subject`` is content and must not be kept (R27)."""

    def progressed(self, attempt: AttemptRef, kind: Progress) -> None:
        """There was progress of R28; renews leases."""

    def decided(self, decision: Decision) -> None:
        """An attempt was stopped or asked."""

    def closed(self, record: AttemptRecord) -> None:
        """An attempt ended."""

    def flush(self, timeout_s: float) -> bool:
        """Write out what is pending; False when it took longer than ``timeout_s`` seconds."""

    def shutdown(self) -> None:
        """No more facts will come."""


class BaseSink:
    """A sink that ignores everything; override what you need."""

    def opened(self, attempt: AttemptRef, step: Step) -> None:
        """Ignore."""

    def judged(self, attempt: AttemptRef, effect: DeliverResult | DenyCall, *, enforced: bool) -> None:
        """Ignore."""

    def progressed(self, attempt: AttemptRef, kind: Progress) -> None:
        """Ignore."""

    def decided(self, decision: Decision) -> None:
        """Ignore."""

    def closed(self, record: AttemptRecord) -> None:
        """Ignore."""

    def flush(self, timeout_s: float) -> bool:  # noqa: ARG002 - the protocol's name
        """Nothing is pending."""
        return True

    def shutdown(self) -> None:
        """Nothing to close."""
