"""Hypothesis profiles: ``quick`` (always the same examples), or ``HYPOTHESIS_PROFILE=thorough`` for a long search."""

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("quick", derandomize=True, database=None, max_examples=60, stateful_step_count=60, **_COMMON)
settings.register_profile("thorough", max_examples=2_000, stateful_step_count=150, print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
