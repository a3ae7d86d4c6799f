"""Recordings through the same tracker and machine as live spans, on their own times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otel_docsfab.config import Settings
from otel_docsfab.core import AnswerReturned, Compacted, Evicted, TurnBegan, wording
from otel_docsfab.replay import script
from otel_docsfab.replay.timeline import What, timeline
from otel_docsfab.replay.watch import ReplaySupervisor, Watched, size_of
from otel_docsfab.spans.nodes import Node
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.tracker import Tracker
from otel_docsfab.spans.view import EventView, RecordedSpan
from otel_docsfab.supervisor import Admission


def play_trace(spans: list[RecordedSpan], settings: Settings, *, keep_calls: bool = False) -> list[Watched]:
    """Judge one trace.

    Args:
        spans: Its spans in any order.
        settings: What is configured.
        keep_calls: Whether each call is kept for the report.

    Returns:
        Its attempts, closed.
    """
    trace_id = spans[0].trace_id
    supervisor = ReplaySupervisor(settings, trace_id, keep_calls=keep_calls)
    tracker = Tracker(supervisor, live=False, max_open=len(spans) + 1)
    telling: dict[str, Node] = {}  # open spans with events of ours
    early: list[tuple[Node, EventView]] = []  # their events from before their attempt was opened by its first call
    late: dict[str, Watched] = {}  # open tool spans that started after a stop
    for what, span, parent_id, at_ns, event in timeline(spans):
        key = span.span_id
        supervisor.listen(key, None)
        if what is What.START:
            node = tracker.started(key, parent_id, span, at_ns=at_ns, ids=(trace_id, key))
            if supervisor.late is not None:
                late[key] = supervisor.late
            if span.events:
                telling[key] = node
        elif event is not None:
            early.append((telling[key], event))
        else:
            seen = tracker.ended(key, span, at_ns=at_ns)
            watched = late.pop(key, None) or supervisor.late
            if watched is not None and seen is not None and seen.role is Role.TOOL:
                watched.wasted_bytes += size_of(seen.result)
        if early:
            early = [(node, told) for node, told in early if not _tell(tracker, node, told)]
    supervisor.close_rest()
    return supervisor.watched


def _tell(tracker: Tracker, node: Node, event: EventView) -> bool:
    """Tell of an event when its attempt is open; False when it is not yet."""
    if node.owner is None or node.owner.attempt is None:
        return False
    tracker.event(node.key, event)
    return True


def play_session(
    events: Iterable[script.ScriptEvent], settings: Settings, *, keep_calls: bool = False
) -> Iterator[Watched]:
    """Judge the attempts of one session file.

    Args:
        events: Its events.
        settings: What is configured.
        keep_calls: Whether each call is kept for the report.

    Yields:
        Each attempt when it is closed.
    """
    open_attempts: dict[str, _SessionAttempt] = {}
    for event in events:
        if isinstance(event, script.AttemptOpened):
            open_attempts[event.attempt] = _SessionAttempt(event, settings, keep_calls=keep_calls)
            continue
        attempt = open_attempts[event.attempt]
        attempt.tell(event)
        if isinstance(event, script.AttemptClosed):
            yield open_attempts.pop(event.attempt).watched


class _SessionAttempt:
    """One attempt of a session file."""

    def __init__(self, opened: script.AttemptOpened, settings: Settings, *, keep_calls: bool) -> None:
        self._supervisor = ReplaySupervisor(settings, opened.run_id, keep_calls=keep_calls)
        self._attempt = self._supervisor.attempt(
            agent_name=opened.agent,
            model=opened.model,
            enforced=False,
            timer=False,
            began_unix_ms=opened.at_ms or None,
        )
        self._began_ms = opened.at_ms
        self._calls: dict[int, tuple[Admission, str | None]] = {}
        self.watched = self._supervisor.watched[0]
        self.watched.key = opened.attempt

    def tell(self, event: script.ScriptEvent) -> None:
        attempt = self._attempt
        at_ms = max(0, event.at_ms - self._began_ms)
        if isinstance(event, script.Call):
            self._call(event, at_ms)
        elif isinstance(event, script.Result):
            self._result(event, at_ms)
        elif isinstance(event, script.TurnBegan):
            attempt.model = attempt.model or event.model
            attempt.tell(TurnBegan(), at_ms)
        elif isinstance(event, script.Compacted):
            attempt.tell(Compacted(), at_ms)
        elif isinstance(event, script.Evicted):
            attempt.tell(Evicted(event.call_ids), at_ms)
        elif isinstance(event, script.Answered):
            attempt.tell(AnswerReturned(), at_ms)
        elif isinstance(event, script.AttemptClosed):
            attempt.close(event.outcome, at_ms)

    def _call(self, call: script.Call, at_ms: int) -> None:
        self._supervisor.listen(None, call.call_id)
        admission = self._attempt.start_call(
            call.tool,
            call.arguments,
            call_id=call.call_id,
            at_ms=at_ms,
            arguments_reason=call.reason,
            observed=True,
        )
        self._calls[call.call] = (admission, call.call_id)

    def _result(self, result: script.Result, at_ms: int) -> None:
        admission, call_id = self._calls.pop(result.call)
        if admission.denied is not None:
            if self._attempt.machine.stop is not None:
                self.watched.wasted_bytes += size_of(result.result)
            return
        self._supervisor.listen(None, call_id)
        self._attempt.finish_call(
            admission,
            result.result,
            ok=result.ok,
            at_ms=at_ms,
            own_notice=result.ok and wording.is_own_notice(result.result, admission.tool, admission.subject),
            reason=result.reason,
            observed=True,
        )
