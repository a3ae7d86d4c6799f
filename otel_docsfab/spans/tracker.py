"""From spans to attempts: whose a tool call is, which turn it belongs to, and what is told twice.

One tracker serves live spans and recorded ones: the driver tells when a span started and ended, and what can be read of
it. What a single span means is the dialects' business.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Hashable
from typing import Any, Final

from otel_docsfab.core import RequestEnded, RequestSent, TurnBegan, TurnEnded
from otel_docsfab.spans import dialects
from otel_docsfab.spans.calls import CALLS, Calls
from otel_docsfab.spans.nodes import Node, Owner
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.owners import Owners
from otel_docsfab.spans.stream import compaction_of, machine_event, news_of
from otel_docsfab.spans.view import EventView, SpanView
from otel_docsfab.supervisor import Attempt, Supervisor, current_attempt

MAX_OPEN_SPANS: Final = 200_000
_REASONS: Final = (
    "gen_ai.response.finish_reasons",
    "gen_ai.completion.0.finish_reason",
    "llm.finish_reason",
    "stop_reason",
)


class Tracker:
    """Follows open spans and feeds attempts.

    Args:
        supervisor: Opens the attempts it sees.
        live: Whether spans are watched as they happen; then span events are read when they can be. A driver that
            replays tells of events itself, in their time, with ``event``.
        max_open: Spans remembered while open; the oldest is forgotten past it.
    """

    def __init__(self, supervisor: Supervisor, *, live: bool = True, max_open: int = MAX_OPEN_SPANS) -> None:
        """Follow nothing yet."""
        self._supervisor = supervisor
        self._live = live
        self._max_open = max_open
        self._sequence = itertools.count(1)
        self.forked()

    def forked(self) -> None:
        """In a forked child: open spans are the parent's, and so are the locks.

        The table needs none: each access is one operation on a dict.
        """
        self._nodes: dict[Hashable, Node] = {}
        self._owners = Owners(self._supervisor)
        self._calls = Calls(self._owners, self._supervisor.tallies, live=self._live)

    def __len__(self) -> int:
        """Open spans that are remembered."""
        return len(self._nodes)

    def started(
        self,
        key: Hashable,
        parent: Hashable | None,
        view: SpanView,
        *,
        at_ns: int | None = None,
        span: Any = None,
        ids: tuple[str | None, str | None] = (None, None),
    ) -> Node:
        """A span started.

        Args:
            key: Key of the span.
            parent: Key of its parent, if it has one.
            view: What can be read of it now.
            at_ns: When, ns; None for now.
            span: The live span, so that an agent span can be written on.
            ids: Trace and span id in hex, for the record; those of the live span by default.

        Returns:
            What is remembered of it.
        """
        host = current_attempt.get()
        inside = host if host is not None and host.supervisor is self._supervisor else None
        node = Node(key, self._nodes.get(parent), inside, dialects.role_at_start(view))
        if node.role is Role.AGENT:
            node.owner = self._owners.agent(node, view, at_ns, span, ids)
        else:
            node.owner = self._owners.other(node, at_ns)
        node.started = next(self._sequence)
        self._nodes[key] = node
        if len(self._nodes) > self._max_open:
            self._forget_oldest(at_ns)
        owner = node.owner
        if owner is not None and owner.attempt is not None:
            if span is not None and owner.holder is not node and owner.attempt.timing is not None:
                owner.live.hold(key, span)
            self._owners.read_events(owner, at_ns)
            machine = owner.attempt.machine
            node.mark, node.turn = machine.mark, machine.turn
            if node.role is None and machine.stop is not None and (view.scope, view.name) in owner.seen_tools:
                node.role = Role.TOOL  # after a stop, scope and name of a tool span seen before are enough
        if node.role in CALLS:
            self._no_request_out(owner, at_ns)
            self._calls.started(node, view, at_ns)
        elif node.role is Role.MODEL or node.role is Role.TURN:
            self._model_started(node, at_ns)
        return node

    def _forget_oldest(self, at_ns: int | None) -> None:
        with contextlib.suppress(RuntimeError, StopIteration):  # another thread adds or takes one: the next start looks
            self.forget(next(iter(self._nodes)), at_ns=at_ns)

    def forget(self, key: Hashable, *, at_ns: int | None = None) -> None:
        """A span will not end, or nobody will hear of its end: a call of it counts as cancelled."""
        node = self._nodes.pop(key, None)
        now = next(self._sequence)
        if node is not None and node.owner is not None:
            node.owner.live.release(key)
        if node is not None and node.role in CALLS:
            self._calls.close(node, at_ns, now)

    def event(self, key: Hashable, event: EventView) -> None:
        """A span event happened, in replay."""
        node = self._nodes.get(key)
        told = machine_event(event)
        if node is not None and node.owner is not None and node.owner.attempt is not None and told is not None:
            node.owner.attempt.tell(told, node.owner.at_ms(event.time_unix_ns))

    def ended(self, key: Hashable, view: SpanView, *, at_ns: int | None = None) -> Observation | None:
        """A span ended.

        Args:
            key: Key of the span.
            view: What can be read of it.
            at_ns: When, ns; None for now.

        Returns:
            What it meant; None for foreign spans.
        """
        node = self._nodes.pop(key, None)
        if node is None:
            return None
        now = next(self._sequence)
        seen = dialects.observe(view)
        owner = node.owner
        if self._live and owner is not None and owner.holder is not node:
            self._read_last_events(owner, key, view)
        role = node.role if node.role is not None or seen is None else seen.role
        if role in CALLS:
            self._calls.ended(node, seen, view, at_ns, now)
        elif role is Role.MODEL and seen is not None:
            self._model_ended(node, seen, view, at_ns)
        elif role is Role.TURN:
            self._turn_ended(node, view)
        elif role is Role.COMPACTION and seen is not None:
            owner, attempt = self._owners.attempt_of(node, at_ns)
            attempt.tell(compaction_of(seen.evicted), owner.at_ms(at_ns))
        else:
            self._tally_ignored()
        if role not in CALLS:
            self._calls.release(node, at_ns)
        owner = node.owner
        if owner is not None and owner.holder is node:
            self._owners.holder_ended(owner, seen or Observation(Role.AGENT, ok=not view.error), at_ns)
        return seen

    def _read_last_events(self, owner: Owner, key: Hashable, view: SpanView) -> None:
        """Take in what is new on the attempt's open spans, the one that ends among them."""
        attempt = owner.attempt
        if attempt is None:
            return
        self._owners.read_events(owner, None)
        if not owner.live.release(key) and view.events:
            for news in news_of(view.events, requests=not attempt.requests_reported):
                attempt.tell(news.event)

    # Model spans

    def _model_started(self, node: Node, at_ns: int | None) -> None:
        """A model request ends the turn before it, unless a tool of the attempt is still open."""
        if _told_elsewhere(node):
            return
        owner, attempt = self._owners.attempt_of(node, at_ns)
        owner.models_seen = attempt.turns_seen = True
        if attempt.turns_marked or owner.open_tools > 0:
            return
        at_ms = owner.at_ms(at_ns)
        if node.role is Role.TURN:
            attempt.tell(TurnBegan(), at_ms)
            return
        if node.enclosing(Role.TURN) is None:
            node.counts_turn = True
            attempt.tell(TurnEnded(), at_ms)
            node.turn = attempt.machine.turn
        if not (attempt.requests_reported or _request_out(attempt)):
            attempt.tell(RequestSent(output_visible=False), at_ms)

    def _no_request_out(self, owner: Owner | None, at_ns: int | None) -> None:
        """Where no model spans tell of it, the start of a call says that the request before it is over."""
        attempt = owner.attempt if owner is not None else None
        if owner is None or attempt is None or owner.models_seen or attempt.requests_reported:
            return
        if _request_out(attempt):
            attempt.tell(RequestEnded(), owner.at_ms(at_ns))

    def _model_ended(self, node: Node, seen: Observation, view: SpanView, at_ns: int | None) -> None:
        """A response without error begins a turn, unless one of its calls has begun it already."""
        if _told_elsewhere(node):
            return
        owner, attempt = self._owners.attempt_of(node, at_ns)
        at_ms = owner.at_ms(at_ns)
        attempt.tell(RequestEnded(), at_ms)
        attempt.model = attempt.model or seen.model
        owner.answer_told = any(view.attributes.get(key) for key in _REASONS)
        if not seen.ok:
            owner.answer_seen = False
            return
        owner.responses_seen = True
        owner.answer_seen = not seen.called_tools and not seen.output_limited
        if node.role is None:  # it was not recognised at its start
            owner.models_seen = attempt.turns_seen = True
            node.counts_turn = owner.open_tools == 0 and node.enclosing(Role.TURN) is None
            node.turn = attempt.machine.turn
        if node.counts_turn and not attempt.turns_marked and attempt.machine.turn == node.turn:
            attempt.tell(TurnBegan(), at_ms)

    def _turn_ended(self, node: Node, view: SpanView) -> None:
        """Where no model span tells of a response, a turn without calls is an answer (R16)."""
        owner = node.owner
        if owner is not None and owner.attempt is not None and not owner.responses_seen:
            owner.answer_seen = not (view.error or owner.attempt.machine.turn_called_tools)

    def _tally_ignored(self) -> None:
        self._supervisor.tallies.add("docsfab.supervisor.spans", ("ignored",))


def _request_out(attempt: Attempt) -> bool:
    """Whether span events tell of a request that is out."""
    return attempt.timing is not None and attempt.timing.request_out


def _told_elsewhere(node: Node) -> bool:
    """A nested model span tells its request twice; one below a tool span is the tool's own business."""
    return node.enclosing(Role.MODEL) is not None or node.below_tool()
