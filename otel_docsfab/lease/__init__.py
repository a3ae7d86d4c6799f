"""Execution leases that are renewed only on progress (R28)."""
