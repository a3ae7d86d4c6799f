"""A step with its retry of R17: run an attempt, evaluate the answer, try once more where the rules allow it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_docsfab.core import AttemptRecord, Code, Outcome, RetryOf, Step
from otel_docsfab.core.codes import RETRIED
from otel_docsfab.errors import AttemptStopped

if TYPE_CHECKING:
    from otel_docsfab.supervisor import Attempt, Supervisor


@dataclass(frozen=True, slots=True)
class StepResult:
    """How a step ended.

    Attributes:
        answer: What the last attempt returned; None when it gave no answer.
        outcome: Outcome of the last attempt.
        code: Why it failed, if it did.
        attempts: Records of all attempts, in order.
    """

    answer: Any
    outcome: Outcome
    code: Code | None
    attempts: tuple[AttemptRecord, ...]

    @property
    def ok(self) -> bool:
        """Whether there is an answer that the host accepted."""
        return self.outcome is Outcome.ANSWERED


@dataclass(frozen=True, slots=True)
class _Try:
    """What the next attempt is."""

    number: int = 1
    retry_of: RetryOf | None = None
    retries_used: int = 0

    def after(self, record: AttemptRecord) -> _Try | None:
        """The retry that a finished attempt gets, if any; one that was only observed gets none (R30)."""
        stop = record.stop
        if stop is None or not stop.retry_granted or not record.enforced:
            return None
        return _Try(self.number + 1, RETRIED[stop.code], self.retries_used + 1)


def run_step(
    supervisor: Supervisor,
    step: str | Step,
    run_attempt: Callable[[Attempt], Any],
    *,
    validate: Callable[[Any], bool] | None = None,
    **options: Any,
) -> StepResult:
    """Run a step, its retry of R17 included.

    Args:
        supervisor: Opens the attempts.
        step: Step id or ``Step``.
        run_attempt: Runs one attempt: gates its tools with ``attempt.gate``, puts ``attempt.retry_prompt`` into the
            prompt when it is not None and ``attempt.conclude_request`` into the next model request once that is not
            None, and returns the answer, or None when the model gave none. After a stop the next gated call raises
            ``AttemptStopped`` through it. A timer cannot end a plain function: one that waits long without gated calls
            looks at ``attempt.stopped``.
        validate: The host's check of an answer, asked for or not; without one every answer is accepted.
        **options: For ``Supervisor.attempt``: ``kind``, ``run_id``, ``agent_name``, ``model``, ``timeout_ms`` …

    Returns:
        The answer and the records. What ``run_attempt`` or ``validate`` raises goes through; the attempt is cancelled.

    Source: R16, R17.
    """
    records: list[AttemptRecord] = []
    this: _Try | None = _Try()
    answer: Any = None
    while this is not None:
        with _open(supervisor, step, this, options, records) as attempt:
            try:
                answer = run_attempt(attempt)
            except AttemptStopped:
                answer = None
            if answer is not None:
                attempt.answered(valid=None if validate is None else bool(validate(answer)))
        this = _close(attempt, this, records)
    return StepResult(answer, records[-1].outcome, records[-1].code, tuple(records))


async def arun_step(
    supervisor: Supervisor,
    step: str | Step,
    run_attempt: Callable[[Attempt], Awaitable[Any]],
    *,
    validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
    **options: Any,
) -> StepResult:
    """``run_step`` on the event loop; ``run_attempt`` and, if it likes, ``validate`` are async.

    When the attempt's timer fires, ``run_attempt`` is cancelled, and nothing around it. What it returns all the same is
    its answer; an answer it had returned before is never touched.

    Source: R16, R17, R23.
    """
    records: list[AttemptRecord] = []
    this: _Try | None = _Try()
    answer: Any = None
    while this is not None:
        async with _open(supervisor, step, this, options, records) as attempt:
            answer = await _run_until_timer(attempt, run_attempt)
            if answer is not None:
                valid = None if validate is None else validate(answer)
                attempt.answered(valid=await valid if inspect.isawaitable(valid) else valid)
        this = _close(attempt, this, records)
    return StepResult(answer, records[-1].outcome, records[-1].code, tuple(records))


async def _run_until_timer(attempt: Attempt, run_attempt: Callable[[Attempt], Awaitable[Any]]) -> Any:
    """Run an attempt; None when a stop ended it."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as limit:

            def end() -> None:
                if attempt.when_timer_fires is not None and not limit.expired():  # else it has ended by itself
                    limit.reschedule(loop.time())

            attempt.when_timer_fires = lambda: loop.call_soon_threadsafe(end)
            try:
                if attempt.stopped:  # before anybody could be told
                    end()
                return await run_attempt(attempt)
            finally:
                attempt.when_timer_fires = None
    except AttemptStopped:
        return None
    except TimeoutError:
        if limit.expired():
            return None
        raise


def _open(
    supervisor: Supervisor, step: str | Step, this: _Try, options: dict[str, Any], records: list[AttemptRecord]
) -> Attempt:
    """Open the next attempt of the step; all of them belong to one run."""
    run = {"run_id": records[0].run_id} if records else {}
    return supervisor.attempt(
        step,
        this.number,
        retry_of=this.retry_of,
        retries_used=this.retries_used,
        **{"on_stop": "raise", **options, **run},
    )


def _close(attempt: Attempt, this: _Try, records: list[AttemptRecord]) -> _Try | None:
    """Keep the record; say what comes next."""
    records.append(attempt.record())
    return this.after(records[-1])
