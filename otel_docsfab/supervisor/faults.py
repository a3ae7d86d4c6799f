"""Faults of our own and of callbacks: counted by site, logged once a site, never shown to the host."""

from __future__ import annotations

import logging
import threading
import traceback
from collections import Counter

from otel_docsfab.catalogue.words import ErrorSite

Site = ErrorSite
"""Where something went wrong."""

_log = logging.getLogger("otel_docsfab")


class Faults:
    """Counts faults. Logs the type and place of the first one at each site; never a message, which may hold content."""

    def __init__(self) -> None:
        """Start at zero."""
        self._lock = threading.Lock()
        self._counts: Counter[Site] = Counter()

    def count(self, site: Site, error: BaseException | None = None, hint: str = "") -> None:
        """Count one fault.

        Args:
            site: Where.
            error: What was raised.
            hint: One sentence on what to do, logged with the first fault of the site.
        """
        with self._lock:
            self._counts[site] += 1
            first = self._counts[site] == 1
        if not first:
            return
        what = type(error).__name__ if error else "fault"
        frames = traceback.extract_tb(error.__traceback__) if error else []
        where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        _log.warning("otel-docsfab: %s in %s%s; counted from now on, not logged again. %s", what, site, where, hint)

    def counts(self) -> dict[Site, int]:
        """Faults so far by site; every site is there."""
        with self._lock:
            return {site: self._counts[site] for site in Site}

    def forked(self) -> None:
        """Start over in a forked child."""
        self.__init__()  # type: ignore[misc]  # the same fresh state as a new one
