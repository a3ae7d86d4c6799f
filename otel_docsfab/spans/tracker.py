"""From spans to attempts: whose a tool call is, which turn it belongs to, and what is told twice.

One tracker serves live spans and recorded ones: the driver tells when a span started and ended, and what can be read of
it. What a single span means is the dialects' business.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Final

from otel_docsfab.core import AnswerReturned, RequestEnded, RequestSent, TurnBegan, TurnEnded, wording
from otel_docsfab.core.identity import subject_of
from otel_docsfab.spans import dialects
from otel_docsfab.spans.nodes import Node, Owner, merge
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.owners import Owners
from otel_docsfab.spans.stream import compaction_of, machine_event, machine_events
from otel_docsfab.spans.view import EventView, SpanView
from otel_docsfab.supervisor import UNWATCHED, Admission, Attempt, Supervisor, current_attempt

MAX_OPEN_SPANS: Final = 200_000
_MAX_SEEN_TOOLS: Final = 256
_CALLS: Final = (Role.TOOL, Role.ANSWER)


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
        self._owners = Owners(supervisor)
        self._live = live
        self._max_open = max_open
        self._lock = threading.Lock()
        self._nodes: dict[Hashable, Node] = {}
        self._sequence = 0

    def forked(self) -> None:
        """In a forked child: open spans are the parent's."""
        self._lock = threading.Lock()
        self._nodes = {}

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
            ids: Trace and span id in hex, for the record.

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
        with self._lock:
            self._sequence += 1
            node.started = self._sequence
            self._nodes[key] = node
            if len(self._nodes) > self._max_open:
                del self._nodes[next(iter(self._nodes))]
        owner = node.owner
        if owner is not None and owner.attempt is not None:
            self._owners.read_live_events(owner)
            machine = owner.attempt.machine
            node.mark, node.turn = machine.mark, machine.turn
            if node.role is None and machine.stop is not None and (view.scope, view.name) in owner.seen_tools:
                node.role = Role.TOOL  # after a stop, scope and name of a tool span seen before are enough
        if node.role in _CALLS:
            self._call_started(node, view, at_ns)
        elif node.role is Role.MODEL or node.role is Role.TURN:
            self._model_started(node, at_ns)
        return node

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
        with self._lock:
            node = self._nodes.pop(key, None)
            self._sequence += 1
            now = self._sequence
        if node is None:
            return None
        seen = dialects.observe(view)
        owner = node.owner
        if (
            self._live
            and node.role is not Role.AGENT
            and view.events
            and owner is not None
            and owner.attempt is not None
        ):
            for told in machine_events(view.events):
                owner.attempt.tell(told)
        role = node.role if node.role is not None or seen is None else seen.role
        if role in _CALLS:
            self._call_ended(node, seen, view, at_ns, now)
        elif role is Role.MODEL and seen is not None:
            self._model_ended(node, seen, at_ns)
        elif role is Role.COMPACTION and seen is not None:
            if owner is not None and owner.attempt is not None:
                owner.attempt.tell(compaction_of(seen.evicted), owner.at_ms(at_ns))
        else:
            self._tally("ignored")
        if role not in _CALLS:
            self._release(node, at_ns)
        owner = node.owner
        if owner is not None and owner.holder is node:
            self._holder_ended(owner, seen or Observation(Role.AGENT, ok=not view.error), at_ns)
        return seen

    # Tool spans

    def _call_started(self, node: Node, view: SpanView, at_ns: int | None) -> None:
        node.tool, node.call_id = dialects.start_tool(view)
        outer = node.enclosing(Role.TOOL)
        if outer is not None and outer.is_call_of(node.tool, node.call_id):
            node.into = outer.into or outer
            return
        owner, attempt = self._attempt_of(node, at_ns)
        attempt.open_tool_spans.add(node.key)
        with self._lock:
            idle = owner.open_tools == 0
            owner.open_tools += 1
        if node.role is Role.TOOL and node.tool and node.tool not in attempt.gated:
            self._begin_turn_without_models(owner, attempt, at_ns, idle=idle)
            node.admission = attempt.start_call(node.tool, None, at_ms=owner.at_ms(at_ns))

    def _begin_turn_without_models(self, owner: Owner, attempt: Attempt, at_ns: int | None, *, idle: bool) -> None:
        """Without model spans, a tool span that starts while none is open begins a turn (DESIGN section 4)."""
        if idle and not owner.models_seen and not attempt.turns_marked:
            attempt.tell(TurnBegan(), owner.at_ms(at_ns))

    def _call_ended(self, node: Node, seen: Observation | None, view: SpanView, at_ns: int | None, now: int) -> None:
        if seen is None or seen.role is Role.IGNORED:
            self._tally("ignored")
            self._close_call(node, at_ns, now)
            return
        outer = node.into if node.role in _CALLS else node.enclosing(Role.TOOL)
        if outer is not None and outer.is_call_of(seen.tool, seen.call_id):
            outer.fold(seen)
            self._tally("folded")
            return
        if node.folded:
            seen = merge(seen, node.folded)
        if node.judged and seen.tool in node.judged:
            self._tally("folded")  # its call was judged from a span below it
            return
        if seen.ok and seen.result_reason is not None and node.admission is None and node.hold_back(seen):
            return  # a span around it may know more
        self._judge(node, seen, view, at_ns)
        self._close_call(node, at_ns, now)

    def _judge(self, node: Node, seen: Observation, view: SpanView, at_ns: int | None) -> None:
        owner, attempt = self._attempt_of(node, at_ns)
        if len(owner.seen_tools) < _MAX_SEEN_TOOLS:
            owner.seen_tools.add((view.scope, view.name))
        at_ms = owner.at_ms(at_ns)
        gated = seen.tool in attempt.gated  # then the gate judges it
        if seen.role is Role.ANSWER or gated:
            if node.admission is not None:  # begun before the gate took the tool over
                attempt.finish_call(node.admission, at_ms=at_ms, own_notice=True)
            if seen.ok and not gated:
                attempt.tell(AnswerReturned(), at_ms)
            self._tally("ignored" if gated else "judged")
            return
        admission = self._admit(node, seen, owner, attempt, at_ns)
        effect = attempt.finish_call(
            admission,
            seen.result,
            ok=seen.ok,
            at_ms=at_ms,
            own_notice=seen.ok and wording.is_own_notice(seen.result, seen.tool, subject_of(seen.arguments)),
            digest=seen.result_digest,
            reason=seen.result_reason,
        )
        unjudged = effect is not None and effect.unjudged is not None
        self._tally("ignored" if admission is UNWATCHED else "unjudged" if unjudged else "judged")
        node.cover(seen.tool)

    def _admit(self, node: Node, seen: Observation, owner: Owner, attempt: Attempt, at_ns: int | None) -> Admission:
        """The call's admission: made at its start when its name was known then, else made now for then."""
        at_ms = owner.at_ms(at_ns)
        if node.admission is not None and node.tool == seen.tool:
            return attempt.describe_call(
                node.admission,
                seen.arguments,
                call_id=seen.call_id,
                at_ms=at_ms,
                digest=seen.arguments_digest,
                reason=seen.arguments_reason,
            )
        if node.admission is not None:  # the start gave it another name
            attempt.finish_call(node.admission, at_ms=at_ms, own_notice=True)
        elif node.role is None:
            idle = owner.last_tool_end < node.started and owner.open_tools == 0
            self._begin_turn_without_models(owner, attempt, at_ns, idle=idle)
        return attempt.start_call(
            seen.tool,
            seen.arguments,
            call_id=seen.call_id,
            mark=node.mark,
            at_ms=at_ms,
            arguments_digest=seen.arguments_digest,
            arguments_reason=seen.arguments_reason,
        )

    def _close_call(self, node: Node, at_ns: int | None, now: int) -> None:
        owner = node.owner
        if owner is None:
            return
        with self._lock:
            owner.last_tool_end = now
            if node.role in _CALLS and node.into is None:
                owner.open_tools -= 1
            last = owner.open_tools <= 0
        if owner.attempt is not None:
            owner.attempt.open_tool_spans.discard(node.key)
        if last and owner.ending is not None:
            self._owners.end(owner, owner.ending, at_ns)

    def _release(self, node: Node, at_ns: int | None) -> None:
        """A span was no tool span after all: what it held back goes further up, or is judged as it is."""
        for held in node.folded or ():
            if not node.hold_back(held):
                owner, attempt = self._attempt_of(node, at_ns)
                admission = self._admit(node, held, owner, attempt, at_ns)
                attempt.finish_call(admission, ok=held.ok, reason=held.result_reason, at_ms=owner.at_ms(at_ns))
                self._tally("unjudged")
        node.folded = None

    # Model spans

    def _model_started(self, node: Node, at_ns: int | None) -> None:
        """A model request ends the turn before it, unless a tool of the attempt is still open."""
        if _told_elsewhere(node):
            return
        owner, attempt = self._attempt_of(node, at_ns)
        with self._lock:
            owner.models_seen = True
            idle = owner.open_tools == 0
        if attempt.turns_marked or not idle:
            return
        at_ms = owner.at_ms(at_ns)
        if node.role is Role.TURN:
            attempt.tell(TurnBegan(), at_ms)
            return
        if node.enclosing(Role.TURN) is None:
            node.counts_turn = True
            attempt.tell(TurnEnded(), at_ms)
            node.turn = attempt.machine.turn
        attempt.tell(RequestSent(output_visible=False), at_ms)

    def _model_ended(self, node: Node, seen: Observation, at_ns: int | None) -> None:
        """A response without error begins a turn, unless one of its calls has begun it already."""
        if _told_elsewhere(node):
            return
        owner, attempt = self._attempt_of(node, at_ns)
        at_ms = owner.at_ms(at_ns)
        attempt.tell(RequestEnded(), at_ms)
        attempt.model = attempt.model or seen.model
        if not seen.ok:
            owner.answer_seen = False
            return
        owner.answer_seen = not seen.called_tools and not seen.output_limited
        if node.role is None:  # it was not recognised at its start
            owner.models_seen = True
            node.counts_turn = owner.open_tools == 0 and node.enclosing(Role.TURN) is None
            node.turn = attempt.machine.turn
        if node.counts_turn and not attempt.turns_marked and attempt.machine.turn == node.turn:
            attempt.tell(TurnBegan(), at_ms)

    # Owners

    def _attempt_of(self, node: Node, at_ns: int | None) -> tuple[Owner, Attempt]:
        with self._lock:
            owner = node.owner = node.owner or Owner(node, began_ns=at_ns)
        return owner, self._owners.attempt(owner)

    def _holder_ended(self, owner: Owner, seen: Observation, at_ns: int | None) -> None:
        with self._lock:
            if owner.open_tools > 0:
                owner.ending = seen  # a cancelled tool's span may end after its agent's (rule 11)
                return
        self._owners.end(owner, seen, at_ns)

    def _tally(self, result: str) -> None:
        self._supervisor.tallies.add("docsfab.supervisor.spans", (result,))


def _told_elsewhere(node: Node) -> bool:
    """A nested model span tells its request twice; one below a tool span is the tool's own business."""
    return node.enclosing(Role.MODEL) is not None or node.below_tool()
