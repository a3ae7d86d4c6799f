"""A short way to write down what an attempt does, for tests of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_docsfab.core import (
    DOCSFAB_TOOLS,
    AnswerReturned,
    AskForAnswer,
    AttemptEnded,
    AttemptMachine,
    CallStarted,
    Compacted,
    DeliverResult,
    DenyCall,
    Effect,
    Event,
    Evicted,
    Limits,
    ResultReturned,
    RetryOf,
    Step,
    StepKind,
    StopAttempt,
    TimePassed,
    TurnBegan,
    TurnEnded,
    Verdict,
)
from otel_docsfab.core.identity import arguments_digest, result_digest, subject_of

DELIVER, WITH_NOTICE, NOTICE_ONLY = Verdict.DELIVER, Verdict.DELIVER_WITH_NOTICE, Verdict.NOTICE_ONLY
READ_ONLY = Step("plan", StepKind.READ_ONLY)


class Attempt:
    """A machine and all it said; each method is one thing that happens."""

    def __init__(self, step: Step = READ_ONLY, *, limits: Mapping[str, int] | Limits | None = None, **more: Any):
        if not isinstance(limits, Limits):
            limits = Limits.of({long_name(name): value for name, value in (limits or {}).items()})
        self.machine = AttemptMachine(step, limits, **more)
        self.said: list[Effect] = []
        self.at_ms = 0
        self.calls = 0

    def tell(self, event: Event) -> tuple[Effect, ...]:
        effects = self.machine.apply(event, self.at_ms)
        self.said += effects
        return effects

    def turn(self) -> tuple[Effect, ...]:
        return self.tell(TurnBegan())

    def turn_ends(self) -> tuple[Effect, ...]:
        return self.tell(TurnEnded())

    def wait_until(self, at_ms: int) -> tuple[Effect, ...]:
        self.at_ms = at_ms
        return self.tell(TimePassed())

    def start(self, tool: str, arguments: Any = None, *, call: Any = None, **more: Any) -> Any:
        """Start a call; returns its key, or the denial."""
        self.calls += 1
        call = self.calls if call is None else call
        digest = None if arguments is None else arguments_digest(arguments)
        tool_class = DOCSFAB_TOOLS.classify(tool, arguments).tool_class
        effects = self.tell(CallStarted(call, tool, tool_class, digest, subject_of(arguments), **more))
        denial = next((effect for effect in effects if isinstance(effect, DenyCall)), None)
        return denial or call

    def finish(self, call: Any, content: str | None = "A", *, ok: bool = True, **more: Any) -> DeliverResult:
        digest = None if content is None else result_digest(content)
        (effect,) = self.tell(ResultReturned(call, digest, ok, **more))
        assert isinstance(effect, DeliverResult)
        return effect

    def call(
        self, tool: str, arguments: Any = None, content: str | None = "A", *, ok: bool = True, **more: Any
    ) -> DeliverResult | DenyCall:
        """Start a call and return it at once; a denied one returns the denial."""
        call = self.start(tool, arguments, **more)
        return call if isinstance(call, DenyCall) else self.finish(call, content, ok=ok)

    def read(self, path: str = "docs/a.md", content: str | None = "A", **more: Any) -> Any:
        return self.call("read", {"path": path}, content, **more)

    def reads(self, *paths: str) -> list[Any]:
        """One read a turn."""
        effects = []
        for path in paths:
            self.turn()
            effects.append(self.read(path))
        return effects

    def edit(self, text: str = "one", *, ok: bool = True) -> Any:
        return self.call("edit", {"path": "docs/a.md", "text": text}, "done", ok=ok)

    def compact(self) -> None:
        self.tell(Compacted())

    def evict(self, *call_ids: str) -> None:
        self.tell(Evicted(call_ids))

    def evict_calls(self, *calls: tuple[str, Any]) -> None:
        self.tell(Evicted((), tuple((tool, arguments_digest(arguments)) for tool, arguments in calls)))  # type: ignore[misc]

    def answer(self, *, valid: bool | None = None) -> tuple[Effect, ...]:
        return self.tell(AnswerReturned(valid))

    def end(self) -> tuple[Effect, ...]:
        return self.tell(AttemptEnded())

    @property
    def stop(self) -> StopAttempt:
        (stop,) = [effect for effect in self.said if isinstance(effect, StopAttempt)]
        return stop

    @property
    def stops(self) -> int:
        return sum(isinstance(effect, StopAttempt) for effect in self.said)

    @property
    def asks(self) -> list[AskForAnswer]:
        return [effect for effect in self.said if isinstance(effect, AskForAnswer)]

    @property
    def record(self) -> dict[str, Any]:
        return self.machine.record().as_dict()


_NAMES = {
    "repeat_streak": "execution.readLoopRepeatStreak",
    "re_reads": "execution.readLoopUnchangedReReads",
    "withheld": "execution.readLoopWithheldReads",
    "ceiling": "execution.toolCallCeiling",
    "retries": "retry.maxNoProgressRetries",
}


def long_name(name: str) -> str:
    return _NAMES.get(name, name)


def retry(reason: RetryOf = RetryOf.NO_PROGRESS, **more: Any) -> Attempt:
    """The attempt after one that a read-loop stop or the ceiling ended."""
    return Attempt(number=2, retry_of=reason, **more)


def counts(effect: Any) -> tuple[Verdict, int | None, int | None]:
    """Verdict, repeat count, cross-result count."""
    return effect.verdict, effect.repeats, effect.cross_result


def whole_state(thing: Any) -> Any:
    """All that a machine holds, as plain comparable data, however its objects are cut."""
    if isinstance(thing, (str, bytes, int, float, frozenset, type(None), type)):
        return thing
    if isinstance(thing, dict):
        return [(whole_state(key), whole_state(value)) for key, value in thing.items()]
    if isinstance(thing, set):
        return frozenset(thing)
    if isinstance(thing, (list, tuple)) or hasattr(thing, "typecode"):
        return [whole_state(item) for item in thing]
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(thing, name) for name in slots} | getattr(thing, "__dict__", {})
    return type(thing).__name__, whole_state(held)
