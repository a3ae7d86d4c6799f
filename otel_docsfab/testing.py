"""Test kit: a clock that stands still, a sink that remembers, an agent that follows a script.

For tests of hosts, and for our own. Nothing here is needed to run::

    clock, sink = ManualClock(), MemorySink()
    supervisor = docsfab.Supervisor(clock=clock, sinks=[sink])
    agent = ScriptedAgent([Turn(Call("read", {"path": "a.md"})), Turn(Call("read", {"path": "a.md"})), Answer("done")])
    with supervisor.attempt(kind="read-only") as attempt:
        attempt.answered(valid=agent.run(attempt, {"read": read_file}) == "done")
    assert sink.verdicts == ["deliver", "deliver-with-notice"]
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_docsfab.core import AttemptRecord, DeliverResult, DenyCall, Progress, Step, Verdict
from otel_docsfab.supervisor import Attempt, AttemptRef, Decision
from otel_docsfab.supervisor.scheduler import Alarm, Alarms, Sleeper

__all__ = ["Answer", "Call", "ManualClock", "MemorySink", "ScriptedAgent", "Turn"]


class ManualClock:
    """A ``Clock`` that moves only when it is told to.

    Setting ``now_ms`` wakes nobody, as when a process was suspended; the next ``advance`` does.

    Attributes:
        now_ms: Ms since the clock was made.
    """

    _EPOCH_MS = 1_700_000_000_000

    def __init__(self) -> None:
        """Stand at 0 ms."""
        self.now_ms = 0
        self._alarms = Alarms()

    def advance(self, ms: int = 0) -> None:
        """Let ``ms`` milliseconds pass; attempts are woken here, in this thread, each at its own time."""
        until_ms = self.now_ms + ms
        while (due_ms := self._alarms.next_ms()) is not None and due_ms <= until_ms:
            self.now_ms = max(self.now_ms, due_ms)
            for sleeper in self._alarms.due(due_ms, at_most=1):
                sleeper.wake()
        self.now_ms = until_ms

    def monotonic_ms(self) -> int:
        """Ms since the clock was made."""
        return self.now_ms

    def unix_ms(self) -> int:
        """The same, from a fixed moment in 2023."""
        return self._EPOCH_MS + self.now_ms

    def set_alarm(self, sleeper: Sleeper, at_ms: int) -> Alarm:
        """Wake a sleeper when ``advance`` comes to ``at_ms``."""
        return self._alarms.set(sleeper, at_ms)[0]


class MemorySink:
    """A ``Sink`` that keeps every fact in lists, in the order in which they came.

    Attributes:
        opened_attempts: (attempt, step) of each beginning.
        judgements: (attempt, effect, enforced) of each judged or denied call.
        progresses: (attempt, kind) of each progress.
        decisions: Stops and asks.
        records: Records of ended attempts.
        is_shut_down: Whether it was told that no more facts will come.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lock = threading.Lock()
        self.opened_attempts: list[tuple[AttemptRef, Step]] = []
        self.judgements: list[tuple[AttemptRef, DeliverResult | DenyCall, bool]] = []
        self.progresses: list[tuple[AttemptRef, Progress]] = []
        self.decisions: list[Decision] = []
        self.records: list[AttemptRecord] = []
        self.is_shut_down = False

    @property
    def verdicts(self) -> list[str]:
        """The verdict of each call, in the order in which they were given; ``unjudged`` where there was none."""
        return [_verdict(effect) for _, effect, _ in self.judgements]

    def opened(self, attempt: AttemptRef, step: Step) -> None:
        """Keep it."""
        with self._lock:
            self.opened_attempts.append((attempt, step))

    def judged(self, attempt: AttemptRef, effect: DeliverResult | DenyCall, *, enforced: bool) -> None:
        """Keep it."""
        with self._lock:
            self.judgements.append((attempt, effect, enforced))

    def progressed(self, attempt: AttemptRef, kind: Progress) -> None:
        """Keep it."""
        with self._lock:
            self.progresses.append((attempt, kind))

    def decided(self, decision: Decision) -> None:
        """Keep it."""
        with self._lock:
            self.decisions.append(decision)

    def closed(self, record: AttemptRecord) -> None:
        """Keep it."""
        with self._lock:
            self.records.append(record)

    def flush(self, timeout_s: float) -> bool:  # noqa: ARG002 - the protocol's name
        """Nothing is pending."""
        return True

    def shutdown(self) -> None:
        """Note it."""
        self.is_shut_down = True


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the script."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """A model turn that calls tools, one after another."""

    calls: tuple[Call, ...]

    def __init__(self, *calls: Call) -> None:
        """Take the calls in their order."""
        object.__setattr__(self, "calls", calls)


@dataclass(frozen=True, slots=True)
class Answer:
    """A model turn that answers; the script ends there."""

    value: Any


class ScriptedAgent:
    """An agent without a model: it follows its script, and does as it is told unless it is stubborn.

    Args:
        script: Turns, and an answer at the end if there is one.
        answer_when_asked: What it answers at once when it is asked to conclude; None for one that ignores the ask.

    Attributes:
        prompts: What it was told before turns: the retry's prompt, the request for the answer.
        results: What its calls gave, in order; an exception is kept as such.
    """

    def __init__(self, script: Iterable[Turn | Answer], *, answer_when_asked: Any = None) -> None:
        """Remember the script."""
        self._script = tuple(script)
        self._answer_when_asked = answer_when_asked
        self.prompts: list[str] = []
        self.results: list[Any] = []

    def run(self, attempt: Attempt, tools: Mapping[str, Callable[..., Any]]) -> Any:
        """Play the script with gated tools.

        Args:
            attempt: The attempt; its turns are marked.
            tools: Plain callables by tool name; they are put behind the attempt's gate.

        Returns:
            The answer, or None when the script has none.
        """
        gated = {name: attempt.gate(function, tool=name) for name, function in tools.items()}
        for said in self._turns(attempt):
            if isinstance(said, Answer):
                return said.value
            with attempt.turn():
                for call in said.calls:
                    try:
                        self.results.append(gated[call.tool](**call.arguments))
                    except Exception as error:  # noqa: BLE001 - an agent goes on after a failed tool
                        self.results.append(error)
        return None

    async def arun(self, attempt: Attempt, tools: Mapping[str, Callable[..., Any]]) -> Any:
        """The same on the event loop; tools may be sync or async."""
        gated = {name: attempt.gate(function, tool=name) for name, function in tools.items()}
        for said in self._turns(attempt):
            if isinstance(said, Answer):
                return said.value
            async with attempt.turn():
                for call in said.calls:
                    try:
                        result = gated[call.tool](**call.arguments)
                        self.results.append(await result if inspect.isawaitable(result) else result)
                    except Exception as error:  # noqa: BLE001 - an agent goes on after a failed tool
                        self.results.append(error)
        return None

    def _turns(self, attempt: Attempt) -> Iterable[Turn | Answer]:
        """The script, cut short by an ask that the agent obeys."""
        if attempt.retry_prompt is not None:
            self.prompts.append(attempt.retry_prompt)
        asked = False
        for said in self._script:
            request = attempt.conclude_request
            if request is not None and not asked:
                asked = True
                self.prompts.append(request)
                if self._answer_when_asked is not None:
                    yield Answer(self._answer_when_asked)
                    return
            yield said


def _verdict(effect: DeliverResult | DenyCall) -> str:
    if isinstance(effect, DenyCall):
        return Verdict.DENIED.value
    return "unjudged" if effect.unjudged else effect.verdict.value
