"""The stories that every runtime plays; what is special to one is in its own module."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from opentelemetry.sdk.trace import TracerProvider

from otel_docsfab import AttemptStopped, ReadLoopSpanProcessor, Supervisor
from otel_docsfab.supervisor import Attempt
from otel_docsfab.testing import ManualClock
from tests.frameworks.enforce.story import READ, Facts, Stage, edit, read, submit

LOOP = [READ] * 30
Maker = Callable[..., Stage]


class Driver(Protocol):
    """How a runtime is driven."""

    modes: tuple[str, ...]

    def play(self, stage: Stage, mode: str, *, provider: TracerProvider | None = None, hooks: bool = True) -> str:
        """Run an agent once on the stage's script; returns its answer."""

    def step(self, stage: Stage, mode: str, **options: Any) -> Any:
        """Run a step by the adapter's own helper."""


def played(stage: Stage, play: Callable[[], Any]) -> Facts:
    """The facts of a run, its stop included."""
    try:
        stage.facts.answer = play()
    except AttemptStopped as stop:
        stage.facts.stop = stop.message
    except Exception as error:  # noqa: BLE001 - the tests look at it
        stage.facts.error = repr(error)
    return stage.report()


def stories_of(driver: Driver, **options: Any) -> dict[str, Callable[[], Facts]]:
    """The common stories of a runtime, by name.

    Args:
        driver: Runs agents.
        **options: For every supervisor.
    """
    made = functools.partial(Stage, **options)
    stories: dict[str, Callable[[], Facts]] = {}
    for mode in driver.modes:
        stories[f"loop-{mode}"] = lambda mode=mode: loop(driver, made, mode)
        stories[f"loop-observed-{mode}"] = lambda mode=mode: loop(driver, made, mode, "observe")
        stories[f"failing-{mode}"] = lambda mode=mode: failing(driver, made, mode)
    for mode in driver.modes[:2]:
        stories[f"retry-{mode}"] = lambda mode=mode: retry(driver, made, mode)
        stories[f"retry-heeded-{mode}"] = lambda mode=mode: retry(driver, made, mode, heeds=True)
    return stories | {
        "undeclared": lambda: undeclared(driver, made),
        "submits": lambda: submits(driver, made),
        "reset": lambda: reset(driver, made),
        "parallel": lambda: parallel(driver, made),
        "host": lambda: host(driver, made),
        "several": lambda: several(driver, made),
        "beside-processor": lambda: spans(driver, made, hooks=True),
        "processor-only": lambda: spans(driver, made, hooks=False),
    }


def loop(driver: Driver, made: Maker, mode: str, supervised: str = "enforce") -> Facts:
    """One result, read over and over; without a host's attempt."""
    stage = made(*LOOP[:20], mode=supervised)
    return played(stage, lambda: driver.play(stage, mode))


def failing(driver: Driver, made: Maker, mode: str) -> Facts:
    """The supervisor breaks under the hooks."""
    stage = made(*LOOP[:3])

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    for owner, name in ((Attempt, "start_call"), (Attempt, "finish_call"), (Supervisor, "attempt")):
        stage.script.calls = 0
        with replaced(owner, name, broken):
            facts = played(stage, lambda: driver.play(stage, mode))
    return facts


@contextmanager
def replaced(owner: type, name: str, function: Any) -> Iterator[None]:
    """A method does something else."""
    original = getattr(owner, name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, original)


def retry(driver: Driver, made: Maker, mode: str, *, heeds: bool = False) -> Facts:
    """A read-only step is stopped, tried again and asked; the model heeds that or not."""
    stage = made(*LOOP[:18], *LOOP, heeds=heeds)

    def play() -> str | None:
        result = driver.step(stage, mode, kind="read-only")
        stage.facts.more["outcome"] = str(result.outcome)
        stage.facts.more["code"] = None if result.code is None else str(result.code)
        stage.facts.more["attempts"] = len(result.attempts)
        return None if result.answer is None else "answered"

    return played(stage, play)


def undeclared(driver: Driver, made: Maker) -> Facts:
    """The same without a declared kind: nobody asks."""
    stage = made(*LOOP[:18], *LOOP, heeds=True)
    return played(stage, lambda: str(driver.step(stage, driver.modes[0]).outcome))


def submits(driver: Driver, made: Maker) -> Facts:
    """Time runs out for reading; the answer is handed in by a tool."""
    clock = ManualClock()
    stage = made(READ, [read(), submit()], [submit("a"), submit("b")], heeds=False, clock=clock)
    stage.tools.first_read = lambda: clock.advance(250_000)
    options = {"kind": "read-only", "answer_path": "tool-call", "timeout_ms": 300_000}
    return played(stage, lambda: str(driver.step(stage, driver.modes[0], **options).outcome))


def reset(driver: Driver, made: Maker) -> Facts:
    """An edit between two reads."""
    stage = made(*LOOP[:10], [edit()], READ)
    return played(stage, lambda: driver.play(stage, driver.modes[0]))


def parallel(driver: Driver, made: Maker) -> Facts:
    """Several calls in a turn: the same read thrice, another, and one that fails."""
    turn = [read(), read(), read("b.md"), read("gone.md"), read()]
    stage = made(turn, READ)
    return played(stage, lambda: driver.play(stage, driver.modes[0]))


def host(driver: Driver, made: Maker) -> Facts:
    """The host opened the attempt, and closes it."""
    stage = made(READ, READ)

    def play() -> str:
        with stage.supervisor.attempt("a-step", kind="read-only", run_id="of-the-host") as attempt:
            answer = driver.play(stage, driver.modes[0])
            attempt.answered(valid=True)
        return answer

    return played(stage, play)


def several(driver: Driver, made: Maker) -> Facts:
    """Two runs one after the other are two attempts."""
    stage = made(READ)
    driver.play(stage, driver.modes[0])
    stage.script.calls = 0
    return played(stage, lambda: driver.play(stage, driver.modes[0]))


def spans(driver: Driver, made: Maker, *, hooks: bool) -> Facts:
    """The runtime's own spans are watched, beside the hooks or alone."""
    stage = made(*LOOP[:12], mode="enforce")
    provider = TracerProvider()
    provider.add_span_processor(ReadLoopSpanProcessor(stage.supervisor))
    facts = played(stage, lambda: driver.play(stage, driver.modes[0], provider=provider, hooks=hooks))
    facts.more["spans"] = {
        labels[0]: count
        for (metric, labels), count in stage.supervisor.tallies.read().items()
        if metric == "docsfab.supervisor.spans"
    }
    return facts


def in_mode(mode: str, sync: Callable[[], Any], asynchronous: Callable[[], Any], stream: Callable[[], Any]) -> Any:
    """Run what the mode names; async ones on a loop of their own."""
    if mode == "sync":
        return sync()
    return asyncio.run(asynchronous() if mode == "async" else stream())
