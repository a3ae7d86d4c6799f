"""Live attempts: the only place that feeds machines, and the one that tells everybody what they said."""

from otel_docsfab.supervisor.attempt import Attempt, Turn, current_attempt
from otel_docsfab.supervisor.calls import UNWATCHED, Admission
from otel_docsfab.supervisor.clock import Clock, SystemClock
from otel_docsfab.supervisor.decisions import AttemptRef, Decision, OnDecision
from otel_docsfab.supervisor.faults import Faults, Site
from otel_docsfab.supervisor.sinks import BaseSink, Sink
from otel_docsfab.supervisor.supervisor import Supervisor, new_run_id
from otel_docsfab.supervisor.tallies import Tallies

__all__ = [
    "UNWATCHED",
    "Admission",
    "Attempt",
    "AttemptRef",
    "BaseSink",
    "Clock",
    "Decision",
    "Faults",
    "OnDecision",
    "Sink",
    "Site",
    "Supervisor",
    "SystemClock",
    "Tallies",
    "Turn",
    "current_attempt",
    "new_run_id",
]
