"""Execution leases that only progress renews (R28), with fencing tokens."""

from otel_docsfab.lease.keeper import LeaseKeeper
from otel_docsfab.lease.lease import Lease, LeaseHeld, LeaseLost, LossReason
from otel_docsfab.lease.redis_store import RedisLeaseStore
from otel_docsfab.lease.sqlite_store import SqliteLeaseStore
from otel_docsfab.lease.store import LeaseStore, MemoryLeaseStore

__all__ = [
    "Lease",
    "LeaseHeld",
    "LeaseKeeper",
    "LeaseLost",
    "LeaseStore",
    "LossReason",
    "MemoryLeaseStore",
    "RedisLeaseStore",
    "SqliteLeaseStore",
]
