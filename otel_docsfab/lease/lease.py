"""One lease, as its holder sees it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Self

from otel_docsfab.errors import DocsfabError
from otel_docsfab.supervisor import Attempt, AttemptRef

if TYPE_CHECKING:
    from otel_docsfab.lease.keeper import LeaseKeeper


Place = tuple[str, str | None, int]
"""Run, step and number of an attempt: by them progress finds its leases."""


class LeaseHeld(DocsfabError):  # noqa: N818 - a state
    """Somebody else holds the lease."""


class LossReason(StrEnum):
    """Why a lease was lost."""

    NO_PROGRESS = "no-progress"  # it was not renewed and ran out (R28)
    TAKEN = "taken"  # the store says that it ran out or is somebody else's
    UNREACHABLE = "unreachable"  # the store could not be asked until it ran out


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """What ``on_lost`` is told, once.

    Attributes:
        name: Name of the lease.
        token: The fencing token, which is worth nothing any more.
        reason: Why.
        attempt: Whose work it was.
    """

    name: str
    token: int
    reason: LossReason
    attempt: AttemptRef


class Lease:
    """A lease that is held; get one from ``LeaseKeeper.hold``. A sync and async context manager that gives it back.

    Attributes:
        name: Its name.
        owner: Who holds it; unique.
        token: Fencing token. Hand it to what the lease protects, which must refuse one smaller than it has seen.
        attempt: The attempt whose progress renews it.
    """

    def __init__(self, keeper: LeaseKeeper, attempt: Attempt, name: str, owner: str, token: int, until_ms: int) -> None:
        """Held from now on.

        Args:
            keeper: Renews it.
            attempt: The attempt whose progress renews it.
            name: Its name.
            owner: Who holds it.
            token: Fencing token.
            until_ms: When it runs out for its holder, ms of the keeper's clock.
        """
        self.name, self.owner, self.token, self.attempt = name, owner, token, attempt
        self.until_ms = until_ms
        # What its keeper remembers: whose progress, the next look, progress since the last renewal, whether a look
        # found none, whether the store answered the last time, and whether it was lost or given back.
        self.place: Place = ("", None, 0)
        self.due_ms = 0
        self.progressed = False
        self.late = False
        self.reached = True
        self.ended = False
        self._keeper = keeper

    @property
    def held(self) -> bool:
        """Whether it is still this holder's, by the holder's own clock; never true when it could be somebody else's."""
        return not self.ended and self._keeper.clock.monotonic_ms() < self.until_ms

    def release(self) -> None:
        """Give it back; more often does no harm."""
        self._keeper.release(self)

    def __enter__(self) -> Self:
        """It is held already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Give it back."""
        self.release()

    async def __aenter__(self) -> Self:
        """It is held already."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        """Give it back."""
        await asyncio.to_thread(self.release)
