"""Keeping leases alive: only progress renews them (R28)."""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections.abc import Callable
from typing import Final, Literal

from otel_docsfab.catalogue.words import LeaseResult
from otel_docsfab.core import AttemptRecord, Outcome, Progress
from otel_docsfab.errors import ConfigError
from otel_docsfab.lease.lease import Lease, LeaseHeld, LeaseLost, LossReason, Place
from otel_docsfab.lease.store import LeaseStore
from otel_docsfab.supervisor import Attempt, AttemptRef, BaseSink, Clock, Site, SystemClock

_JOIN_S: Final = 2.0
_RETRIES: Final = 4
"""How often an interval a store is asked again that could not be reached."""


class LeaseKeeper(BaseSink):
    """Renews leases while their attempts make progress, and tells when one is lost.

    A looping agent's lease runs out and another worker can take its step. One of the supervisor's sinks: from there it
    hears of progress. Renewals are counted as ``docsfab.lease.renewals``.

    Args:
        store: Keeps the leases.
        ttl_s: How long a lease lasts without a renewal, seconds. Longer than the longest tool call or model turn.
        interval_s: How often a lease is renewed, seconds; shorter than ``ttl_s``.
        on_lost: Called once with each lost lease, in the keeper's thread.
        then: What becomes of the attempt: ``tell`` leaves it to ``on_lost``, ``stop`` ends it as cancelled.
        background: False when the host calls ``renew_due`` itself; no thread is started then.
        clock: For tests.

    Attributes:
        clock: The clock by which leases run out for their holders.

    Raises:
        ConfigError: The times do not fit.

    Source: R28.
    """

    def __init__(
        self,
        store: LeaseStore,
        ttl_s: float,
        interval_s: float,
        *,
        on_lost: Callable[[LeaseLost], None] | None = None,
        then: Literal["tell", "stop"] = "tell",
        background: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """Hold nothing; start no thread."""
        if not 0 < interval_s < ttl_s:
            raise ConfigError(f"LeaseKeeper: interval_s = {interval_s} must be above 0 and below ttl_s = {ttl_s}")
        if then not in ("tell", "stop"):
            raise ConfigError(f"LeaseKeeper: then = {then!r} is unknown; give tell or stop")
        self.clock: Clock = clock or SystemClock()
        self._store = store
        self._ttl_ms = max(1, int(ttl_s * 1_000))
        self._interval_ms = max(1, int(interval_s * 1_000))
        # The holder gives up a little before the store does: no two clocks run equally fast.
        self._usable_ms = self._ttl_ms - self._ttl_ms // 100 - 2
        self._on_lost = on_lost
        self._then = then
        self._background = background
        self._begin()
        _KEEPERS.add(self)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._leases: dict[Place, list[Lease]] = {}
        self._to_release: list[Lease] = []
        self._thread: threading.Thread | None = None
        self._ending = False

    def hold(self, attempt: Attempt, name: str | None = None) -> Lease:
        """Take a lease for an attempt's work, and keep it while the attempt makes progress.

        Asks the store in this thread; on an event loop use ``await asyncio.to_thread(keeper.hold, attempt)``.

        Args:
            attempt: The attempt.
            name: Name of the lease; by default its run and step, so that attempts of one step exclude each other.

        Returns:
            The lease; use it as ``with`` or ``async with``. It is given back when the attempt ends, too.

        Raises:
            LeaseHeld: Somebody else holds it.
            Exception: What the store raises when it cannot be asked.
        """
        ref = attempt.ref
        name = name or f"{ref.run_id}/{ref.step_id or ''}"
        owner = secrets.token_hex(8)
        asked_ms = self.clock.monotonic_ms()
        token = self._store.acquire(name, owner, self._ttl_ms)
        if token is None:
            raise LeaseHeld(f"the lease {name} is held by somebody else")
        lease = Lease(self, attempt, name, owner, token, asked_ms + self._usable_ms)
        lease.place, lease.due_ms = _place(ref), asked_ms + self._interval_ms
        with self._changed:
            self._leases.setdefault(lease.place, []).append(lease)
            if self._background and self._thread is None:
                thread = threading.Thread(target=self._run, name="otel-docsfab-lease", daemon=True)
                thread.start()
                self._thread = thread
            self._changed.notify_all()
        return lease

    def release(self, lease: Lease) -> None:
        """Give a lease back; what the store raises is counted, and the lease then runs out by itself."""
        if not self._end(lease):
            return
        try:
            self._store.release(lease.name, lease.owner, lease.token)
        except Exception as error:  # noqa: BLE001 - stores raise what they like
            lease.attempt.supervisor.faults.count(Site.LEASE, error, "A lease could not be given back; it runs out.")

    # What the supervisor tells

    def progressed(self, attempt: AttemptRef, kind: Progress) -> None:  # noqa: ARG002 - any kind renews (R28)
        """Note progress; a lease that waits for it is renewed at once."""
        leases = self._leases.get(_place(attempt))
        if not leases:
            return
        with self._changed:
            for lease in leases:
                lease.progressed = True
                if lease.late:
                    lease.due_ms = self.clock.monotonic_ms()
                    self._changed.notify_all()

    def closed(self, record: AttemptRecord) -> None:
        """Give back the leases of an attempt that ended, in the keeper's thread."""
        place = (record.run_id or "", record.step_id, record.attempt)
        with self._changed:
            self._to_release += self._leases.get(place, ())
            self._changed.notify_all()

    def shutdown(self) -> None:
        """Give back all leases and end the thread."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
            thread = self._thread
            leases = [lease for some in self._leases.values() for lease in some]
        for lease in leases:
            self.release(lease)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_S)

    # Renewing

    def renew_due(self) -> None:
        """Renew, refuse or lose what is due now, and give back what ended."""
        with self._changed:
            ended, self._to_release = self._to_release, []
            now_ms = self.clock.monotonic_ms()
            due = [
                lease for some in self._leases.values() for lease in some if min(lease.due_ms, lease.until_ms) <= now_ms
            ]
        for lease in ended:
            self.release(lease)
        for lease in due:
            if not lease.ended:
                self._renew(lease)

    def _renew(self, lease: Lease) -> None:
        now_ms = self.clock.monotonic_ms()
        if now_ms >= lease.until_ms:
            self._lose(lease, LossReason.NO_PROGRESS if lease.reached else LossReason.UNREACHABLE)
            return
        with self._changed:
            progressed, lease.progressed = lease.progressed, False
            lease.late = not progressed
        if not progressed:
            lease.due_ms = now_ms + self._interval_ms
            self._count(lease, LeaseResult.REFUSED)
            return
        try:
            renewed = self._store.renew(lease.name, lease.owner, lease.token, self._ttl_ms)
        except Exception as error:  # noqa: BLE001 - stores raise what they like
            lease.progressed, lease.reached = True, False
            lease.due_ms = now_ms + max(1, self._interval_ms // _RETRIES)
            self._count(lease, LeaseResult.ERROR)
            lease.attempt.supervisor.faults.count(Site.LEASE, error, "The lease store could not be asked.")
            return
        if not renewed:
            self._lose(lease, LossReason.TAKEN)
            return
        lease.reached = True
        lease.due_ms, lease.until_ms = now_ms + self._interval_ms, now_ms + self._usable_ms
        self._count(lease, LeaseResult.RENEWED)

    def _lose(self, lease: Lease, reason: LossReason) -> None:
        """Tell of a lost lease, once."""
        if not self._end(lease):
            return
        if reason is LossReason.TAKEN:
            self._count(lease, LeaseResult.LOST)
        attempt = lease.attempt
        if self._on_lost is not None:
            try:
                self._on_lost(LeaseLost(lease.name, lease.token, reason, attempt.ref))
            except Exception as error:  # noqa: BLE001 - a host's callback may raise anything
                attempt.supervisor.faults.count(Site.CALLBACK, error, "The on_lost callback raised.")
        if self._then == "stop":
            attempt.close(Outcome.CANCELLED)

    def _end(self, lease: Lease) -> bool:
        """Forget a lease; False when that happened before."""
        with self._changed:
            if lease.ended:
                return False
            lease.ended = True
            rest = [other for other in self._leases.get(lease.place, ()) if other is not lease]
            if rest:
                self._leases[lease.place] = rest
            else:
                self._leases.pop(lease.place, None)
            return True

    @staticmethod
    def _count(lease: Lease, result: LeaseResult) -> None:
        lease.attempt.supervisor.tallies.add("docsfab.lease.renewals", (result.value,))

    def _run(self) -> None:
        """In the thread: sleep until something is due."""
        while self._wait():
            self.renew_due()

    def _wait(self) -> bool:
        """Wait for work; False at the end."""
        with self._changed:
            if not self._to_release and not self._ending:
                self._changed.wait(self._sleep_s())
            return not self._ending

    def _sleep_s(self) -> float | None:
        """Until the next lease is due, seconds; None without leases."""
        moments = [min(lease.due_ms, lease.until_ms) for some in self._leases.values() for lease in some]
        return max(0, min(moments) - self.clock.monotonic_ms()) / 1_000 if moments else None

    def forked(self) -> None:
        """In a forked child: the leases are the parent's."""
        for some in self._leases.values():
            for lease in some:
                lease.ended = True
        self._begin()


def _place(ref: AttemptRef) -> Place:
    return (ref.run_id, ref.step_id, ref.number)


_KEEPERS: weakref.WeakSet[LeaseKeeper] = weakref.WeakSet()


def _after_fork() -> None:
    for keeper in list(_KEEPERS):
        keeper.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
