"""One run of an agent: its turns, its requests and what is still in its context."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary, WeakSet

from otel_docsfab.core import AnswerPath, DeliverResult, Outcome, ToolClass, Trigger
from otel_docsfab.core.tools import SUBMIT_TOOL
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate.hooks._call import Call
from otel_docsfab.supervisor import UNWATCHED, Attempt, Site, current_attempt

_busy: WeakSet[Attempt] = WeakSet()
_agents: WeakKeyDictionary[Attempt, str | None] = WeakKeyDictionary()
_busy_lock = threading.Lock()
"""Attempts in which a run is going on, and whose they are; a run of another agent is an attempt of its own."""


def take(attempt: Attempt, agent_name: str | None) -> bool:
    """Whether this agent may run in this attempt: none runs there, no call is in flight, and no other had it."""
    with _busy_lock:
        if attempt in _busy or attempt.machine.running or _agents.get(attempt, agent_name) != agent_name:
            return False
        _busy.add(attempt)
        _agents[attempt] = agent_name
        return True


class Run:
    """One run of an agent in its attempt. Methods may be called from any thread; none raises but for a stop.

    Attributes:
        attempt: Its attempt.
        nested: Whether it runs inside a tool call of another run.
        owned: Whether it was opened for this run, and ends with it.
        withholds: Whether notice-only results are withheld.
    """

    def __init__(
        self,
        attempt: Attempt,
        *,
        owned: bool,
        nested: bool = False,
        tells_context: bool = True,
        withholds: bool = True,
    ) -> None:
        """Begin; use ``Hooks.begin``."""
        self.attempt = attempt
        self.nested = nested
        self.owned = owned
        self.withholds = withholds
        self._tells_context = tells_context
        self._turn = attempt.turn()
        self._turn_open = False
        self._lock = threading.Lock()
        self._given: dict[str, int | None] = {}

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Count what goes wrong inside, and go on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a fault here must not cost the host its run
            self.attempt.supervisor.faults.count(Site.HOOK, error)

    @contextmanager
    def current(self) -> Iterator[None]:
        """What starts inside belongs to the attempt: spans, and other agents."""
        token = current_attempt.set(self.attempt)
        try:
            yield
        finally:
            current_attempt.reset(token)

    # Model requests

    def before_request(self, context: Callable[[], Mapping[str, object]] | None = None) -> str | None:
        """A model request is about to go out: the turn before it ends, and the bounds are looked at (R14).

        Args:
            context: Gives, by call id, the results that the request holds; any hashable form of each will do, as long
                as the same content gives the same. What is gone or changed since the request before has left the
                context (R12a). None when the runtime does not tell.

        Returns:
            The request for the answer, when it is to be added and the tools are withdrawn (R18); else None.

        Raises:
            AttemptStopped: The attempt was stopped and is enforced.
        """
        self.turn_over()
        stop = self.attempt.machine.stop
        if stop is not None and self.attempt.enforced:
            self.end()
            raise AttemptStopped(stop.code, stop.message)
        with self.guarded():
            if context is not None and self._tells_context and self._given:
                self._evict(context())
        return self.attempt.conclude_request

    def _evict(self, context: Mapping[str, object]) -> None:
        """Tell which results left the context since the request before."""
        gone: list[str] = []
        with self._lock:
            for call_id, known in list(self._given.items()):
                here = hash(context[call_id]) if call_id in context else None
                if here is None or known not in (None, here):
                    del self._given[call_id]
                    gone.append(call_id)
                else:
                    self._given[call_id] = here
        if gone:
            self.attempt.evicted(gone)

    def after_response(self) -> None:
        """A model response came: a turn begins."""
        with self.guarded(), self._lock:
            self._begin_turn()

    def _begin_turn(self) -> None:
        if not self._turn_open:
            self._turn_open = True
            self._turn.__enter__()

    def _end_turn(self) -> None:
        with self._lock:
            if self._turn_open:
                self._turn_open = False
                self._turn.__exit__()

    def turn_over(self) -> str | None:
        """End the turn early, for runtimes that gather the tools before they make the request.

        Returns:
            The request for the answer, as ``before_request`` gives it.
        """
        with self.guarded():
            self._end_turn()
        return self.attempt.conclude_request

    def keeps(self, tool: str) -> bool:
        """Whether a tool stays with the model after the ask: R22's exception only."""
        asked, step = self.attempt.machine.asked, self.attempt.machine.step
        return (
            tool == SUBMIT_TOOL
            and step.answer_path is AnswerPath.TOOL_CALL
            and asked is not None
            and asked.trigger is not Trigger.READ_LOOP
        )

    # Tool calls

    def gates(self, tools: Iterable[str]) -> None:
        """These tools are judged here; span drivers leave them alone."""
        self.attempt.gated.update(tools)

    def start(self, tool: str, arguments: object, call_id: str | None = None) -> Call:
        """A tool call is about to run.

        Args:
            tool: Tool name.
            arguments: JSON-like value or argument text, as the model gave it.
            call_id: The runtime's id of the call.
        """
        admission = UNWATCHED
        with self.guarded():
            with self._lock:
                self._begin_turn()
            self.attempt.gated.add(tool)
            admission = self.attempt.start_call(tool, arguments, call_id=call_id)
        return Call(self, tool, call_id, admission)

    def delivered(self, call_id: str | None, verdict: DeliverResult, *, in_full: bool) -> None:
        """A result goes to the model; remember the reads that do in full, for evictions."""
        if call_id is not None and in_full and verdict.tool_class is ToolClass.READ and verdict.ok:
            with self._lock:
                self._given[call_id] = None

    # The end

    def end(self, *, answered: bool = False, outcome: Outcome = Outcome.CANCELLED) -> None:
        """The run is over; more often does no harm. The host closes an attempt that it opened.

        Args:
            answered: The model gave its answer and the runtime took it.
            outcome: What an attempt of its own ended as, otherwise.
        """
        with self.guarded():
            with _busy_lock:
                _busy.discard(self.attempt)
            if self.attempt.machine.closed:
                return
            if answered:
                self.after_response()
            if not self.owned:
                return
            if answered:
                self.attempt.answered()
            self.attempt.close(outcome)
