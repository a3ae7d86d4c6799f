"""What is remembered of spans while they are open: enough to know whose a tool call is, and no content."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.stream import OpenSpans

if TYPE_CHECKING:
    from otel_docsfab.supervisor import Admission, Attempt


_AGENT: Final = Role.AGENT  # bound once: to read a member off its class takes as long as a call (CPython 3.11)
MAX_FOLDED: Final = 16
"""Calls that one span holds for others: more than any runtime tells of one call."""


class Told(NamedTuple):
    """What another span said of a call, and the admission of that call when it has begun."""

    call: Observation
    admission: Admission | None = None


class Owner:
    """Whose the tool and model spans below one span are; its attempt is opened when the first of them comes.

    Attributes:
        holder: The span that owns: the agent's, or the topmost one; None for an attempt that the host opened.
        attempt: The attempt, once it is open.
        facts: What the agent span says of the attempt at its start.
        agent_name: Name of the agent, when known at the start.
        conversation: Identity across runs, when known at the start.
        began_ns: Start of the holder, ns, when the driver gives times.
        began_ms: Its start by the supervisor's monotonic clock, ms, when it does not.
        span: The live agent span, to write on; None in replay.
        ids: Trace and span id in hex.
        models_seen: Whether model spans mark the turns.
        responses_seen: Whether model spans tell of the responses; otherwise only spans of whole turns do.
        open_tools: Tool spans of the attempt that are open now.
        last_tool_end: Sequence number at which the newest tool span ended.
        answer_seen: Whether the newest model response asked for no tool, as far as is known.
        answer_told: Whether it says how it ended: a request that was cut off does not.
        ending: What the holder said when it ended while tools were still open.
        live: Its live spans whose events are read while they are open.
        seen_tools: (scope, span name) of its tool spans, which recognise a tool after a stop.
    """

    __slots__ = (
        "agent_name",
        "answer_seen",
        "answer_told",
        "attempt",
        "began_ms",
        "began_ns",
        "conversation",
        "ending",
        "facts",
        "holder",
        "ids",
        "last_tool_end",
        "live",
        "models_seen",
        "open_tools",
        "responses_seen",
        "seen_tools",
        "span",
    )

    def __init__(
        self,
        holder: Node | None = None,
        attempt: Attempt | None = None,
        *,
        began_ns: int | None = None,
        began_ms: int | None = None,
    ) -> None:
        """Own nothing yet, or stand for an attempt that the host opened."""
        self.holder = holder
        self.attempt = attempt
        self.facts: dict[str, Any] = {}
        self.agent_name: str | None = None
        self.conversation: str | None = None
        self.began_ns = began_ns
        self.began_ms = began_ms
        self.span: Any = None
        self.ids: tuple[str | None, str | None] = (None, None)
        self.models_seen = False
        self.responses_seen = False
        self.open_tools = 0
        self.last_tool_end = -1
        self.answer_seen = False
        self.answer_told = False
        self.ending: Observation | None = None
        self.live = OpenSpans()
        self.seen_tools: set[tuple[str, str]] = set()

    def at_ms(self, at_ns: int | None) -> int | None:
        """A driver's time as ms since the attempt began; None for drivers that live in the present."""
        if at_ns is None or self.began_ns is None:
            return None
        return max(0, (at_ns - self.began_ns) // 1_000_000)


class Node:
    """One open span.

    Attributes:
        key: Key of the span.
        parent: The enclosing span that is still known.
        inside: The host's attempt around it when it started.
        role: What it stands for; None as long as that is unknown.
        owner: The attempt it belongs to.
        tool: Tool name, when known at the start.
        call_id: Call id, when known at the start.
        started: Sequence number of its start.
        opened: Whether it counts among its owner's open tools.
        mark: The attempt's mark at its start: whether it is later than an ask or a stop. 0 before the attempt opened.
        turn: The attempt's turn at its start.
        counts_turn: For model spans: whether its response begins a turn.
        admission: For tools known at the start.
        into: The tool span that this one is folded into: the same call, told twice (mapping rule 8).
        folded: What folded or held-back spans said.
        judged: Names of tools judged below it while it was unknown.
    """

    __slots__ = (
        "admission",
        "call_id",
        "counts_turn",
        "folded",
        "inside",
        "into",
        "judged",
        "key",
        "mark",
        "opened",
        "owner",
        "parent",
        "role",
        "started",
        "tool",
        "turn",
    )

    def __init__(self, key: Hashable, parent: Node | None, inside: Attempt | None, role: Role | None) -> None:
        """Begin with what the start tells."""
        self.key = key
        self.parent = parent
        self.inside = inside
        self.role = role
        self.owner: Owner | None = None
        self.tool: str | None = None
        self.call_id: str | None = None
        self.started = 0
        self.opened = False
        self.mark = 0
        self.turn = 0
        self.counts_turn = False
        self.admission: Admission | None = None
        self.into: Node | None = None
        self.folded: list[Told] | None = None
        self.judged: set[str] | None = None

    def above(self) -> Iterator[Node]:
        """The spans around it, innermost first, up to the nearest agent span (included)."""
        node = self.parent
        while node is not None:
            yield node
            if node.role is Role.AGENT:
                return
            node = node.parent

    def enclosing(self, role: Role) -> Node | None:
        """The nearest enclosing span of this role on the way up to, and not across, the nearest agent span."""
        node = self.parent
        while node is not None and node.role is not role:
            node = None if node.role is _AGENT else node.parent
        return node

    def below_tool(self) -> bool:
        """Whether a tool span lies between this span and its agent's."""
        return self.enclosing(Role.TOOL) is not None

    def is_call_of(self, tool: str | None, call_id: str | None) -> bool:
        """Whether this tool span tells of the same call as one below it (mapping rule 8)."""
        if self.call_id is not None and self.call_id == call_id:
            return True
        return self.tool is None or tool is None or self.tool == tool

    def fold(self, told: Told) -> None:
        """Keep what a span below it said."""
        self.folded = [*(self.folded or ()), told]

    def hold_back(self, told: Told) -> bool:
        """Give a call without content to the nearest span around it that may turn out to be its tool span.

        Returns:
            False when there is none, when it holds too many, or when it holds another call that has begun.
        """
        for node in self.above():
            if node.inside is not self.inside:
                return False
            if node.role is None:
                held = node.folded or ()
                begun = told.admission is not None and any(other.admission is not None for other in held)
                if begun or len(held) >= MAX_FOLDED:
                    return False
                node.fold(told)
                return True
        return False

    def take_told(self, call: Observation) -> tuple[list[Told], list[Told]]:
        """What was folded into this span: what tells of its own call, and what is of others."""
        told, self.folded = self.folded or [], None
        if self.role is not None:
            return told, []
        own: list[Told] = []
        others: list[Told] = []
        for other in told:
            same_id = call.call_id is not None and other.call.call_id == call.call_id
            (own if same_id or other.call.tool == call.tool else others).append(other)
        return own, others

    def cover(self, tool: str) -> None:
        """Note on the spans around it, as far as they are unknown, that this call was judged."""
        for node in self.above():
            if node.role is None:
                node.judged = {*(node.judged or ()), tool}


def merge(outer: Observation, others: list[Observation]) -> Observation:
    """One call, told by several nested spans: content from whichever has it, failure from any (mapping rules 6 and 8).

    Args:
        outer: What the outermost span says.
        others: What the folded ones say.

    Returns:
        The call.
    """
    call = outer
    for other in others:
        if call.result_reason is not None and call.result_digest is None:
            call = call._replace(
                result=other.result, result_reason=other.result_reason, result_digest=other.result_digest
            )
        if call.arguments_reason is not None and call.arguments_digest is None:
            call = call._replace(
                arguments=other.arguments,
                arguments_reason=other.arguments_reason,
                arguments_digest=other.arguments_digest,
            )
        call = call._replace(ok=call.ok and other.ok, call_id=call.call_id or other.call_id)
    return call
