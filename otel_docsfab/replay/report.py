"""What a replay found: one entry an attempt, totals, and what it could not tell. Ids, codes and counts only (R27)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from otel_docsfab.core import DenyCall
from otel_docsfab.replay.readers import Problems
from otel_docsfab.replay.watch import JudgedCall, Watched

KIND: Final = "docsfab-replay"
SCHEMA_VERSION: Final = 1
TRACE: Final = "trace"
"""Source of attempts that spans told of; those of session files have the format's name."""
_MAX_NAMES: Final = 8
_MAX_EARLY: Final = 1_000


def attempt_entry(watched: Watched, source: str, *, trace_id: str | None, with_calls: bool) -> dict[str, Any]:
    """The report's entry of one attempt.

    Args:
        watched: The attempt, closed.
        source: ``TRACE``, or the format of the session file.
        trace_id: Trace it was read from; None for session files.
        with_calls: Whether each call is listed.

    Returns:
        JSON-like values; facts that are absent are None.

    Source: R24, R25, R30.
    """
    record = watched.attempt.record()
    facts = record.as_dict()
    tools: Any = facts["tools"]
    stop: Any = facts.get("stop")
    entry = {
        "source": source,
        "runId": record.run_id,
        "stepId": record.step_id,
        "attempt": record.attempt,
        "agentName": record.agent_name,
        "model": record.model,
        "traceId": record.trace_id or trace_id,
        "enforced": record.enforced,
        "startedUnixMs": record.started_unix_ms,
        "durationMs": record.duration_ms,
        "turns": record.turns,
        "outcome": record.outcome,
        "code": record.code,
        "stop": stop and {key: stop[key] for key in ("code", "category", "message", "observed", "limit", "turn")},
        "concludeNow": facts.get("concludeNow"),
        "deadlineTurn": record.deadline_turn,
        "tools": {
            "calls": record.calls,
            "verdicts": tools["verdicts"],
            "denied": tools["denied"],
            "stall": tools["stall"],
            "readEvidence": tools.get("readEvidence"),
        },
        "callsAfterStop": record.calls_after_stop,
        "waste": {"calls": record.calls_after_stop, "bytes": watched.wasted_bytes},
        "unjudged": tools["unjudged"],
    }
    if with_calls:
        entry["calls"] = [_call_entry(call) for call in watched.calls]
    return entry


def _call_entry(call: JudgedCall) -> dict[str, Any]:
    effect = call.effect
    entry: dict[str, Any] = {"spanId": call.span_id, "callId": call.call_id, "tool": effect.tool, "turn": effect.turn}
    if isinstance(effect, DenyCall):
        denied = dict.fromkeys(("repeats", "crossResult", "firstTurn", "unjudged", "progress"))
        return entry | {"verdict": "denied", "denial": effect.reason, "ok": None} | denied
    return entry | {
        "verdict": effect.verdict,
        "denial": None,
        "ok": effect.ok,
        "repeats": effect.repeats,
        "crossResult": effect.cross_result,
        "firstTurn": effect.first_turn,
        "unjudged": effect.unjudged,
        "progress": effect.progress,
    }


class Totals:
    """Sums over all entries, in memory that does not grow with them.

    Attributes:
        attempts: Attempts.
        calls: Calls that ran.
        stops: Attempts that would have been stopped.
        asks: Attempts that would have been asked for their answer.
        verdicts: Judged reads by verdict.
        unjudged: Reads that could not be judged, by reason.
        wasted_calls: Calls after a stop.
        wasted_bytes: Bytes of their results.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.attempts = self.calls = self.stops = self.asks = self.wasted_calls = self.wasted_bytes = 0
        self.verdicts: Counter[str] = Counter()
        self.unjudged: Counter[str] = Counter()
        self.early: list[str] = []

    def add(self, entry: Mapping[str, Any]) -> None:
        """Count one attempt's entry."""
        self.attempts += 1
        self.calls += entry["tools"]["calls"]
        self.stops += entry["stop"] is not None
        asked = entry["concludeNow"]
        self.asks += asked is not None
        if asked and len(self.early) < _MAX_EARLY:
            self.early.append(
                f"run {entry['runId']}, step {entry['stepId']}, attempt {entry['attempt']}: asked for its answer"
                f" ({asked['trigger']}) after turn {asked['turn']}; it would have answered from partial reading"
            )
        self.verdicts.update(entry["tools"]["verdicts"])
        self.unjudged.update(entry["unjudged"])
        self.wasted_calls += entry["waste"]["calls"]
        self.wasted_bytes += entry["waste"]["bytes"]

    def as_dict(self) -> dict[str, Any]:
        """The totals of the report."""
        return {
            "attempts": self.attempts,
            "calls": self.calls,
            "stops": self.stops,
            "asks": self.asks,
            "verdicts": dict(self.verdicts),
            "unjudged": dict(self.unjudged),
            "waste": {"calls": self.wasted_calls, "bytes": self.wasted_bytes},
        }


class Notes:
    """What a replay notices beside the attempts.

    Attributes:
        problems: What could not be read.
        traces: Traces judged.
        sessions: Session files judged.
        late: Spans that came after their trace was judged.
        cut: Traces judged before they were whole, because too many spans were open.
        neutral: Calls by name of tools that the toolset neither reads nor progresses with.
        shell_off: Whether session files were judged without looking into shell commands.
    """

    def __init__(self) -> None:
        """Start with nothing noticed."""
        self.problems = Problems()
        self.traces = self.sessions = self.late = self.cut = 0
        self.neutral: Counter[str] = Counter()
        self.shell_off = False

    def merge(self, other: Notes) -> None:
        """Add what another process noticed."""
        self.problems.merge(other.problems)
        self.traces += other.traces
        self.sessions += other.sessions
        self.late += other.late
        self.cut += other.cut
        self.neutral.update(other.neutral)
        self.shell_off = self.shell_off or other.shell_off

    def saw(self, watched: Watched) -> None:
        """Count the neutral tools of one attempt."""
        self.neutral.update(watched.neutral)


def limitations(totals: Totals, notes: Notes) -> Iterator[str]:
    """What the numbers do not say, a line each; asked attempts have one line each (R25)."""
    yield (
        "Nothing was changed in the recorded runs: a model that had got notices, denials or the ask might have gone on"
        " differently."
    )
    yield from totals.early
    if totals.asks > len(totals.early):
        yield f"{totals.asks - len(totals.early)} more attempts were asked for their answers early."
    if totals.unjudged:
        reasons = ", ".join(f"{reason} {count}" for reason, count in totals.unjudged.most_common())
        yield f"{totals.unjudged.total()} reads could not be judged ({reasons}); doctor names the switches."
    if notes.neutral:
        names = [f"{tool} {count}" for tool, count in notes.neutral.most_common(_MAX_NAMES)]
        more = f" and {len(notes.neutral) - _MAX_NAMES} more tools" if len(notes.neutral) > _MAX_NAMES else ""
        yield f"Calls of tools taken as neutral: {', '.join(names)}{more}; --profile chooses another toolset."
    if notes.shell_off:
        yield "Shell commands were not looked into, so their reads and writes count as neutral; --shell changes that."
    if notes.problems.broken:
        yield f"{notes.problems.broken} lines, spans or messages could not be read and are missing."
    if notes.late:
        yield f"{notes.late} spans came after their trace had been judged and are missing; --window waits longer."
    if notes.cut:
        yield f"{notes.cut} traces were judged before they were whole, because too many spans were open at once."
