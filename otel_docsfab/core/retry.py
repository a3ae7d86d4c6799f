"""Who gets another attempt (R17)."""

from __future__ import annotations

from otel_docsfab.core.codes import RETRIED, Code, RetryOf
from otel_docsfab.core.limits import Limits


def retry_granted(code: Code, retries_used: int, limits: Limits) -> RetryOf | None:
    """The retry that a stop gives, from the one budget that all of R17's retries share.

    Args:
        code: The stop's code.
        retries_used: Retries of R17 the step has had.
        limits: ``retry.maxNoProgressRetries``.

    Returns:
        Why the next attempt is a retry, or None when there is none.

    Source: R17.
    """
    reason = RETRIED.get(code)
    return reason if reason and retries_used < limits.max_no_progress_retries else None
