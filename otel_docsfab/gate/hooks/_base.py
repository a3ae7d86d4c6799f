"""What all adapters share: from a runtime's moments to the supervisor, and from its verdicts to texts.

An adapter opens a ``Run`` when an agent begins, asks it before each model request what is to be done, and takes each
tool call through ``Run.start``. Every rule is the attempt's; nothing is decided here.

A fault of ours is caught, counted (``Site.HOOK``) and lets the run go on as it would without us. Only a stop raises:
``AttemptStopped``, before the next model request, when every call of the turn has its result.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, ParamSpec, TypeVar

from opentelemetry import trace

from otel_docsfab.core import AttemptMachine
from otel_docsfab.gate.hooks._run import Run, take
from otel_docsfab.gate.hooks.levers import LEVERS, Lever, Runtime, report
from otel_docsfab.supervisor import Attempt, AttemptRef, Site, Supervisor, current_attempt

P = ParamSpec("P")
R = TypeVar("R")
_AGENT_MARKS: Final = (("gen_ai.operation.name", "invoke_agent"), ("openinference.span.kind", "AGENT"))


class Hooks:
    """What an adapter was set up with.

    Attributes:
        supervisor: Opens the attempts of runs that the host opened none for.
        runtime: The runtime.
        strict: A missing lever is an error, not a warning.
        withhold_blind: Withhold even where it cannot be known what left the context.
    """

    def __init__(
        self,
        runtime: Runtime,
        supervisor: Supervisor,
        *,
        strict: bool = False,
        withhold_without_compaction: bool = False,
    ) -> None:
        """Say what the runtime lacks.

        Args:
            runtime: The runtime.
            supervisor: Judges the runs.
            strict: Raise when the runtime lacks a lever; otherwise a warning is logged.
            withhold_without_compaction: Withhold results also in runs that do not tell what left the context. By
                default such runs get notices beside the content instead.

        Raises:
            ConfigError: A lever is missing and ``strict`` was asked for.
        """
        report(runtime, strict=strict)
        self.supervisor = supervisor
        self.runtime = runtime
        self.strict = strict
        self.withhold_blind = withhold_without_compaction
        self._said_blind = False

    def begin(self, agent_name: str | None = None, *, model: str | None = None, tells_context: bool = True) -> Run:
        """An agent begins to run.

        The first one inside ``supervisor.attempt()`` runs in that attempt. One that begins while another runs there, or
        below a tool call, is a sub-agent with an attempt of its own; its step is undeclared, so that it is never asked.

        Args:
            agent_name: Name of the agent; picks its settings.
            model: Name of the model, for records.
            tells_context: Whether the run tells what is still in the context.

        Raises:
            ConfigError: The run lacks a lever and ``strict`` was asked for.
        """
        sometimes = LEVERS[self.runtime][Lever.COMPACTION].sometimes
        blind = sometimes and not tells_context and not self.withhold_blind
        if blind and (self.strict or not self._said_blind):
            self._said_blind = True
            report(self.runtime, strict=self.strict, lacking=Lever.COMPACTION)
        try:
            return self._begin(agent_name, model, tells_context=tells_context)
        except Exception as error:  # noqa: BLE001 - a fault here must not cost the host its run
            self.supervisor.faults.count(Site.HOOK, error, "A run is not watched.")
            unwatched = Attempt(self.supervisor, AttemptMachine(), AttemptRef(""), enforced=False, watched=False)
            return Run(unwatched, owned=True)

    def _begin(self, agent_name: str | None, model: str | None, *, tells_context: bool) -> Run:
        host = current_attempt.get()
        if host is not None and host.machine.closed:
            host = None
        nested = host is not None and host.machine.running > 0
        owned = host is None or not take(host, agent_name)
        if host is None or owned:
            attempt = self.supervisor.attempt(
                run_id=host.ref.run_id if host is not None else None,
                agent_name=agent_name,
                model=model,
                on_stop="raise",
            )
            take(attempt, agent_name)
        else:
            attempt = host
        _known_as(attempt, agent_name)
        withholds = tells_context or self.withhold_blind
        return Run(attempt, owned=owned, nested=nested, tells_context=tells_context, withholds=withholds)


def _known_as(attempt: Attempt, agent_name: str | None) -> None:
    """Give the attempt its agent's name and, when the runtime has one open here, its agent's span."""
    ref = attempt.ref
    if ref.agent_name is None and agent_name is not None:
        ref = dataclasses.replace(ref, agent_name=agent_name)
    span = trace.get_current_span()
    attributes = getattr(span, "attributes", None) or {}
    if attempt.agent_span is None and any(attributes.get(key) == value for key, value in _AGENT_MARKS):
        attempt.agent_span = span
        context = span.get_span_context()
        ref = dataclasses.replace(
            ref, trace_id=trace.format_trace_id(context.trace_id), span_id=trace.format_span_id(context.span_id)
        )
    attempt.ref = ref


def guarded(method: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R | None]]:
    """A callback of an adapter that has ``_hooks``: what goes wrong in it is counted, and it answers nothing."""

    @functools.wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return await method(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a fault here must not cost the host its run
            adapter: Any = args[0]
            adapter._hooks.supervisor.faults.count(Site.HOOK, error)  # noqa: SLF001 - an adapter's own
            return None

    return call


def replace(owner: Any, name: str, by: Callable[..., Any]) -> Callable[[], None]:
    """Put a function in place of one of a framework's.

    Args:
        owner: Class or module.
        name: Its function.
        by: The new one; it gets the original before its own arguments.

    Returns:
        What puts the original back, unless somebody else has replaced it since.
    """
    original = getattr(owner, name)

    @functools.wraps(original)
    def new(*args: Any, **kwargs: Any) -> Any:
        return by(original, *args, **kwargs)

    setattr(owner, name, new)

    def undo() -> None:
        if getattr(owner, name) is new:
            setattr(owner, name, original)

    return undo
