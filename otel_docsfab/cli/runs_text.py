"""How runs, queries and findings look to people: plain text, the same on a terminal, in a pipe and without colors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from otel_docsfab.runs.findings import findings_of
from otel_docsfab.runs.results import ASKED_EARLY, Document

_ABSENT: Final = "-"
_COLUMNS: Final = (
    *("runId", "stepId", "attempt", "attempts", "outcome", "code", "concludeNow", "calls"),
    *("unchangedReReads", "readLoopWithheld", "maxRepeatsOfOneResult", "maxUnchangedReReadsAcrossResults"),
)
"""What ``runs query`` shows to people; JSON and CSV have every field."""


def run_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The runs of ``runs list``."""
    if not rows:
        return "no runs\n"
    head = ("RUN", "ENDED", "OUTCOME", "STEPS", "ATTEMPTS", "RE-READS", "ASKED", "CODE", "MODEL")
    cells = [
        (
            row["runId"],
            moment(row["endedUnixMs"]),
            row["outcome"],
            row["steps"],
            row["attempts"],
            row.get("unchangedReReads", 0),
            row.get("concludeNow"),
            row.get("code"),
            row.get("model"),
        )
        for row in rows
    ]
    return table(head, cells)


def query_table(names: Sequence[str], rows: Sequence[Sequence[Any]], asked: Iterable[str] = ()) -> str:
    """The rows of ``runs query``: the columns that matter most and those that were asked for."""
    if not rows:
        return "no rows\n"
    wanted = {*_COLUMNS, *asked} if "runId" in names else set(names)
    used = [at for at, name in enumerate(names) if name in wanted]
    return table([names[at] for at in used], [[row[at] for at in used] for row in rows])


def run_text(result: Document) -> str:
    """The sections of ``runs show``."""
    asked = len(result["answersAskedEarly"])
    sections = [
        ("RUN", _run_lines(result)),
        ("STEPS", _step_lines(result)),
        ("ATTEMPTS", _attempt_lines(result)),
        ("READ EVIDENCE", _evidence_lines(result)),
        ("RETRIES", _retry_lines(result)),
        (_limitations_title(asked), _limitation_lines(result)),
        ("NEXT", _next_lines(result)),
    ]
    return "\n".join(f"{title}\n" + "".join(f"  {line}\n" for line in lines) for title, lines in sections if lines)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Aligned columns; counts stand right."""
    rows = list(rows)
    lines = [tuple(map(plain, head)), *(tuple(_cell(value) for value in row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    counts = [all(value is None or isinstance(value, int) for value in column) for column in zip(*rows, strict=True)]
    shown = (
        "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in zip(line, widths, counts, strict=True))
        for line in lines
    )
    return "".join(line.rstrip() + "\n" for line in shown)


def moment(unix_ms: int) -> str:
    """A moment in UTC, to the second."""
    try:
        return dt.datetime.fromtimestamp(unix_ms / 1_000, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{unix_ms} ms"


def plain(text: str) -> str:
    """Text without control characters: names come from runtimes."""
    return "".join(character if character.isprintable() else "?" for character in text)


def named(step_id: str | None) -> str:
    """A step's id, or that there is none."""
    return plain(step_id) if step_id else "(no step)"


def work(turns: int, calls: int, duration_ms: int) -> str:
    """How much an attempt did."""
    return f"{_counted(turns, 'turn')}, {_counted(calls, 'call')}, {_seconds(duration_ms)}"


def reads(evidence: Document) -> str:
    """The counts of R24 in words."""
    return (
        f"{evidence['unchangedReReads']} unchanged re-reads, {evidence['readLoopWithheld']} withheld,"
        f" at most {evidence['maxRepeatsOfOneResult']} of one result,"
        f" {evidence['maxUnchangedReReadsAcrossResults']} across results"
    )


def _cell(value: Any) -> str:
    return _ABSENT if value is None or value == "" else plain(str(value))


def _seconds(ms: int) -> str:
    return f"{ms / 1_000:.1f} s"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _ending(ended: Document) -> str:
    return f"{ended['outcome']}: {ended['code']}" if "code" in ended else str(ended["outcome"])


def _place(attempt: Document) -> str:
    return f"{named(attempt.get('stepId'))} #{attempt['attempt']}"


def _run_lines(result: Document) -> list[str]:
    how = "enforced" if result["enforced"] else "observed"
    began, took = moment(result["startedUnixMs"]), _seconds(result["durationMs"])
    return [f"{plain(result['runId'])}  {_ending(result)}", f"began {began}, took {took}, {how}"]


def _step_lines(result: Document) -> list[str]:
    rows = [
        (
            named(step.get("stepId")),
            step.get("stepKind", "kind unknown"),
            _counted(step["attempts"], "attempt"),
            step["outcome"],
            step.get("code", ""),
        )
        for step in result["steps"]
    ]
    return _aligned(rows)


def _attempt_lines(result: Document) -> list[str]:
    rows = [
        (
            _place(one),
            work(one["turns"], one["tools"]["calls"], one["durationMs"]),
            one.get("code", one["outcome"]),
            ", ".join(plain(one[key]) for key in ("agentName", "model") if key in one),
        )
        for one in result["attempts"]
    ]
    return _aligned(rows)


def _evidence_lines(result: Document) -> list[str]:
    lines = []
    for one in result["attempts"]:
        if "readEvidence" in one["tools"]:
            lines.append(f"{_place(one)}: {reads(one['tools']['readEvidence'])}")
        if "stop" in one:
            lines.append(f"{_place(one)}: {one['stop']['message']}")
    return lines


def _retry_lines(result: Document) -> list[str]:
    retries = [one for one in result["attempts"] if "retryOf" in one]
    return [f"{_place(one)}: retry after {one['retryOf']}, {_ending(one)}" for one in retries]


def _limitations_title(asked: int) -> str:
    if not asked:
        return "LIMITATIONS"
    was = "attempt was" if asked == 1 else "attempts were"
    return f"LIMITATIONS ({asked} {was} asked for the answer early)"


def _limitation_lines(result: Document) -> list[str]:
    ordered = sorted(result["limitations"], key=lambda one: one["limitation"] != ASKED_EARLY)
    return [f"{_place(one)}: {one['limitation']}: {one['detail']}" for one in ordered]


def _next_lines(result: Document) -> list[str]:
    findings = findings_of(result)
    if findings:
        lines = [f"{named(one['summary'].get('stepId'))}: {one['nextAction']}" for one in findings]
        return [*lines, f"otel-docsfab why {plain(result['runId'])}"]
    if result["answersAskedEarly"]:
        return ["Check the answers named under LIMITATIONS before relying on them."]
    return ["Nothing to do."]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
