"""The supervisor: opens attempts, hears what their machines say, and tells everybody."""

from __future__ import annotations

import dataclasses
import os
import secrets
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from otel_docsfab import config
from otel_docsfab.config import Mode
from otel_docsfab.core import (
    AnswerPath,
    AskForAnswer,
    AttemptMachine,
    AttemptRecord,
    CloseAttempt,
    DeliverResult,
    DenyCall,
    Effect,
    EvaluateAnswer,
    Limits,
    Outcome,
    RetryOf,
    Step,
    StepKind,
    StopAttempt,
    Toolset,
)
from otel_docsfab.supervisor.annotate import annotate_agent_span
from otel_docsfab.supervisor.attempt import Attempt
from otel_docsfab.supervisor.attempts import Attempts
from otel_docsfab.supervisor.callbacks import Callbacks
from otel_docsfab.supervisor.clock import Clock, SystemClock
from otel_docsfab.supervisor.decisions import AttemptRef, OnDecision, decision_of
from otel_docsfab.supervisor.faults import Faults, Site
from otel_docsfab.supervisor.sinks import Sink
from otel_docsfab.supervisor.tallies import Tallies

if TYPE_CHECKING:
    from otel_docsfab.gate.runner import StepResult

Stopping = Literal["return", "raise"]


