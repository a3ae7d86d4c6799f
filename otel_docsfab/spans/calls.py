"""Tool spans: one call each, however often it is told, and judged once."""

from __future__ import annotations

from typing import Final

from otel_docsfab.core import AnswerReturned, CallDescribed, ToolClass, Unjudged, wording
from otel_docsfab.core.identity import subject_of
from otel_docsfab.spans import dialects
from otel_docsfab.spans.attributes import READ_VERDICT
from otel_docsfab.spans.nodes import Node, Owner, Told, merge
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.owners import Owners
from otel_docsfab.spans.view import SpanView
from otel_docsfab.supervisor import Admission, Attempt
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
            new_turn = self._begins_turn(owner, attempt, idle=idle)
            at_ms = owner.at_ms(at_ns)
            node.admission = attempt.start_call(node.tool, None, at_ms=at_ms, new_turn=new_turn, observed=True)

    def ended(self, node: Node, seen: Observation | None, view: SpanView, at_ns: int | None, now: int) -> None:
        """A tool's span ended.

        Args:
            node: What is remembered of it.
            seen: What it says; None when it can no longer be read.
            view: The span.
            at_ns: When, ns; None for now.
            now: Sequence number of this end.
        """
        here = True
        try:
            if seen is None or seen.role not in CALLS:
                self._unread(node, view, at_ns, lost=seen is None)
            else:
                call = self._whole_call(node, seen, at_ns)
                here = not self._told_elsewhere(node, call) and not self._held_back(node, call)
                if here:
                    self._judge(node, call, view, at_ns)
        finally:
            if here or node.opened:
                self.close(node, at_ns, now)

    def _whole_call(self, node: Node, seen: Observation, at_ns: int | None) -> Observation:
        """The call with what spans below said of it; what they said of other calls is passed on."""
        own, others = node.take_told(seen)
        for told in others:
            self._pass_on(node, told, at_ns)
        if node.admission is None:
            node.admission = next((told.admission for told in own if told.admission is not None), None)
        return merge(seen, [told.call for told in own])

    def _told_elsewhere(self, node: Node, call: Observation) -> bool:
        """Whether another span tells of this call (mapping rule 8)."""
        if node.opened:
            return False
        outer = node.into if node.role in CALLS else node.enclosing(Role.TOOL)
        if outer is not None and outer.is_call_of(call.tool, call.call_id):
            outer.fold(Told(call))
        elif node.judged is None or call.tool not in node.judged:
            return False
        self._tally("folded")
        return True

    def _held_back(self, node: Node, call: Observation) -> bool:
        """Whether a span around it may know the result that this one lacks, and is to tell of the call."""
        if not call.ok or call.result_reason is None or not self._needs_content(node, call):
            return False
        if not node.hold_back(Told(call, node.admission)):
            return False
        node.admission = None
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
        admission, description = self._admit(node, seen, owner, attempt, at_ns)
        effect = attempt.finish_call(
            admission,
            seen.result,
            ok=seen.ok,
            at_ms=at_ms,
            own_notice=seen.ok and _is_own_notice(seen),
            digest=seen.result_digest,
            reason=seen.result_reason,
            description=description,
            observed=True,
        )
        if effect is None:
            self._tally("ignored" if admission.denied is None else "judged")
        else:
            self._tally("judged" if effect.unjudged is None else "unjudged")
        node.cover(seen.tool)

    def _is_gated(self, tool: str, attempt: Attempt, view: SpanView) -> bool:
        """Whether a gate judges the call: it holds the tool in this attempt, or wrote its verdict on the live span."""
        return tool in attempt.gated or (self._live and READ_VERDICT in view.attributes)

    def _admit(
        self, node: Node, seen: Observation, owner: Owner, attempt: Attempt, at_ns: int | None
    ) -> tuple[Admission, CallDescribed | None]:
        """The call's admission: made at its start when its name was known then, else made now for then.

        Returns:
            The admission, and what the call is about where that was not told with it.
        """
        at_ms = owner.at_ms(at_ns)
        if node.admission is not None and node.admission.tool == seen.tool:
            admission, node.admission = node.admission, None
            return admission, _description(attempt, admission, seen)
        self._withdraw(node, attempt, at_ms)  # the start gave it another name
        new_turn = False
        if node.role is None:
            idle = owner.last_tool_end < node.started and owner.open_tools == 0
            new_turn = self._begins_turn(owner, attempt, idle=idle)
        admission = attempt.start_call(
            seen.tool,
            seen.arguments,
            call_id=seen.call_id,
            mark=node.mark,
            at_ms=at_ms,
            arguments_digest=seen.arguments_digest,
            arguments_reason=seen.arguments_reason,
            new_turn=new_turn,
            observed=True,
        )
        return admission, None

    def _withdraw(self, node: Node, attempt: Attempt, at_ms: int | None) -> None:
        """End the call that began with the span, without a judgement."""
        admission, node.admission = node.admission, None
        if admission is not None:
            attempt.finish_call(admission, at_ms=at_ms, own_notice=True, observed=True)

    def _begins_turn(self, owner: Owner, attempt: Attempt, *, idle: bool) -> bool:
        """Without model spans, a tool span that starts while none is open begins a turn (DESIGN section 4)."""
        return idle and not (owner.models_seen or attempt.turns_marked)

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
        """A span was no tool span after all: what it held back is passed on."""
        told, node.folded = node.folded or [], None
        for other in told:
            self._pass_on(node, other, at_ns)

    def _pass_on(self, node: Node, told: Told, at_ns: int | None) -> None:
        """What a span held back goes further up, or is judged as it is."""
        if node.hold_back(told):
            return
        owner, attempt = self._owners.attempt_of(node, at_ns)
        at_ms = owner.at_ms(at_ns)
        if told.admission is None:
            admission, description = self._admit(node, told.call, owner, attempt, at_ns)
        else:
            admission, description = told.admission, _description(attempt, told.admission, told.call)
        call = told.call
        attempt.finish_call(
            admission, ok=call.ok, reason=call.result_reason, at_ms=at_ms, description=description, observed=True
        )
        self._tally("unjudged")

    def _tally(self, result: str) -> None:
        self._tallies.add("docsfab.supervisor.spans", (result,))


def _description(attempt: Attempt, admission: Admission, call: Observation) -> CallDescribed | None:
    """What a call that began with its span is about."""
    return attempt.description(
        admission,
        call.arguments,
        call_id=call.call_id,
        digest=call.arguments_digest,
        reason=call.arguments_reason,
    )


def _is_own_notice(call: Observation) -> bool:
    """Whether the result is a notice or denial of ours; what does not begin like one needs no closer look."""
    text = call.result
    if not isinstance(text, str) or not text.startswith(wording.NOTICE_MARK):
        return False
    return wording.is_own_notice(text, call.tool, subject_of(call.arguments))
