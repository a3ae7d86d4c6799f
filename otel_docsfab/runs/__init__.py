"""Attempt records that last: the run index and what it answers."""
