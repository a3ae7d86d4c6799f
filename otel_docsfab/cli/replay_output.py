"""How ``otel-docsfab replay`` shows what it found: one JSON object, or a table for people. Neither grows in memory."""

from __future__ import annotations

import heapq
import json
import os
import sys
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Protocol, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from otel_docsfab.replay.report import KIND, SCHEMA_VERSION, Notes, Totals, limitations

_ROWS: Final = 40
_WIDTH: Final = 200
"""Columns when the output goes to a file or another program."""
_NAMED: Final = 20


class Output(Protocol):
    """Shows entries as they come, and the rest at the end."""

    def add(self, entry: Mapping[str, Any]) -> None:
        """Show one attempt."""

    def finish(self, totals: Totals, notes: Notes) -> None:
        """Show totals and limitations."""


class JsonOutput:
    """One JSON object, written as the attempts come."""

    def __init__(self) -> None:
        """Write nothing before there is something: an error must not leave half an object."""
        self._begun = False

    def add(self, entry: Mapping[str, Any]) -> None:
        """Write one attempt."""
        self._write("," if self._begun else self._head())
        self._write(json.dumps(entry, separators=(",", ":")))
        self._begun = True

    def finish(self, totals: Totals, notes: Notes) -> None:
        """Write what is left and close the object."""
        if not self._begun:
            self._write(self._head())
        problems = notes.problems
        rest = {
            "totals": totals.as_dict(),
            "traces": notes.traces,
            "sessions": notes.sessions,
            "neutralTools": dict(notes.neutral.most_common()),
            "problems": {
                "broken": problems.broken,
                "skipped": problems.skipped,
                "named": [{"source": p.source, "line": p.line or None, "reason": p.reason} for p in problems.named],
            },
            "limitations": list(limitations(totals, notes)),
        }
        self._write("]," + json.dumps(rest, separators=(",", ":"))[1:] + "\n")

    @staticmethod
    def _head() -> str:
        return f'{{"kind":"{KIND}","schemaVersion":{SCHEMA_VERSION},"attempts":['

    @staticmethod
    def _write(text: str) -> None:
        typer.echo(text, nl=False)


class TableOutput:
    """A table of the attempts that re-read most, worst first; the rest in the totals."""

    def __init__(self) -> None:
        """Keep the worst few."""
        self._worst: list[tuple[tuple[int, int, int], int, Mapping[str, Any]]] = []
        self._count = 0

    def add(self, entry: Mapping[str, Any]) -> None:
        """Consider one attempt for the table."""
        self._count += 1
        evidence = entry["tools"]["readEvidence"] or {}
        weight = (
            entry["waste"]["calls"] + (entry["stop"] is not None),
            int(entry["concludeNow"] is not None),
            evidence.get("unchangedReReads", 0),
        )
        if any(weight) or entry["unjudged"]:
            push = heapq.heappush if len(self._worst) < _ROWS else heapq.heappushpop
            push(self._worst, (weight, -self._count, entry))

    def finish(self, totals: Totals, notes: Notes) -> None:
        """Print the table, the totals and the limitations."""
        console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
        if self._worst:
            console.print(_table(entry for _, _, entry in sorted(self._worst, key=_worst_first)))
        hidden = totals.attempts - len(self._worst)
        if hidden:
            console.print(f"{hidden} more attempts, with nothing to tell or less of it.")
        console.print(
            f"{totals.attempts} attempts ({notes.traces} traces, {notes.sessions} session files), {totals.calls} calls:"
            f" {totals.stops} stops, {totals.asks} asks; {_counts(totals.verdicts)};"
            f" after stops {totals.wasted_calls} calls with {totals.wasted_bytes} bytes."
        )
        console.print("LIMITATIONS")
        for line in limitations(totals, notes):
            console.print(f"  {line}", markup=False)
        for problem in notes.problems.named[:_NAMED]:
            console.print(f"  {problem}", markup=False)
        if len(notes.problems.named) > _NAMED:
            console.print("  ... --json names more")


def _worst_first(row: tuple[tuple[int, int, int], int, Mapping[str, Any]]) -> tuple[Any, int]:
    weight, order, _ = row
    return tuple(-part for part in weight), -order


def _table(entries: Iterable[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in (
        "run",
        "agent",
        "turns",
        "calls",
        "re-reads",
        "notice-only",
        "stop (turn)",
        "ask",
        "waste",
        "unjudged",
    ):
        table.add_column(name, overflow="fold")
    for entry in entries:
        verdicts, stop, asked = entry["tools"]["verdicts"], entry["stop"], entry["concludeNow"]
        evidence = entry["tools"]["readEvidence"] or {}
        waste = entry["waste"]
        cells = (
            str(entry["runId"]),
            entry["agentName"] or "",
            str(entry["turns"]),
            str(entry["tools"]["calls"]),
            str(evidence.get("unchangedReReads", 0)),
            str(verdicts.get("notice-only", 0)),
            f"{stop['code']} ({stop['turn']})" if stop else "",
            f"{asked['trigger']} ({asked['turn']})" if asked else "",
            f"{waste['calls']} calls, {waste['bytes']} B" if waste["calls"] else "",
            _counts(entry["unjudged"]) if entry["unjudged"] else "",
        )
        table.add_row(*(_plain(cell) for cell in cells))
    return table


def _plain(cell: str) -> str:
    """Text from a trace, without control characters or markup."""
    from rich.markup import escape  # noqa: PLC0415 - needed here alone

    return escape("".join(character if character.isprintable() else "?" for character in cell))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "no read judged"


class Progress:
    """A bar on standard error while files are read; nothing when nobody looks.

    Args:
        paths: What is read; the bar ends at the size of all files together.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """Show nothing yet."""
        self._paths = tuple(paths)
        self._bar: RichProgress | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        """Show the bar."""
        if sys.stderr.isatty():
            columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
            self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("reading", total=_total_bytes(self._paths))
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def advance(self, count: int) -> None:
        """Move on by so many bytes."""
        if self._bar is not None:
            self._bar.update(self._task, advance=count)


def _total_bytes(paths: Iterable[str]) -> int | None:
    total = 0
    for path in paths:
        try:
            if os.path.isdir(path):  # noqa: PTH112 - names as they were typed
                for folder, _, names in os.walk(path):
                    total += sum(os.path.getsize(os.path.join(folder, name)) for name in names)  # noqa: PTH118, PTH202 - as above
            else:
                total += os.path.getsize(path)  # noqa: PTH202 - as above
        except OSError:
            return None
    return total or None
