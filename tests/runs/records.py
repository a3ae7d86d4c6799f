"""Records for tests: of real attempts, and made up."""

import otel_docsfab as docsfab
from otel_docsfab.core import AttemptRecord, Outcome
from otel_docsfab.core.record import Stall
from otel_docsfab.testing import ManualClock

SECRET = "hunter2"  # noqa: S105 - planted on purpose
"""Stands in arguments, results, paths and prompts, and must stand nowhere else."""


def record(number=1, **facts):
    """A record of an attempt that nothing is to be said about."""
    plain = {
        "step_id": "step",
        "step_kind": None,
        "attempt": 1,
        "retry_of": None,
        "outcome": Outcome.ANSWERED,
        "code": None,
        "stop": None,
        "conclude_now": None,
        "deadline_turn": None,
        "turns": 1,
        "calls": 1,
        "denied": {},
        "calls_after_stop": 0,
        "verdicts": {"deliver": 1},
        "unjudged": {},
        "progress": {},
        "read_evidence": None,
        "stall": Stall(),
        "duration_ms": 10,
        "run_id": f"run-{number:06d}",
        "started_unix_ms": 1_700_000_000_000 + number,
    }
    return AttemptRecord(**{**plain, **facts})


class Stories:
    """Plays attempts whose every number is known, on a clock that stands still, into the given sinks."""

    def __init__(self, *sinks):
        self.clock = ManualClock()
        self.supervisor = docsfab.Supervisor(sinks=sinks, clock=self.clock, mode="enforce")

    def loop(self, run_id, *, obey=False, **facts):
        """A step that reads one file until it is stopped, is retried, and obeys the ask or not."""

        def run_attempt(attempt):
            read = attempt.gate(self._read, tool="read")
            for _ in range(30):
                if obey and attempt.conclude_request is not None:
                    return f"answer with {SECRET}"
                with attempt.turn():
                    read(path=f"docs/{SECRET}.md", query=SECRET)
            return None

        self.supervisor.run_step("review-documentation", run_attempt, run_id=run_id, **facts)

    def answer(self, run_id, *, step="plan-documentation", valid=True, reads=2, **facts):
        """A step that reads different files and answers."""
        with self.supervisor.attempt(step, run_id=run_id, **facts) as attempt:
            read = attempt.gate(self._read, tool="read")
            for number in range(reads):
                with attempt.turn():
                    read(path=f"docs/{SECRET}-{number}.md")
            attempt.answered(valid=valid)

    def cancel(self, run_id, **facts):
        """A step that the host gives up."""
        with self.supervisor.attempt("plan-documentation", run_id=run_id, **facts):
            self.clock.advance(500)

    def _read(self, **arguments):
        self.clock.advance(1_000)
        return f"the password is {SECRET}"
