"""What keeps leases: a small protocol, and a store for one process."""

from __future__ import annotations

import threading
from typing import NamedTuple, Protocol, runtime_checkable

from otel_docsfab.supervisor import Clock, SystemClock


@runtime_checkable
class LeaseStore(Protocol):
    """Holds leases by name. Each method is atomic, and time is the store's own: those of the holders do not matter.

    A store that cannot be asked raises; what it raises is counted, and asked again while the lease lasts.
    """

    def acquire(self, name: str, owner: str, ttl_ms: int) -> int | None:
        """Take a lease that nobody holds; taking one's own again gives a new token.

        Args:
            name: Name of the lease.
            owner: Who takes it; unique.
            ttl_ms: How long it lasts without a renewal, ms.

        Returns:
            A fencing token that is larger than every one given for this name before; None when somebody else holds it.
        """
        ...

    def renew(self, name: str, owner: str, token: int, ttl_ms: int) -> bool:
        """Let a lease last for another ``ttl_ms`` from now; False when it ran out or is somebody else's."""
        ...

    def release(self, name: str, owner: str, token: int) -> None:
        """Give a lease back; one that is not held any more does no harm."""
        ...


class _Held(NamedTuple):
    owner: str
    token: int
    until_ms: int


class MemoryLeaseStore:
    """Leases between the threads of one process; they and their tokens end with it."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Hold nothing.

        Args:
            clock: For tests.
        """
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}
        self._last_token = 0

    def acquire(self, name: str, owner: str, ttl_ms: int) -> int | None:
        """See ``LeaseStore``."""
        with self._lock:
            now_ms = self._clock.monotonic_ms()
            held = self._held.get(name)
            if held is not None and held.owner != owner and now_ms < held.until_ms:
                return None
            self._last_token += 1
            self._held[name] = _Held(owner, self._last_token, now_ms + ttl_ms)
            return self._last_token

    def renew(self, name: str, owner: str, token: int, ttl_ms: int) -> bool:
        """See ``LeaseStore``."""
        with self._lock:
            now_ms = self._clock.monotonic_ms()
            held = self._held.get(name)
            if held is None or (held.owner, held.token) != (owner, token) or now_ms >= held.until_ms:
                return False
            self._held[name] = held._replace(until_ms=now_ms + ttl_ms)
            return True

    def release(self, name: str, owner: str, token: int) -> None:
        """See ``LeaseStore``."""
        with self._lock:
            held = self._held.get(name)
            if held is not None and (held.owner, held.token) == (owner, token):
                del self._held[name]
