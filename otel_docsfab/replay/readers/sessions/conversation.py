"""One agent's transcript, turned into events: what all session readers share.

A reader says what it finds, in file order (``prompt``, ``turn``, ``call``, ``result`` ...), and drains ``take``. This
class opens and closes attempts, pairs results with calls, and notices when several agents are mixed in one transcript.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any, Final

from otel_docsfab.core import Outcome, Unjudged
from otel_docsfab.replay.readers.sessions.content import Content, arguments_content, result_content
from otel_docsfab.replay.script import (
    Answered,
    AttemptClosed,
    AttemptOpened,
    Call,
    Compacted,
    Evicted,
    Result,
    ScriptEvent,
    TurnBegan,
)

_HELD_BYTES: Final = 4 << 20
"""Content held back while it is open whether agents are mixed; past it they are taken to be."""
_HELD_EVENTS: Final = 20_000
_UNIQUE: Final = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|msg_\w{12}", re.IGNORECASE
)


class Conversation:
    """Builds the events of one agent's attempts.

    Args:
        key: Family and agent; begins the keys of its attempts.
        source: Name of the file, for the keys of attempts that have no id of their own.
        run_id: Id of the session, if known.
        agent: Name of the agent.
    """

    def __init__(self, key: str, source: str, run_id: str | None, agent: str) -> None:
        """Start without an attempt."""
        self.key, self.source, self.run_id, self.agent = key, source, run_id, agent
        self._out: list[ScriptEvent] = []
        self._held: list[ScriptEvent] = []
        self._held_bytes = 0
        self._attempts = 0
        self._prompt_key: str | None = None
        self._last_key = ""
        self._last_ms = 0
        self._begin()

    def _begin(self) -> None:
        self._attempt = ""  # open when not empty
        self._turns = 0
        self._turn_key: str | None = None
        self._calls = 0
        self._turn_calls = 0
        self._turn_returned = False
        self._said = False
        self._asked_again = False
        self._open: dict[int, tuple[str | None, int]] = {}  # call -> (id, turn)
        self._by_id: dict[str, deque[int]] = {}
        self._ids_match: bool | None = None  # whether results name their calls; None until one did or did not
        self._holding = self._mixed = False

    # ------------------------------------------------------------ what readers say

    @property
    def begun(self) -> bool:
        """Whether an attempt is open and a turn of it began."""
        return self._turns > 0

    def take(self) -> list[ScriptEvent]:
        """Events since the last time."""
        events, self._out = self._out, []
        return events

    def pass_on(self, events: list[ScriptEvent]) -> None:
        """Hand out another conversation's last events with the next ones of this."""
        self._out.extend(events)

    def prompt(self, key: str | None = None, at_ms: int = 0) -> None:
        """Somebody asked: the attempt before is over, the next one begins with the first response.

        Args:
            key: Id of the prompt, the same in every copy of the session.
            at_ms: When.
        """
        if self._turns:
            self.close()
        self._prompt_key = key or self._prompt_key
        self._last_ms = at_ms or self._last_ms

    def turn(self, key: str | None = None, at_ms: int = 0, model: str | None = None) -> None:
        """A part of a model response.

        Args:
            key: Id of the response; parts with the same id are one turn. Without an id a part begins a turn when
                results came since the last part, or when there is no turn yet.
            at_ms: When.
            model: Name of the model.
        """
        self._ensure(at_ms, model)
        if self._turns and (key == self._turn_key if key is not None else not self._turn_returned):
            return
        if self._open and not self._mixed:
            self._holding = True  # no model goes on before its calls returned: a lost result, or another agent
        self._turns += 1
        self._turn_key, self._turn_calls, self._turn_returned = key, 0, False
        self._said = self._asked_again = False
        self._emit(TurnBegan(self._attempt, self._at(at_ms), model))

    def said(self) -> None:
        """The response of this turn says something to the user."""
        self._said = True

    def no_answer(self) -> None:
        """This turn's text is no answer: it was cut off, failed, or the host asks again (R16)."""
        self._asked_again = True

    def call(self, tool: str, arguments: Any, call_id: str | None = None, at_ms: int = 0) -> None:
        """The response of this turn asks for a tool; ``arguments`` as recorded."""
        self._ensure(at_ms, None)
        if not self._turns:
            self.turn(at_ms=at_ms)
        self._calls += 1
        self._turn_calls += 1
        content = arguments_content(arguments)
        self._open[self._calls] = (call_id, self._turns)
        if call_id:
            self._by_id.setdefault(call_id, deque()).append(self._calls)
        self._emit(
            Call(self._attempt, self._calls, tool, content.value, self._at(at_ms), call_id or None, content.reason),
            len(arguments) if isinstance(arguments, str) else 0,
        )

    def result(self, call_id: str | None, value: Any, *, ok: bool = True, at_ms: int = 0) -> None:
        """A call returned ``value`` as recorded; a result whose call this attempt does not know is left out."""
        self.content(call_id, result_content(value), ok=ok, at_ms=at_ms)

    def content(self, call_id: str | None, content: Content, *, ok: bool = True, at_ms: int = 0) -> None:
        """A call returned content that the reader has looked at itself."""
        call = self._pair(call_id)
        if call is None:
            return
        _, turn = self._open.pop(call)
        if turn < self._turns:
            self._mix()  # late: another response came in between, so this is another agent's
        self._turn_returned = True
        value, reason = content
        self._emit(
            Result(self._attempt, call, value, ok, self._at(at_ms), reason),
            len(value) if isinstance(value, str) else 256,
        )

    def compacted(self, at_ms: int = 0) -> None:
        """The context was compacted; between attempts nothing needs to know."""
        if self._attempt:
            self._emit(Compacted(self._attempt, self._at(at_ms)))

    def evicted(self, call_ids: tuple[str, ...], at_ms: int = 0) -> None:
        """The results of these calls left the context."""
        if self._attempt and call_ids:
            self._emit(Evicted(self._attempt, call_ids, self._at(at_ms)))

    def close(self, *, interrupted: bool = False) -> None:
        """The transcript, or the attempt, is over."""
        if self._attempt:
            for call in tuple(self._open):
                del self._open[call]
                reason = Unjudged.RESULT_NOT_CAPTURED
                self._emit(Result(self._attempt, call, None, not interrupted, self._last_ms, reason))
            self._release()
            if self._said and not self._turn_calls and not self._asked_again and not interrupted:
                self._out.append(Answered(self._attempt, self._last_ms))
            outcome = Outcome.CANCELLED if interrupted else Outcome.ABANDONED
            self._out.append(AttemptClosed(self._attempt, self._last_ms, outcome))
        self._begin()
        self._prompt_key = None

    def answered(self) -> None:
        """This turn hands in the answer in its own way."""
        self._said, self._turn_calls, self._asked_again = True, 0, False

    # ------------------------------------------------------------ inside

    def _ensure(self, at_ms: int, model: str | None) -> None:
        if not self._attempt:
            self._attempts += 1
            # A key that comes twice, or is no unique id by its looks, was scrubbed: it identifies nothing.
            key = self._prompt_key if self._prompt_key and _UNIQUE.match(self._prompt_key) else None
            if key is None or key == self._last_key:
                self._attempt = f"{self.key}@{self.source}#{self._attempts}"
            else:
                self._attempt = f"{self.key}#{key}"
            self._last_key = key or ""
            self._out.append(AttemptOpened(self._attempt, self.run_id, self.agent, self._at(at_ms), model))

    def _at(self, at_ms: int) -> int:
        self._last_ms = at_ms or self._last_ms
        return self._last_ms

    def _pair(self, call_id: str | None) -> int | None:
        """The call of a result: by id, else by order when ids were scrubbed."""
        queue = self._by_id.get(call_id) if call_id else None
        if queue:
            self._ids_match = True
            call = queue.popleft()
            if not queue:
                del self._by_id[call_id or ""]
            return call
        if call_id and self._ids_match:
            return None  # ids are whole here: the result of a call that was asked for elsewhere
        self._ids_match = self._ids_match or False
        for call, (known_id, _) in self._open.items():
            if known_id is None or not self._ids_match:
                if known_id and (waiting := self._by_id.get(known_id)):
                    waiting.remove(call)
                return call
        return None

    def _mix(self) -> None:
        """Several agents share this transcript: from their first overlap on nothing is judged."""
        self._mixed = True
        self._release()

    def _release(self) -> None:
        held, self._held, self._held_bytes, self._holding = self._held, [], 0, False
        for event in held:
            self._emit(event)

    def _emit(self, event: ScriptEvent, size: int = 0) -> None:
        if self._holding:
            self._held.append(event)
            self._held_bytes += size
            if self._held_bytes > _HELD_BYTES or len(self._held) > _HELD_EVENTS:
                self._mix()
            return
        if self._mixed and isinstance(event, Result) and event.ok:
            event = event._replace(reason=Unjudged.AGENTS_MIXED)
        self._out.append(event)
