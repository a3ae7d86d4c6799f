"""Tool spans: one call each, however often it is told, and judged once."""

from __future__ import annotations

from typing import Final

from otel_docsfab.core import AnswerReturned, ToolClass, TurnBegan, Unjudged, wording
from otel_docsfab.core.identity import subject_of
from otel_docsfab.spans import dialects
from otel_docsfab.spans.attributes import READ_VERDICT
from otel_docsfab.spans.nodes import Node, Owner, merge
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.owners import Owners
from otel_docsfab.spans.view import SpanView
from otel_docsfab.supervisor import UNWATCHED, Admission, Attempt
from otel_docsfab.supervisor.tallies import Tallies

CALLS: Final = (Role.TOOL, Role.ANSWER)
_MAX_SEEN_TOOLS: Final = 256


class Calls:
    """Begins and ends calls with their spans.

    Args:
        owners: Whose the spans are.
        tallies: Counts what was made of each span.
        live: Whether spans are watched as they happen.
    """

    def __init__(self, owners: Owners, tallies: Tallies, *, live: bool) -> None:
        """Follow nothing yet."""
        self._owners = owners
        self._tallies = tallies
        self._live = live

    def started(self, node: Node, view: SpanView, at_ns: int | None) -> None:
        """A span started that is known for a tool's."""
        node.tool, node.call_id = dialects.start_tool(view)
        outer = node.enclosing(Role.TOOL)
        if outer is not None and outer.is_call_of(node.tool, node.call_id):
            node.into = outer.into or outer
            return
        owner, attempt = self._owners.attempt_of(node, at_ns)
        attempt.open_tool_spans.add(node.key)
        idle = self._owners.tool_opened(owner)
        node.opened = True
        if node.role is Role.TOOL and node.tool and node.tool not in attempt.gated:
            self._begin_turn_without_models(owner, attempt, at_ns, idle=idle)
            node.admission = attempt.start_call(node.tool, None, at_ms=owner.at_ms(at_ns), observed=True)

    def ended(self, node: Node, seen: Observation | None, view: SpanView, at_ns: int | None, now: int) -> None:
        """A tool's span ended.

        Args:
            node: What is remembered of it.
            seen: What it says; None when it can no longer be read.
            view: The span.
            at_ns: When, ns; None for now.
            now: Sequence number of this end.
        """
        call = seen if seen is None else merge(seen, node.folded or [])
        if call is not None and call.role in CALLS and not node.opened and self._told_elsewhere(node, call):
            return
        try:
            if call is None or call.role not in CALLS:
                self._unread(node, view, at_ns, lost=call is None)
            else:
                self._judge(node, call, view, at_ns)
        finally:
            self.close(node, at_ns, now)

    def _told_elsewhere(self, node: Node, call: Observation) -> bool:
        """Whether another span has told of this call, or may know more of it (mapping rule 8)."""
        outer = node.into if node.role in CALLS else node.enclosing(Role.TOOL)
        if outer is not None and outer.is_call_of(call.tool, call.call_id):
            outer.fold(call)
        elif not node.judged or call.tool not in node.judged:
            return (
                call.ok and call.result_reason is not None and self._needs_content(node, call) and node.hold_back(call)
            )
        self._tally("folded")
        return True

    def _needs_content(self, node: Node, call: Observation) -> bool:
        """Whether it is judged by its content, and by nobody else: a read that no gate judges (R29)."""
        attempt = node.owner.attempt if node.owner is not None else None
        if attempt is None:
            return True
        classed = attempt.machine.toolset.classify(call.tool, call.arguments)
        return classed.tool_class is ToolClass.READ and call.tool not in attempt.gated

    def _unread(self, node: Node, view: SpanView, at_ns: int | None, *, lost: bool) -> None:
        """A call whose span can no longer be read is judged by its status; a pseudo tool's is none."""
        admission, node.admission = node.admission, None
        if admission is not None and node.owner is not None and node.owner.attempt is not None:
            node.owner.attempt.finish_call(
                admission,
                ok=not view.error,
                at_ms=node.owner.at_ms(at_ns),
                own_notice=not lost,
                reason=Unjudged.RESULT_NOT_CAPTURED,
                observed=True,
            )
        self._tally("ignored")

    def _judge(self, node: Node, seen: Observation, view: SpanView, at_ns: int | None) -> None:
        owner, attempt = self._owners.attempt_of(node, at_ns)
        if len(owner.seen_tools) < _MAX_SEEN_TOOLS:
            owner.seen_tools.add((view.scope, view.name))
        at_ms = owner.at_ms(at_ns)
        gated = self._is_gated(seen.tool, attempt, view)
        if seen.role is Role.ANSWER or gated:
            self._withdraw(node, attempt, at_ms)  # begun before the gate took the tool over
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
            observed=True,
        )
        unjudged = effect is not None and effect.unjudged is not None
        self._tally("ignored" if admission is UNWATCHED else "unjudged" if unjudged else "judged")
        node.cover(seen.tool)

    def _is_gated(self, tool: str, attempt: Attempt, view: SpanView) -> bool:
        """Whether a gate judges the call: it holds the tool in this attempt, or wrote its verdict on the live span."""
        return tool in attempt.gated or (self._live and READ_VERDICT in view.attributes)

    def _admit(self, node: Node, seen: Observation, owner: Owner, attempt: Attempt, at_ns: int | None) -> Admission:
        """The call's admission: made at its start when its name was known then, else made now for then."""
        at_ms = owner.at_ms(at_ns)
        if node.admission is not None and node.tool == seen.tool:
            admission, node.admission = node.admission, None
            return attempt.describe_call(
                admission,
                seen.arguments,
                call_id=seen.call_id,
                at_ms=at_ms,
                digest=seen.arguments_digest,
                reason=seen.arguments_reason,
            )
        self._withdraw(node, attempt, at_ms)  # the start gave it another name
        if node.role is None:
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
            observed=True,
        )

    def _withdraw(self, node: Node, attempt: Attempt, at_ms: int | None) -> None:
        """End the call that began with the span, without a judgement."""
        admission, node.admission = node.admission, None
        if admission is not None:
            attempt.finish_call(admission, at_ms=at_ms, own_notice=True, observed=True)

    def _begin_turn_without_models(self, owner: Owner, attempt: Attempt, at_ns: int | None, *, idle: bool) -> None:
        """Without model spans, a tool span that starts while none is open begins a turn (DESIGN section 4)."""
        if idle and not owner.models_seen and not attempt.turns_marked:
            attempt.tell(TurnBegan(), owner.at_ms(at_ns))

    def close(self, node: Node, at_ns: int | None, now: int) -> None:
        """A tool's span is over; a call that nobody judged counts as cancelled."""
        owner = node.owner
        if owner is None:
            return
        attempt, admission = owner.attempt, node.admission
        if attempt is not None:
            attempt.open_tool_spans.discard(node.key)
            if admission is not None:
                node.admission = None
                attempt.finish_call(admission, ok=False, at_ms=owner.at_ms(at_ns), observed=True)
        self._owners.tool_closed(owner, at_ns, now, was_open=node.opened)

    def release(self, node: Node, at_ns: int | None) -> None:
        """A span was no tool span after all: what it held back goes further up, or is judged as it is."""
        for held in node.folded or ():
            if not node.hold_back(held):
                owner, attempt = self._owners.attempt_of(node, at_ns)
                admission = self._admit(node, held, owner, attempt, at_ns)
                at_ms = owner.at_ms(at_ns)
                attempt.finish_call(admission, ok=held.ok, reason=held.result_reason, at_ms=at_ms, observed=True)
                self._tally("unjudged")
        node.folded = None

    def _tally(self, result: str) -> None:
        self._tallies.add("docsfab.supervisor.spans", (result,))