class Supervisor:
    """Watches any number of attempts, from any number of threads and event loops.

    Args:
        limits: Dotted names to values, or ``Limits``; over what file and environment say.
        toolset: A toolset or a profile's name.
        steps: Steps by id, over the public DocsFab steps.
        on_decision: Called with each ``Decision``; plain or async.
        sinks: Where facts go, beside the counts kept here.
        mode: ``off``, ``observe`` or ``enforce`` (the default); ``OTEL_DOCSFAB_MODE`` can only lower it.
        agents: By agent name, what it does otherwise: limits, toolset, mode.
        caps: Bounds of memory and of series.
        settings: Ready settings instead of all these.
        clock: For tests.
        own_spans: Whether a gate opens an ``execute_tool`` span where the runtime has no span for the call.

    Attributes:
        settings: What is configured, with its sources.
        tallies: Counts that metrics are read from.
        faults: Faults by site.

    Raises:
        ConfigError: A setting is wrong.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each thing that can be set
        self,
        *,
        limits: Mapping[str, int] | Limits | None = None,
        toolset: Toolset | str | None = None,
        steps: Mapping[str, Any] | None = None,
        on_decision: OnDecision | None = None,
        sinks: Iterable[Sink] = (),
        mode: str | None = None,
        agents: Mapping[str, Mapping[str, Any]] | None = None,
        caps: config.Caps | None = None,
        settings: config.Settings | None = None,
        clock: Clock | None = None,
        own_spans: bool = True,
    ) -> None:
        """Read the settings; starts no thread."""
        self.settings = settings or config.load(
            limits=limits,
            toolset=toolset,
            steps=steps,
            agents=agents,
            mode=mode,
            default_mode=Mode.ENFORCE,
            caps=caps,
        )
        self.clock: Clock = clock or SystemClock()
        self.faults = Faults()
        self.own_spans = own_spans
        self.sinks: tuple[Sink, ...] = tuple(sinks)
        caps = self.settings.caps
        self.tallies = Tallies(caps.max_tool_labels)
        self._attempts = Attempts(caps.max_live_attempts, caps.max_idle_ms)
        self._callbacks = Callbacks(on_decision, self.faults, caps.max_queued_decisions)
        _SUPERVISORS.add(self)

    # Attempts

    def attempt(  # noqa: PLR0913 - one attempt has that many facts, nearly all optional
        self,
        step: str | Step | None = None,
        number: int = 1,
        *,
        retry_of: RetryOf | str | None = None,
        retries_used: int | None = None,
        run_id: str | None = None,
        agent_name: str | None = None,
        model: str | None = None,
        timeout_ms: int | None = None,
        kind: StepKind | str | None = None,
        judgment: bool | None = None,
        answer_path: AnswerPath | str | None = None,
        on_stop: Stopping = "return",
        enforced: bool | None = None,
        timer: bool = True,
        began_ms: int | None = None,
        began_unix_ms: int | None = None,
        announce: bool = True,
    ) -> Attempt:
        """Open an attempt; use it as ``with`` or ``async with``, or call ``close()``.

        Args:
            step: Step id or a ``Step``. A step that nobody declared is never asked for its answer (R20).
            number: Number of the attempt, from 1.
            retry_of: Why it is a retry of R17.
            retries_used: Retries of R17 the step has had.
            run_id: The run it belongs to; a new id by default.
            agent_name: Name of the agent; picks its settings.
            model: Name of the model, for records.
            timeout_ms: Length of the attempt, ms. By default the limit ``compositionExecution.timeoutMs``, when the
                step is declared or somebody set that limit; an undeclared step has no timer otherwise (our choice).
            kind: Declares the step read-only or write here and now.
            judgment: Declares whether the step has a reading share (R21).
            answer_path: How the answer is handed in (R22).
            on_stop: What a gated call does after a stop: return the denial text, or raise ``AttemptStopped``.
            enforced: False only watches it; by default as the mode says.
            timer: False for drivers that only watch: no timer but a given ``timeout_ms``.
            began_ms: When it began, ms of the clock's ``monotonic_ms``; now by default.
            began_unix_ms: When it began, ms since the epoch, for a driver that tells the time of each event itself: a
                recording. No clock wakes such an attempt.
            announce: False for a driver that may throw the attempt away again, or call ``announce`` with it later.
        """
        step_id = step.id if isinstance(step, Step) else step
        resolved = self.settings.resolve(step_id, agent_name)
        known = step if isinstance(step, Step) else resolved.step
        known = _declared(known, kind=kind, judgment=judgment, answer_path=answer_path)
        if timeout_ms is None and timer and (known.kind is not None or self._timer_was_set(step_id, agent_name)):
            timeout_ms = resolved.limits.timeout_ms
        machine = AttemptMachine(
            known,
            resolved.limits,
            resolved.toolset,
            number,
            RetryOf(retry_of) if retry_of is not None else None,
            timer_ms=timeout_ms,
            retries_used=retries_used,
            max_results=self.settings.caps.max_results_per_attempt,
        )
        attempt = Attempt(
            self,
            machine,
            AttemptRef(run_id or new_run_id(), step_id, number, agent_name),
            enforced=resolved.mode is Mode.ENFORCE if enforced is None else enforced and resolved.mode is Mode.ENFORCE,
            watched=resolved.mode is not Mode.OFF,
            on_stop=on_stop,
            model=model,
            began_ms=began_ms,
            began_unix_ms=began_unix_ms,
        )
        if announce:
            self.announce(attempt)
        return attempt

    def announce(self, attempt: Attempt) -> None:
        """Take an attempt into the table of live ones and tell the sinks; others may have to go for it."""
        if not attempt.watched:
            return
        for given_up, reason in self._attempts.add(attempt, attempt.active_ms):
            self.tallies.add("docsfab.supervisor.evictions", (reason,))
            given_up.close(Outcome.ABANDONED)
        self._each_sink("opened", attempt.ref, attempt.machine.step)
        attempt.arm()

    def _timer_was_set(self, step_id: str | None, agent_name: str | None) -> bool:
        setting = self.settings.limit_table(step_id, agent_name).get("compositionExecution.timeoutMs")
        return setting is not None and setting.source != "default"

    def run_step(
        self,
        step: str | Step,
        run_attempt: Callable[[Attempt], Any],
        *,
        validate: Callable[[Any], bool] | None = None,
        **options: Any,
    ) -> StepResult:
        """Run a step, its retry of R17 included; see ``otel_docsfab.gate.run_step``."""
        from otel_docsfab.gate.runner import run_step  # noqa: PLC0415 - the gate stands on the supervisor

        return run_step(self, step, run_attempt, validate=validate, **options)

    async def arun_step(
        self,
        step: str | Step,
        run_attempt: Callable[[Attempt], Awaitable[Any]],
        *,
        validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
        **options: Any,
    ) -> StepResult:
        """Run a step on the event loop, its retry of R17 included; see ``otel_docsfab.gate.arun_step``."""
        from otel_docsfab.gate.runner import arun_step  # noqa: PLC0415 - the gate stands on the supervisor

        return await arun_step(self, step, run_attempt, validate=validate, **options)

    @property
    def live_attempts(self) -> int:
        """Attempts that are open."""
        return len(self._attempts)

    # What attempts say

    def publish(self, attempt: Attempt, effects: Iterable[Effect], *, enforced: bool, size: int = 0) -> None:
        """Tell tallies, sinks, the agent's span and the callback. Called outside every lock.

        Args:
            attempt: Whose effects they are.
            effects: What its machine said.
            enforced: Whether the verdict on the call takes effect; decisions are the attempt's.
            size: Bytes of the result, when it is known.
        """
        for effect in effects:
            if isinstance(effect, DeliverResult):
                self.tallies.add_result(effect, size, enforced=enforced)
                if self.sinks:
                    self._each_sink("judged", attempt.ref, effect, enforced=enforced)
                    if effect.progress is not None:
                        self._each_sink("progressed", attempt.ref, effect.progress)
            elif isinstance(effect, DenyCall):
                self.tallies.add_denial(effect, enforced=enforced)
                self._each_sink("judged", attempt.ref, effect, enforced=enforced)
            elif isinstance(effect, (StopAttempt, AskForAnswer)):
                decision = decision_of(effect, attempt.ref, enforced=attempt.enforced)
                annotate_agent_span(attempt)
                self._each_sink("decided", decision)
                if isinstance(effect, StopAttempt) and effect.deadline_turn is not None:
                    attempt.end_run()
                self._callbacks.call(decision, attempt.loop)
            elif isinstance(effect, EvaluateAnswer):
                self.tallies.add("docsfab.lease.progress", (effect.progress.value,))
                self._each_sink("progressed", attempt.ref, effect.progress)
            elif isinstance(effect, CloseAttempt):
                self._attempts.remove(attempt)
                attempt.disarm()
                annotate_agent_span(attempt)
                self._each_sink("closed", attempt.record())

    def complete(self, record: AttemptRecord, attempt: Attempt) -> AttemptRecord:
        """Add what only the supervisor knows: run, agent, trace."""
        ref = attempt.ref
        return dataclasses.replace(
            record,
            run_id=ref.run_id,
            agent_name=ref.agent_name,
            model=attempt.model,
            trace_id=ref.trace_id,
            span_id=ref.span_id,
            enforced=attempt.enforced,
            started_unix_ms=attempt.began_unix_ms,
        )

    def _each_sink(self, method: str, *facts: Any, **more: Any) -> None:
        for sink in self.sinks:
            try:
                getattr(sink, method)(*facts, **more)
            except Exception as error:  # noqa: BLE001 - a sink may raise anything; the host must not see it
                self.faults.count(Site.SINK, error, f"The sink {type(sink).__name__} raised.")

    # End

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Let every sink write out; False when one did not manage within ``timeout_s`` seconds."""
        done = True
        for sink in self.sinks:
            try:
                done = sink.flush(timeout_s) and done
            except Exception as error:  # noqa: BLE001 - as in _each_sink
                self.faults.count(Site.SINK, error)
                done = False
        return done

    def shutdown(self) -> None:
        """Give up the live attempts and close the sinks, which hear nothing more; more often does no harm."""
        for attempt in self._attempts.all():
            attempt.close(Outcome.ABANDONED)
        self._each_sink("shutdown")
        self.sinks = ()

    def forked(self) -> None:
        """In a forked child: live attempts and counts are the parent's; locks are renewed."""
        self.faults.forked()
        self.tallies.forked()
        self._callbacks.forked()
        dropped = self._attempts.forked()
        for attempt in dropped:
            attempt.forked()
        self.tallies.add("docsfab.supervisor.evictions", ("fork",), len(dropped))


def _declared(
    step: Step, *, kind: StepKind | str | None, judgment: bool | None, answer_path: AnswerPath | str | None
) -> Step:
    """The step with what is declared here and now laid over it."""
    if kind is None and judgment is None and answer_path is None:
        return step
    return dataclasses.replace(
        step,
        kind=step.kind if kind is None else StepKind(kind),
        judgment=step.judgment if judgment is None else judgment,
        answer_path=step.answer_path if answer_path is None else AnswerPath(answer_path),
    )


def new_run_id() -> str:
    """A fresh run id."""
    return f"run-{secrets.token_hex(8)}"


_SUPERVISORS: weakref.WeakSet[Supervisor] = weakref.WeakSet()


def _after_fork() -> None:
    for supervisor in list(_SUPERVISORS):
        supervisor.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
