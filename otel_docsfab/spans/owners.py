"""Whose a span is: the nearest enclosing agent span, the host's attempt, or the topmost span (mapping rule 9)."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any, Final

from opentelemetry.trace import format_span_id, format_trace_id

from otel_docsfab.core import AnswerReturned, Outcome
from otel_docsfab.spans import attributes as names
from otel_docsfab.spans import dialects
from otel_docsfab.spans.facts import attempt_attributes, attempt_facts
from otel_docsfab.spans.nodes import Node, Owner
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.view import SpanView
from otel_docsfab.supervisor import Attempt, Supervisor

_LONGEST_BEFORE_NS: Final = 3_600_000_000_000


class Owners:
    """Finds, opens and ends the attempts that spans belong to."""

    def __init__(self, supervisor: Supervisor) -> None:
        """Open attempts with this supervisor."""
        self._supervisor = supervisor
        self._lock = threading.Lock()

    def agent(
        self, node: Node, view: SpanView, at_ns: int | None, span: Any, ids: tuple[str | None, str | None]
    ) -> Owner:
        """The owner of an agent span: its own, the host's attempt, or that of the same agent around it."""
        seen = dialects.observe(view)
        name = seen.agent_name if seen is not None else None
        outer = _agent_around(node)
        if outer is not None and outer.owner is not None and name is not None and outer.owner.agent_name == name:
            return outer.owner
        if span is not None:
            ids = (format_trace_id(span.context.trace_id), format_span_id(span.context.span_id))
        host = node.inside
        if host is not None and (_has_agent(host) or _below_tool_of(node, host)):
            host = None
        owner = self._new(node, _began_ns(view, at_ns), host)
        owner.agent_name, owner.facts, owner.span, owner.ids = name, attempt_facts(view.attributes), span, ids
        owner.conversation = seen.conversation if seen is not None else None
        if host is not None:
            host.agent_span = span
            if host.span_owner is not None:
                owner.live = host.span_owner.live
            host.span_owner = owner
            _describe(host, view, span)
            name = host.ref.agent_name or name
            host.ref = dataclasses.replace(host.ref, trace_id=ids[0], span_id=ids[1], agent_name=name)
        if span is not None:
            owner.live.hold(node.key, span)
        if host is not None:
            _listen(owner, host)
        elif "timeout_ms" in owner.facts:  # its time runs, whatever comes of it
            self.attempt(owner)
        return owner

    def _new(self, node: Node, at_ns: int | None, host: Attempt | None = None) -> Owner:
        began_ms = self._supervisor.clock.monotonic_ms() if at_ns is None else None
        return Owner(node, host, began_ns=at_ns, began_ms=began_ms)

    def other(self, node: Node, at_ns: int | None) -> Owner | None:
        """The owner of any other span; None for a topmost one as long as nothing below it needs one."""
        host, parent = node.inside, node.parent
        if parent is not None and (host is None or parent.inside is host):
            return self.of(parent, at_ns)
        if host is None:
            return None
        with self._lock:
            if host.span_owner is None:
                host.span_owner = Owner(None, host)
                _listen(host.span_owner, host)
            owner: Owner = host.span_owner
        return owner

    def of(self, node: Node, at_ns: int | None) -> Owner:
        """The owner of a span that needs one; itself when there is no other."""
        if node.owner is not None:
            return node.owner
        with self._lock:
            if node.owner is None:
                node.owner = self._new(node, at_ns)
            return node.owner

    def attempt(self, owner: Owner) -> Attempt:
        """The owner's attempt, opened when its first model or tool span comes.

        Of several threads that come first at the same time, one opens it; no lock is held while sinks are told.
        """
        if owner.attempt is not None:
            return owner.attempt
        attempt = self._prepare(owner)
        with self._lock:
            first = owner.attempt is None
            if owner.attempt is None:
                owner.attempt = attempt
        if first:
            _listen(owner, attempt)
            self._supervisor.announce(attempt)
        return owner.attempt

    def _prepare(self, owner: Owner) -> Attempt:
        facts = dict(owner.facts)
        attempt = self._supervisor.attempt(
            facts.pop("step", None),
            facts.pop("number", 1),
            run_id=facts.pop("run_id", None) or owner.conversation,
            agent_name=owner.agent_name,
            enforced=False,
            timer=False,
            announce=False,
            began_ms=owner.began_ms,
            began_unix_ms=owner.began_ns // 1_000_000 if owner.began_ns is not None else None,
            **facts,
        )
        attempt.ref = dataclasses.replace(attempt.ref, trace_id=owner.ids[0], span_id=owner.ids[1])
        attempt.agent_span = owner.span
        return attempt

    def attempt_of(self, node: Node, at_ns: int | None) -> tuple[Owner, Attempt]:
        """The owner of a span, and its attempt."""
        owner = node.owner or self.of(node, at_ns)
        return owner, owner.attempt or self.attempt(owner)

    def tool_opened(self, owner: Owner) -> bool:
        """A tool span started. True when no other was open."""
        with self._lock:
            owner.open_tools += 1
            return owner.open_tools == 1

    def tool_closed(self, owner: Owner, at_ns: int | None, now: int, *, was_open: bool) -> None:
        """A tool span is over; ends the owner whose own end waited for it.

        Args:
            owner: The owner.
            at_ns: When, ns; None for now.
            now: Sequence number of the end.
            was_open: Whether it was counted at its start.
        """
        with self._lock:
            owner.last_tool_end = now
            owner.open_tools -= was_open
            waiting = owner.ending if owner.open_tools == 0 else None
        if waiting is not None:
            self._end(owner, waiting, at_ns)

    def holder_ended(self, owner: Owner, seen: Observation, at_ns: int | None) -> None:
        """The owner's span ended; a cancelled tool's span may still end after it (mapping rule 11)."""
        with self._lock:
            if owner.open_tools > 0:
                owner.ending = seen
                return
        self._end(owner, seen, at_ns)

    def _end(self, owner: Owner, seen: Observation, at_ns: int | None) -> None:
        """The owner's span is over: an answer when nothing speaks against it, then the end.

        Without model spans a good end is taken for an answer; with them the newest response must have asked for no tool
        (our choice). Once the timer has fired it must say how it ended: a run that was cut off ends well, too.
        """
        attempt = owner.attempt
        owner.ending = None
        if attempt is None:
            return
        self.read_events(owner, at_ns)
        if owner.holder is not None:
            owner.live.release(owner.holder.key)
        at_ms = owner.at_ms(at_ns)
        if not owner.models_seen or (owner.answer_seen and not attempt.machine.turn_called_tools):
            answered = seen.ok
        else:
            answered = False
        stop = attempt.machine.stop
        if stop is not None and stop.deadline_turn is not None:
            answered = answered and owner.answer_told
        if attempt.span_owner is not owner:
            if seen.agent_name is not None:  # several runtimes name the agent only now
                attempt.ref = dataclasses.replace(attempt.ref, agent_name=seen.agent_name)
            if answered:
                attempt.tell(AnswerReturned(), at_ms)
            attempt.close(Outcome.CANCELLED, at_ms)
        owner.span = attempt.agent_span = None if attempt.span_owner is not owner else owner.span

    def read_events(self, owner: Owner, at_ns: int | None) -> None:
        """Bring an attempt up to now: take in new events of its open spans, or the time of a recording.

        Args:
            owner: Whose attempt it is.
            at_ns: When, ns; None for now.
        """
        attempt = owner.attempt
        if attempt is None:
            return
        if attempt.timing is not None:
            attempt.catch_up(owner.at_ms(at_ns))
        elif owner.live:
            for news in owner.live.fresh(requests=not attempt.requests_reported):
                attempt.tell(news.event)


