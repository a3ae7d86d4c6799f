"""What all adapters share: from a runtime's moments to the supervisor, and from its verdicts to texts.

An adapter opens a ``Run`` when an agent begins, asks it before each model request what is to be done, and takes each
tool call through ``Run.start``. Every rule is the attempt's; nothing is decided here.

A fault of ours is caught, counted (``Site.HOOK``) and lets the run go on as it would without us. Only a stop raises:
``AttemptStopped``, before the next model request, when every call of the turn has its result.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from opentelemetry import trace

from otel_docsfab.core import AnswerPath, AttemptMachine, DeliverResult, Outcome, ToolClass, Trigger, Verdict, wording
from otel_docsfab.core.tools import SUBMIT_TOOL
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import render
from otel_docsfab.gate.hooks.levers import LEVERS, Lever, Runtime, report
from otel_docsfab.gate.span import tool_span, write_denial, write_verdict
from otel_docsfab.supervisor import UNWATCHED, Admission, Attempt, AttemptRef, Site, Supervisor, current_attempt

P = ParamSpec("P")
R = TypeVar("R")
_AGENT_MARKS = (("gen_ai.operation.name", "invoke_agent"), ("openinference.span.kind", "AGENT"))
_busy: WeakSet[Attempt] = WeakSet()
_agents: WeakKeyDictionary[Attempt, str | None] = WeakKeyDictionary()
_busy_lock = threading.Lock()
"""Attempts in which a run is going on, and whose they are; a run of another agent is an attempt of its own."""


class Shape(Protocol):
    """How a runtime's tool result takes a notice; ``otel_docsfab.gate.render`` is one."""

    def with_notice(self, result: Any, notice: str) -> Any:
        """The result and the notice, the notice as a part of its own."""

    def notice_only(self, result: Any, notice: str) -> Any:
        """The notice instead of the result."""


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
        if sometimes and not tells_context and not self.withhold_blind and not self._said_blind:
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
        owned = host is None or not _take(host, agent_name)
        if host is None or owned:
            attempt = self.supervisor.attempt(
                run_id=host.ref.run_id if host is not None else None,
                agent_name=agent_name,
                model=model,
                on_stop="raise",
            )
            _take(attempt, agent_name)
        else:
            attempt = host
        _known_as(attempt, agent_name)
        withholds = tells_context or self.withhold_blind
        return Run(attempt, owned=owned, nested=nested, tells_context=tells_context, withholds=withholds)


def _take(attempt: Attempt, agent_name: str | None) -> bool:
    """Whether this agent may run in this attempt: none runs there, no call is in flight, and no other had it."""
    with _busy_lock:
        if attempt in _busy or attempt.machine.running or _agents.get(attempt, agent_name) != agent_name:
            return False
        _busy.add(attempt)
        _agents[attempt] = agent_name
        return True


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


class Call:
    """One tool call of a run.

    Attributes:
        denial: What the model gets instead of a result when the call must not run; else None.
    """

    __slots__ = ("_admission", "_call_id", "_run", "_span", "_tool", "denial")

    def __init__(self, run: Run, tool: str, call_id: str | None, admission: Admission) -> None:
        """Made by ``Run.start``."""
        self._run = run
        self._tool = tool
        self._call_id = call_id
        self._admission = admission
        self._span: Any = None
        denied = admission.denied
        self.denial = wording.denial(tool, denied.reason) if denied is not None and run.attempt.enforced else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the tool runs: its span is here, and what it starts belongs to the attempt."""
        if not self._run.attempt.watched:
            yield
            return
        with tool_span(self._run.attempt, self._tool) as self._span:
            if self.denial is not None:
                write_denial(self._span, self._admission)
            yield

    def on_current_span(self) -> None:
        """Write the verdict on the tool's span that is current here, for runtimes without a place around the tool."""
        with self._run.guarded():
            span = trace.get_current_span()
            attributes = getattr(span, "attributes", None) or {}
            if attributes.get("gen_ai.operation.name") == "execute_tool":
                self._span = span
                if self.denial is not None:
                    write_denial(span, self._admission)

    def deliver(
        self,
        result: Any,
        *,
        ok: bool = True,
        judged: Callable[[], Any] | None = None,
        shape: Any = render,
        can_withhold: bool = True,
    ) -> Any:
        """The call returned.

        Args:
            result: What the runtime is about to give to the model.
            ok: Whether the call succeeded.
            judged: Gives what the model gets of it, when that is not the result itself.
            shape: A ``Shape``.
            can_withhold: Whether the runtime lets this result be replaced; else it gets the notice beside it.

        Returns:
            The result, with its notice, or the notice alone; the result itself when anything goes wrong.
        """
        given = result
        with self._run.guarded():
            content = result if judged is None or not ok else judged()
            verdict = self._run.attempt.finish_call(self._admission, content, ok=ok)
            if verdict is not None:
                given = self._shaped(result, verdict, shape, can_withhold=can_withhold)
        return given

    def _shaped(self, result: Any, verdict: DeliverResult, shape: Shape, *, can_withhold: bool) -> Any:
        run = self._run
        if self._span is not None:
            write_verdict(self._span, verdict)
        enforced = run.attempt.enforced
        withheld = enforced and run.withholds and can_withhold and verdict.verdict is Verdict.NOTICE_ONLY
        run.delivered(self._call_id, verdict, in_full=not withheld)
        if not enforced or verdict.verdict is Verdict.DELIVER or verdict.first_turn is None:
            return result
        notice = wording.notice(verdict.tool, verdict.subject, verdict.first_turn)
        return shape.notice_only(result, notice) if withheld else shape.with_notice(result, notice)

    def failed(self) -> None:
        """The call failed, was cancelled, or never ran."""
        self.deliver(None, ok=False)

    def stopped_inside(self, stop: AttemptStopped) -> str:
        """The call failed because an agent that it ran was stopped: that ends the sub-agent's attempt, not this one.

        Returns:
            What the model gets.

        Raises:
            AttemptStopped: The stop is this attempt's own, or nothing is enforced here.
        """
        self.failed()
        if self._run.attempt.machine.stop is not None or not self._run.attempt.enforced:
            raise stop
        return stopped_text(self._tool, stop)


def stopped_text(tool: str, stop: AttemptStopped) -> str:
    """What a model is told of a sub-agent that was stopped."""
    return f"{wording.NOTICE_MARK} {tool} was stopped. {stop.message}"
