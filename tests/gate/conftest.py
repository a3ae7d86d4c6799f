"""Attempts whose next read is delivered, told, withheld or denied, as a test wants it."""

from __future__ import annotations

import pytest

from otel_docsfab import Supervisor
from otel_docsfab.testing import MemorySink


class Stage:
    """One enforced attempt with small allowances: the first read is new, the second told, the third withheld."""

    def __init__(self, **options):
        self.sink = MemorySink()
        limits = {
            "execution.readLoopRepeatStreak": 1,
            "execution.readLoopUnchangedReReads": 100,
            "execution.readLoopWithheldReads": 1,
        }
        mode = options.pop("mode", "enforce")
        self.supervisor = Supervisor(limits=limits, sinks=[self.sink], mode=mode)
        self.attempt = self.supervisor.attempt(**options)

    def thrice(self, function, *args, **kwargs):
        """What three identical reads of this tool deliver."""
        read = self.attempt.gate(function, tool="read")
        return [read(*args, **kwargs) for _ in range(3)]

    def calls(self, function, *argument_lists, **gate):
        """Verdicts of one call for each (positional, keyword) arguments."""
        read = self.attempt.gate(function, tool="read", **gate)
        before = len(self.sink.judgements)
        for args, kwargs in argument_lists:
            read(*args, **kwargs)
        return self.sink.verdicts[before:]

    @property
    def faults(self):
        return {site: count for site, count in self.supervisor.faults.counts().items() if count}


@pytest.fixture
def stage():
    return Stage()


@pytest.fixture
def stage_of():
    return Stage