def _began_ns(view: SpanView, at_ns: int | None) -> int | None:
    """When the attempt of a recorded agent span began: before the span, where that says so."""
    told = view.attributes.get(names.ATTEMPT_BEGAN_UNIX_MS)
    if at_ns is None or not isinstance(told, int):
        return at_ns
    began_ns = told * 1_000_000
    return began_ns if at_ns - _LONGEST_BEFORE_NS < began_ns < at_ns else at_ns


def _listen(owner: Owner, attempt: Attempt) -> None:
    """Let an attempt with a timer look for itself what happened on its open spans."""
    if attempt.timing is not None:
        attempt.timing.news = lambda: owner.live.fresh(requests=not attempt.requests_reported)


def _describe(host: Attempt, view: SpanView, span: Any) -> None:
    """Write on the agent span of a host's attempt what a replay has to know of it."""
    if span is not None and span.is_recording():
        for name, value in attempt_attributes(host).items():
            if name not in view.attributes:
                span.set_attribute(name, value)


def _agent_around(node: Node) -> Node | None:
    """The nearest agent span above with no tool span between, inside the same host attempt."""
    for above in node.above():
        if above.role is Role.TOOL or above.inside is not node.inside:
            return None
        if above.role is Role.AGENT:
            return above
    return None


def _has_agent(host: Attempt) -> bool:
    """Whether an agent span stands, or stood, for the host's attempt."""
    return host.span_owner is not None and host.span_owner.holder is not None


def _below_tool_of(node: Node, host: Attempt) -> bool:
    return any(above.role is Role.TOOL and above.inside is host for above in node.above())
