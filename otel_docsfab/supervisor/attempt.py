"""One live attempt: its machine, its lock, and what a host may say and ask about it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Hashable, Iterable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar

from otel_docsfab.core import (
    AnswerReturned,
    AskForAnswer,
    AttemptEnded,
    AttemptMachine,
    AttemptRecord,
    CallDescribed,
    CallStarted,
    Compacted,
    DeliverResult,
    DenyCall,
    Effect,
    Event,
    Evicted,
    Outcome,
    Output,
    OutputStarted,
    RequestEnded,
    RequestSent,
    ResultReturned,
    StopAttempt,
    ToolClass,
    TurnBegan,
    TurnEnded,
    Unjudged,
    wording,
)
from otel_docsfab.core.identity import result_digest
from otel_docsfab.core.results import result_form
from otel_docsfab.errors import RefusedEvent
from otel_docsfab.supervisor.calls import UNWATCHED, Admission, Described, describe
from otel_docsfab.supervisor.decisions import AttemptRef, Decision, decision_of
from otel_docsfab.supervisor.faults import Site
from otel_docsfab.supervisor.marks import mark_request
from otel_docsfab.supervisor.timing import Moment, Timing

if TYPE_CHECKING:
    from otel_docsfab.supervisor.supervisor import Supervisor

P = ParamSpec("P")
R = TypeVar("R")
_TURN_BEGAN = TurnBegan()
_DECISIONS = (StopAttempt, AskForAnswer)
_NOT_CAPTURED = Unjudged.RESULT_NOT_CAPTURED

current_attempt: ContextVar[Attempt | None] = ContextVar("otel_docsfab_attempt", default=None)
"""The attempt whose ``with`` block is the innermost one here."""


class Attempt:
    """One attempt, fed by any number of drivers and threads; get one from ``Supervisor.attempt()``.

    Nothing here raises for what telemetry or a host does out of turn: such calls are counted and change nothing.

    Attributes:
        ref: Run, step, number, agent and trace.
        enforced: Whether verdicts take effect (R30).
        on_stop: What a gated call does after a stop: return the denial text, or raise ``AttemptStopped``.
        decision: The newest decision, or None.
        gated: Names of the tools that a gate judges in this attempt; nobody else may judge them.
        retry_prompt: In a retry of R17, what its prompt is to say; else None.
        turns_seen: Whether a span driver sees model requests and marks the turns by them.
        requests_reported: Whether the host reports its model requests; then what spans say of them is not needed.
        when_timer_fires: Called once, in any thread, when the timer has fired and the attempt is enforced.
        open_tool_spans: Keys of recording tool spans of this attempt, for the gate to write on.
        agent_span: The span that stands for the attempt, to be written on while it is open.
        span_owner: What a span driver remembers of the attempt.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each fact of its beginning
        self,
        supervisor: Supervisor,
        machine: AttemptMachine,
        ref: AttemptRef,
        *,
        enforced: bool,
        watched: bool = True,
        on_stop: Literal["return", "raise"] = "return",
        model: str | None = None,
        began_ms: int | None = None,
        began_unix_ms: int | None = None,
    ) -> None:
        """Begin now, or when the driver says; one that says it by the wall clock tells the time of each event too."""
        self.supervisor = supervisor
        self.machine = machine
        self.ref = ref
        self.enforced = enforced
        self.on_stop = on_stop
        self.model = model
        self.decision: Decision | None = None
        self.gated: set[str] = set()
        self.turns_seen = False
        self.requests_reported = False
        self.when_timer_fires: Callable[[], object] | None = None
        self.open_tool_spans: set[Hashable] = set()
        self.retry_prompt = wording.RETRY_PROMPTS[machine.retry_of] if machine.retry_of else None
        self.agent_span: Any = None
        self.span_owner: Any = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._watched = watched
        self._lock = threading.Lock()
        self._keys = itertools.count(1)
        self._turns_marked = False
        self._token: Token[Attempt | None] | None = None
        clock = supervisor.clock
        self.active_ms = clock.monotonic_ms()
        self._began_ms = self.active_ms if began_ms is None else began_ms
        if began_unix_ms is None:
            self._began_unix_ms = clock.unix_ms() - (self.active_ms - self._began_ms)
        else:
            self._began_unix_ms = began_unix_ms
        self._timing: Timing | None = None
        if machine.timer_ms is not None and watched:
            began = (self._began_ms, self._began_unix_ms)
            self._timing = Timing(machine, clock, *began, recorded=began_unix_ms is not None)
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            self.loop = None

    # The one way in

    def feed(
        self,
        event: Event,
        at_ms: int | None = None,
        *,
        before: Event | None = None,
        begin_turn_if_idle: bool = False,
        observed: bool = False,
        size: int = 0,
    ) -> tuple[Effect, ...]:
        """Give the machine one event and tell everybody what came of it.

        Args:
            event: What happened.
            at_ms: Ms since the attempt began; None for now.
            before: Another event that comes first, in the same moment.
            begin_turn_if_idle: Begin a new turn first when no call is in flight and nobody else marks turns.
            observed: The driver only watches this call, whatever holds for the attempt (R30).
            size: Bytes of the result, when one returns and is known.

        Returns:
            The machine's effects.

        Raises:
            RefusedEvent: The machine cannot take the event.
        """
        refused: RefusedEvent | None = None
        with self._lock:
            if at_ms is None:
                self.active_ms = self.supervisor.clock.monotonic_ms()
                at_ms = max(0, self.active_ms - self._began_ms)
            machine = self.machine
            effects: tuple[Effect, ...] = ()
            timing = self._timing
            if timing is not None and at_ms >= timing.due_ms:
                effects = self._apply(timing.catch_up(at_ms))
            try:
                if begin_turn_if_idle and not (self._turns_marked or self.turns_seen or machine.running):
                    before = _TURN_BEGAN
                if before is not None:
                    effects += machine.apply(before, at_ms)
                effects += machine.apply(event, at_ms)
            except RefusedEvent as error:
                refused = error
            if effects:
                self._note_decision(effects)
        told = effects
        if type(event) is ResultReturned and event.own_notice:  # nobody needs to hear of it (R6)
            told = tuple(effect for effect in effects if type(effect) is not DeliverResult)
        if told:
            self.supervisor.publish(self, told, enforced=self.enforced and not observed, size=size)
        if refused is not None:
            raise refused
        return effects

    def _note_decision(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, _DECISIONS):
                self.decision = decision_of(effect, self.ref, enforced=self.enforced)

    def _apply(self, moments: Iterable[Moment]) -> tuple[Effect, ...]:
        effects: tuple[Effect, ...] = ()
        if not self.machine.closed:
            for event, at_ms in moments:
                effects += self.machine.apply(event, at_ms)
        return effects

    def tell(self, event: Event, at_ms: int | None = None) -> bool:
        """Feed an event; what the machine refuses is counted and dropped. False when it was."""
        if not self._watched:
            return False
        try:
            self.feed(event, at_ms)
        except RefusedEvent as error:
            self.supervisor.faults.count(Site.ATTEMPT, error, "An event came for an attempt that had ended.")
            return False
        if self._timing is not None:
            self._timing.heard(event)
        return True

    # Calls, for drivers

    def start_call(  # noqa: PLR0913 - one call has that many facts, nearly all optional
        self,
        tool: str,
        arguments: object,
        *,
        call_id: str | None = None,
        mark: int | None = None,
        at_ms: int | None = None,
        arguments_digest: bytes | None = None,
        arguments_reason: Unjudged | None = None,
        own_turn: bool = False,
        new_turn: bool = False,
        observed: bool = False,
    ) -> Admission:
        """A tool call is about to run.

        Args:
            tool: Tool name.
            arguments: JSON-like value or text; None when unknown.
            call_id: The runtime's own id of the call.
            mark: ``machine.mark`` when it really started, for drivers that learn of it later.
            at_ms: Ms since the attempt began; None for now.
            arguments_digest: Digest of the arguments when telemetry carries that instead.
            arguments_reason: Why the arguments are unknown.
            own_turn: Begin a turn when no call is in flight and nobody else marks turns.
            new_turn: Begin a turn in any case.
            observed: The driver only watches: a denial will not keep the call from running.

        Returns:
            Whether it may run; pass it to ``finish_call`` when it was not denied.
        """
        if not self._watched or self.machine.closed:
            return UNWATCHED
        call = self._describe(tool, arguments, arguments_digest, arguments_reason)
        key = next(self._keys)
        event = CallStarted(key, tool, call.tool_class, call.digest, call.subject, call_id, mark, call.reason)
        try:
            before = _TURN_BEGAN if new_turn else None
            effects = self.feed(event, at_ms, before=before, begin_turn_if_idle=own_turn, observed=observed)
        except RefusedEvent:  # it closed in this moment
            return UNWATCHED
        for effect in effects:
            if isinstance(effect, DenyCall) and effect.call == key:
                return Admission(key, tool, call.subject, effect)
        return Admission(key, tool, call.subject)

    def description(
        self,
        admission: Admission,
        arguments: object,
        *,
        call_id: str | None = None,
        digest: bytes | None = None,
        reason: Unjudged | None = None,
    ) -> CallDescribed | None:
        """What a running call is about, when that is known only at its end; to be told with its result.

        Args:
            admission: What ``start_call`` gave.
            arguments: JSON-like value or text; None when unknown.
            call_id: The runtime's own id of the call.
            digest: Digest of the arguments when telemetry carries that instead.
            reason: Why the arguments are unknown.

        Returns:
            What to pass to ``finish_call``; None when nobody watches the call or it was denied.
        """
        if admission.key is None or admission.denied is not None:
            return None
        call = self._describe(admission.tool, arguments, digest, reason)
        return CallDescribed(admission.key, call.tool_class, call.digest, call.subject, call_id, call.reason)

    def _describe(
        self, tool: str, arguments: object, digest: bytes | None = None, reason: Unjudged | None = None
    ) -> Described:
        """The call in the machine's words; one that the toolset fails on is a read that cannot be judged."""
        try:
            return describe(self.machine.toolset, tool, arguments, digest=digest, reason=reason)
        except Exception as error:  # noqa: BLE001 - a host's own toolset may raise anything
            self.supervisor.faults.count(Site.ATTEMPT, error, "The toolset raised.")
            return Described(ToolClass.READ, None, "", reason or Unjudged.ARGUMENTS_NOT_CAPTURED)

    def finish_call(  # noqa: PLR0913 - as above
        self,
        admission: Admission,
        result: object = None,
        *,
        ok: bool = True,
        at_ms: int | None = None,
        own_notice: bool = False,
        digest: bytes | None = None,
        reason: Unjudged | None = None,
        description: CallDescribed | None = None,
        observed: bool = False,
    ) -> DeliverResult | None:
        """A call that was not denied returned.

        Args:
            admission: What ``start_call`` gave.
            result: What it returned; ignored for a failed call.
            ok: False when it failed or was cancelled.
            at_ms: Ms since the attempt began; None for now.
            own_notice: The result is a notice of ours.
            digest: Digest of the result when telemetry carries that instead.
            reason: Why the result is unknown.
            description: What the call is about, when that was unknown at its start.
            observed: The driver only watches: the verdict will not take effect.

        Returns:
            The verdict; None when nobody judges the call: deliver the result as it is.
        """
        if admission.key is None or admission.denied is not None:
            return None
        size = 0
        if ok and digest is None and reason is None:
            form = result_form(result)
            if form is None:
                reason = Unjudged.RESULT_NOT_TEXT
            else:
                data = form.encode("utf-8", "surrogatepass") if isinstance(form, str) else form
                size = len(data)
                digest = result_digest(data)
        known = digest if ok else None
        event = ResultReturned(admission.key, known, ok, own_notice, reason or _NOT_CAPTURED)
        try:
            effects = self.feed(event, at_ms, before=description, observed=observed, size=size)
        except RefusedEvent:
            return None
        for effect in effects:
            if isinstance(effect, DeliverResult) and effect.call == admission.key:
                return effect
        return None

    # What a host says

    def turn(self) -> Turn:
        """Mark one model turn: ``with attempt.turn():``; leaving it looks at the bounds (R14)."""
        self._turns_marked = True
        return Turn(self)

    def compacted(self) -> None:
        """The context was compacted: a new epoch (R12)."""
        self.tell(Compacted())

    def evicted(self, calls: Iterable[str | tuple[str, object]]) -> None:
        """Single results left the context (R12a).

        Args:
            calls: Call ids, or (tool, arguments) for every result that call gave.
        """
        ids: list[str] = []
        named: list[tuple[str, bytes]] = []
        for call in calls:
            if isinstance(call, str):
                ids.append(call)
                continue
            tool, arguments = call
            digest = self._describe(tool, arguments).digest
            if digest is not None:
                named.append((tool, digest))
        self.tell(Evicted(tuple(ids), tuple(named)))

    def answered(self, *, valid: bool | None = None) -> None:
        """The model answered; the host evaluated it (R16). ``valid=False`` makes the outcome ``rejected``."""
        self.tell(AnswerReturned(valid))

    def request_sent(self) -> None:
        """A model request went out, and its output will be reported (R23); the turn before it is over."""
        self.requests_reported = True
        mark_request(self, "request_sent")
        if not (self._turns_marked or self.turns_seen or self.machine.running or self.machine.closed):
            self.tell(TurnEnded())
        self.tell(RequestSent(output_visible=True))

    def output_started(self, kind: Literal["answer", "tool-call", "other"]) -> None:
        """Output of this kind began to come back (R23)."""
        self.requests_reported = True
        mark_request(self, "output_started", kind=kind)
        self.tell(OutputStarted(Output(kind)))

    def request_ended(self) -> None:
        """The model request is over (R23)."""
        self.requests_reported = True
        mark_request(self, "request_ended")
        self.tell(RequestEnded())

    def gate(
        self,
        function: Callable[P, R],
        *,
        tool: str | None = None,
        ok: Callable[[Any], bool] | None = None,
        call_id: Callable[..., str | None] | None = None,
    ) -> Callable[P, R]:
        """Put a tool behind the supervisor; see ``otel_docsfab.gate.gated``.

        Args:
            function: A sync or async callable; its parameters are the call's arguments.
            tool: Tool name; the callable's own name by default.
            ok: Tells from a result whether the call succeeded; raising always means it failed.
            call_id: Tells the runtime's call id from the call's arguments, for evictions.

        Returns:
            A callable of the same kind.
        """
        from otel_docsfab.gate.gate import gated  # noqa: PLC0415 - the gate stands on the supervisor, not under it

        return gated(self, function, tool=tool, ok=ok, call_id=call_id)

    # What a host asks

    def record(self) -> AttemptRecord:
        """What is known of the attempt so far."""
        with self._lock:
            record = self.machine.record()
        return self.supervisor.complete(record, self)

    @property
    def conclude_request(self) -> str | None:
        """The request for the answer that the next model request is to carry, once it was asked for (R18).

        None in an attempt that is only observed: nothing is changed in it (R30).
        """
        asked = self.enforced and self.machine.asked is not None and self.machine.stop is None
        return wording.CONCLUDE_REQUEST if asked else None

    @property
    def watched(self) -> bool:
        """Whether anybody judges its calls: not when the mode is ``off``, nor in a forked child."""
        return self._watched

    @property
    def turns_marked(self) -> bool:
        """Whether the host marks turns itself; then nobody else begins or ends one."""
        return self._turns_marked

    @property
    def began_unix_ms(self) -> int:
        """When it began, ms since the epoch."""
        return self._began_unix_ms

    @property
    def stopped(self) -> bool:
        """Whether a stop takes effect: a loop that runs the attempt should end now, its gated calls are denied."""
        return self.enforced and self.machine.stop is not None

    # Time

    @property
    def timing(self) -> Timing | None:
        """How time reaches it; None without a timer."""
        return self._timing

    def wake(self) -> None:
        """The clock's alarm went off: look at the time (R20, R23), and set the alarm again."""
        try:
            if self._timing is not None:
                self._hear(self._timing.woken())
                self.arm()
        except Exception as error:  # noqa: BLE001 - a fault of one attempt must not cost the others their time
            self.supervisor.faults.count(Site.SCHEDULER, error)

    def catch_up(self, at_ms: int | None = None) -> None:
        """For span drivers: take in what happened on open spans, or let a recording's time come to ``at_ms``."""
        timing = self._timing
        if timing is not None:
            self._hear(timing.look() if at_ms is None else timing.catch_up(at_ms))

    def _hear(self, moments: Iterable[Moment]) -> None:
        if not self._watched:
            return
        with self._lock:
            effects = self._apply(moments)
            for effect in effects:
                if isinstance(effect, _DECISIONS):
                    self.decision = decision_of(effect, self.ref, enforced=self.enforced)
        if effects:
            self.supervisor.publish(self, effects, enforced=self.enforced)

    def arm(self) -> None:
        """Set the clock's alarm, if there is a time to wait for."""
        if self._timing is not None and self._watched:
            try:
                self._timing.arm(self)
            except RuntimeError as error:
                hint = "No thread can be started: asks and deadlines come with the attempt's next event only."
                self.supervisor.faults.count(Site.SCHEDULER, error, hint)

    def end_run(self) -> None:
        """The timer has fired: whoever runs the attempt is to end it, if the stop takes effect."""
        end = self.when_timer_fires
        if end is not None and self.enforced:
            with contextlib.suppress(RuntimeError):  # its event loop is closed: there is nothing left to end
                end()

    def disarm(self) -> None:
        """Take the alarm back."""
        if self._timing is not None:
            self._timing.disarm()

    # Beginning and end

    def close(self, outcome: Outcome = Outcome.CANCELLED, at_ms: int | None = None) -> None:
        """End the attempt; once is enough, more often does no harm.

        Args:
            outcome: What it is when there was neither answer nor stop.
            at_ms: Ms since the attempt began; None for now.
        """
        with self._lock:
            if self.machine.closed:
                return
        self.tell(AttemptEnded(outcome), at_ms)

    def forked(self) -> None:
        """In a forked child: the attempt is the parent's; here it only lets calls through."""
        self._lock = threading.Lock()
        self._watched = False

    def __enter__(self) -> Self:
        """Make this the current attempt."""
        self._token = current_attempt.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """End the attempt."""
        if self._token is not None:
            try:
                current_attempt.reset(self._token)
            except ValueError:  # left in another context than it was entered in
                current_attempt.set(None)
            self._token = None
        self.close()

    async def __aenter__(self) -> Self:
        """Make this the current attempt; async callbacks run on this loop."""
        self.loop = asyncio.get_running_loop()
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        """End the attempt."""
        self.__exit__(kind, error, tb)


class Turn:
    """One marked turn; a sync and async context manager."""

    __slots__ = ("_attempt",)

    def __init__(self, attempt: Attempt) -> None:
        """Mark a turn of this attempt."""
        self._attempt = attempt

    def __enter__(self) -> Self:
        """The turn begins."""
        self._attempt.tell(TurnBegan())
        return self

    def __exit__(self, *_: object) -> None:
        """The turn ends; the bounds are looked at."""
        self._attempt.tell(TurnEnded())

    async def __aenter__(self) -> Self:
        """The turn begins."""
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        """The turn ends; the bounds are looked at."""
        self.__exit__()
