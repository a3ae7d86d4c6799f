"""How runs, queries and findings look to people: plain text, the same on a terminal, in a pipe and without colors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from otel_docsfab.runs.findings import findings_of
from otel_docsfab.runs.models import Attempt, Finding, RunResult, Why
from otel_docsfab.runs.results import ASKED_EARLY

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


def run_text(result: RunResult) -> str:
    """The sections of ``runs show``."""
    asked = len(result.answers_asked_early)
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


def why_text(document: Why, results: Sequence[RunResult]) -> str:
    """What ``why`` says."""
    if not document.findings:
        ends = [f"{one.run_id}: {one.outcome}; no step failed with a code\n" for one in results]
        return "".join(ends) or "no run failed\n"
    return "\n".join(map(_finding_text, document.findings))


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


def _cell(value: Any) -> str:
    return _ABSENT if value is None or value == "" else plain(str(value))


def _seconds(ms: int) -> str:
    return f"{ms / 1_000:.1f} s"


def _named(step_id: str | None) -> str:
    return plain(step_id) if step_id else "(no step)"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _run_lines(result: RunResult) -> list[str]:
    ending = f"{result.outcome}: {result.code}" if result.code else str(result.outcome)
    how = "enforced" if result.enforced else "observed"
    began = moment(result.started_unix_ms)
    return [f"{plain(result.run_id)}  {ending}", f"began {began}, took {_seconds(result.duration_ms)}, {how}"]


def _step_lines(result: RunResult) -> list[str]:
    rows = [
        (
            _named(step.step_id),
            step.step_kind or "kind unknown",
            _counted(step.attempts, "attempt"),
            step.outcome,
            step.code or "",
        )
        for step in result.steps
    ]
    return _aligned(rows)


def _attempt_lines(result: RunResult) -> list[str]:
    rows = [
        (
            f"{_named(one.step_id)} #{one.attempt}",
            f"{_counted(one.turns, 'turn')}, {_counted(one.tools.calls, 'call')}, {_seconds(one.duration_ms)}",
            one.code or str(one.outcome),
            ", ".join(filter(None, (one.agent_name and plain(one.agent_name), one.model and plain(one.model)))),
        )
        for one in result.attempts
    ]
    return _aligned(rows)


def _evidence_lines(result: RunResult) -> list[str]:
    lines = []
    for one in result.attempts:
        evidence = one.tools.read_evidence
        if evidence:
            lines.append(
                f"{_named(one.step_id)} #{one.attempt}: {evidence.unchanged_re_reads} unchanged re-reads,"
                f" {evidence.read_loop_withheld} withheld, at most {evidence.max_repeats_of_one_result} of one result,"
                f" {evidence.max_unchanged_re_reads_across_results} across results"
            )
        if one.stop:
            lines.append(f"{_named(one.step_id)} #{one.attempt}: {one.stop.message}")
    return lines


def _retry_lines(result: RunResult) -> list[str]:
    return [
        f"{_named(one.step_id)} #{one.attempt}: retry after {one.retry_of}, {_ending(one)}"
        for one in result.attempts
        if one.retry_of
    ]


def _limitations_title(asked: int) -> str:
    if not asked:
        return "LIMITATIONS"
    was = "attempt was" if asked == 1 else "attempts were"
    return f"LIMITATIONS ({asked} {was} asked for the answer early)"


def _limitation_lines(result: RunResult) -> list[str]:
    ordered = sorted(result.limitations, key=lambda one: one.limitation != ASKED_EARLY)
    return [f"{_named(one.step_id)} #{one.attempt}: {one.limitation}: {one.detail}" for one in ordered]


def _next_lines(result: RunResult) -> list[str]:
    lines = [f"{_named(one.summary.step_id)}: {one.next_action}" for one in findings_of(result)]
    if lines:
        return [*lines, f"otel-docsfab why {plain(result.run_id)}"]
    if result.answers_asked_early:
        return ["Check the answers named under LIMITATIONS before relying on them."]
    return ["Nothing to do."]


def _ending(attempt: Attempt) -> str:
    return f"{attempt.outcome}: {attempt.code}" if attempt.code else str(attempt.outcome)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _finding_text(finding: Finding) -> str:
    summary, what, evidence = finding.summary, finding.what, finding.evidence
    how = "enforced" if what.enforced else "observed"
    lines = [
        f"{summary.cause}: step {_named(summary.step_id)} of {plain(summary.run_id)}, owned by {summary.owner}",
        f"  model       {plain(finding.model) if finding.model else 'unknown'}",
        f"  what        attempt {what.attempt} of {what.attempts} {what.outcome}: {what.code} ({what.category}, {how})",
    ]
    facts = [
        f"{_counted(evidence.turns, 'turn')}, {_counted(evidence.calls, 'call')}, {_seconds(evidence.duration_ms)}"
    ]
    if evidence.stop:
        facts.append(evidence.stop.message)
    if evidence.deadline_turn:
        facts.append(f"the timer found it {evidence.deadline_turn}")
    if evidence.read_evidence:
        reads = evidence.read_evidence
        facts.append(
            f"{reads.unchanged_re_reads} unchanged re-reads, {reads.read_loop_withheld} withheld,"
            f" at most {reads.max_repeats_of_one_result} of one result"
        )
    facts.append(f"{evidence.stall.longest_stretch_calls} calls without progress at the longest")
    lines += [f"  {'evidence' if at == 0 else '':<12}{fact}" for at, fact in enumerate(facts)]
    limits = [f"{one.limitation}: {one.detail}" for one in finding.limitations] or ["none"]
    lines += [f"  {'limitations' if at == 0 else '':<12}{limit}" for at, limit in enumerate(limits)]
    lines.append(f"  next        {finding.next_action}")
    return "\n".join(lines) + "\n"
