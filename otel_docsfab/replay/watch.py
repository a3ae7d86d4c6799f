"""A supervisor for recordings: the same machine and rules, and a close look at what they said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from otel_docsfab.config import Settings
from otel_docsfab.core import DeliverResult, DenyCall, Effect, Outcome, ToolClass
from otel_docsfab.core.codes import Denial
from otel_docsfab.core.results import result_form
from otel_docsfab.supervisor import Attempt, Supervisor

_MAX_NAME: Final = 80


class JudgedCall(NamedTuple):
    """One call and what became of it.

    Attributes:
        span_id: Span that told of it, 16 hex digits; None for session files.
        call_id: The runtime's own id, for session files.
        effect: The verdict or the denial.
    """

    span_id: str | None
    call_id: str | None
    effect: DeliverResult | DenyCall


class Watched:
    """One attempt and what it cost after its stop.

    Attributes:
        attempt: The attempt.
        key: Key of a session file's attempt, the same in every copy of it.
        calls: Its calls, when they are wanted.
        neutral: Its calls of neutral tools, by tool.
        wasted_bytes: Bytes of results that came after the stop.
    """

    __slots__ = ("attempt", "calls", "key", "neutral", "wasted_bytes")

    def __init__(self, attempt: Attempt) -> None:
        """Begin with the attempt."""
        self.attempt = attempt
        self.key: str | None = None
        self.calls: list[JudgedCall] = []
        self.neutral: Counter[str] = Counter()
        self.wasted_bytes = 0


class ReplaySupervisor(Supervisor):
    """Watches the attempts of one trace or session.

    Args:
        settings: What is configured.
        run_id: Run of attempts that name none.
        keep_calls: Whether each call is kept for the report.

    Attributes:
        watched: The attempts in the order in which they opened.
        late: The attempt whose stop came before the call that is told of now; None for any other call.
    """

    def __init__(self, settings: Settings, run_id: str | None, *, keep_calls: bool) -> None:
        """Watch nothing yet."""
        super().__init__(settings=settings)
        self.watched: list[Watched] = []
        self.late: Watched | None = None
        self._told_by: tuple[str | None, str | None] = (None, None)
        self._run_id = run_id
        self._keep_calls = keep_calls
        self._by_attempt: dict[int, Watched] = {}

    def listen(self, span_id: str | None, call_id: str | None) -> None:
        """Say who tells from now on: a span, or a call by the runtime's own id."""
        self._told_by, self.late = (span_id, call_id), None

    def attempt(self, *args: Any, **facts: Any) -> Attempt:
        """Open an attempt as any supervisor does, under the recording's own run when it names none."""
        facts["run_id"] = facts.get("run_id") or self._run_id
        attempt = super().attempt(*args, **facts)
        watched = self._by_attempt[id(attempt)] = Watched(attempt)
        self.watched.append(watched)
        return attempt

    def publish(self, attempt: Attempt, effects: Iterable[Effect], *, enforced: bool, size: int = 0) -> None:
        """Look at what an attempt's machine said."""
        watched = self._by_attempt.get(id(attempt))
        for effect in effects:
            if watched is not None and isinstance(effect, (DeliverResult, DenyCall)):
                if self._keep_calls:
                    watched.calls.append(JudgedCall(*self._told_by, effect))
                if isinstance(effect, DeliverResult):
                    if effect.tool_class is ToolClass.NEUTRAL:
                        watched.neutral[effect.tool[:_MAX_NAME]] += 1
                elif effect.reason is Denial.STOPPED:
                    self.late = watched
        super().publish(attempt, effects, enforced=enforced, size=size)

    def close_rest(self) -> None:
        """Give up what is still open: the recording ends here."""
        for watched in self.watched:
            watched.attempt.close(Outcome.ABANDONED, 0)


def size_of(result: object) -> int:
    """Bytes of a result as the model gets it; 0 when that is not known."""
    form = None if result is None else result_form(result)
    return len(form.encode("utf-8", "surrogatepass")) if isinstance(form, str) else len(form or b"")
