"""Shows the demo: a row a call as it happens, then what came of it."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from otel_docsfab.core import (
    AttemptRecord,
    DeliverResult,
    DenyCall,
    Outcome,
    Progress,
    Step,
    ToolClass,
    Verdict,
)
from otel_docsfab.supervisor import AttemptRef, BaseSink, Decision

_STYLES = {
    "new content": "green",
    Verdict.DELIVER_WITH_NOTICE: "yellow",
    Verdict.NOTICE_ONLY: "magenta",
    Verdict.DENIED: "red",
}
_WIDTHS = (8, 5, 26, 22, 42)


class DemoView(BaseSink):
    """A sink that shows and keeps the demo's facts.

    Attributes:
        records: Records of ended attempts, in order.
        decisions: Stops and asks, in order.
    """

    def __init__(self, console: Console | None, *, enforced: bool, pace_s: float = 0.0) -> None:
        """Show on this console, or nothing without one.

        Args:
            console: Where to show; None keeps quiet.
            enforced: Whether verdicts take effect.
            pace_s: Pause after each row, seconds.
        """
        self._console = console
        self._enforced = enforced
        self._pace_s = pace_s
        self.records: list[AttemptRecord] = []
        self.decisions: list[Decision] = []

    def scene(self, number: int, title: str) -> None:
        """A scene begins."""
        self._line(f"\nSCENE {number}: {title}", "bold")
        self._row(("attempt", "turn", "call", "got", "why"), "bold")

    def tell(self, remark: str) -> None:
        """A remark between the rows."""
        self._line(f"  · {remark}", "dim")

    def opened(self, attempt: AttemptRef, step: Step) -> None:
        """Nothing: its first call shows it."""

    def judged(self, attempt: AttemptRef, effect: DeliverResult | DenyCall, *, enforced: bool) -> None:
        """Show what a call got."""
        got, why = _explain(effect, enforced=enforced)
        subject = effect.subject if isinstance(effect, DeliverResult) else ""
        self._row((str(attempt.number), str(effect.turn), f"{effect.tool} {subject}", got, why), _STYLES.get(got, ""))
        if self._pace_s:
            time.sleep(self._pace_s)

    def decided(self, decision: Decision) -> None:
        """Show a stop or an ask."""
        self.decisions.append(decision)
        would = "" if self._enforced else " (only watched: nothing is done)"
        if decision.action == "stop":
            self._line(f"  STOP after turn {decision.turn}{would}: {decision.message}", "bold red")
        else:
            self._line(f"  CONCLUDE NOW after turn {decision.turn}{would}: {decision.message}", "bold magenta")

    def closed(self, record: AttemptRecord) -> None:
        """Keep the record."""
        self.records.append(record)

    def summary(self, saved: dict[str, int]) -> None:
        """Show the records, what was saved, and the limitations."""
        self._line("\nRECORDS", "bold")
        for record in self.records:
            self._record(record)
        self._line("\nSAVED" if self._enforced else "\nWOULD HAVE SAVED", "bold")
        self._line(f"  {saved['bytesWithheld']} bytes of context were not delivered again")
        self._line(f"  {saved['callsDenied']} calls were not run after an ask or a stop")
        limits = limitations(self.records)
        self._line("\nLIMITATIONS", "bold")
        self._line(f"  {len(limits)} attempt(s) were asked to answer from partial reading")
        for line in limits:
            self._line(f"  {line}")

    def _record(self, record: AttemptRecord) -> None:
        head = f"  {record.step_id} attempt {record.attempt}: {record.outcome}"
        self._line(f"{head} after {record.turns} turns, {record.calls} calls")
        if record.stop is not None and record.outcome is Outcome.FAILED:
            self._line(f"    stop: {record.stop.message}")
            self._line(f"    retry granted: {'yes' if record.stop.retry_granted else 'no'}")
        evidence = record.read_evidence
        if evidence is not None:
            self._line(
                f"    readEvidence: {evidence.unchanged_re_reads} unchanged re-reads, {evidence.read_loop_withheld}"
                f" withheld, at most {evidence.max_repeats_of_one_result} of one result,"
                f" {evidence.max_unchanged_re_reads_across_results} across results"
            )

    def _row(self, cells: tuple[str, str, str, str, str], style: Any) -> None:
        console = self._console
        if console is None:
            return
        if not console.is_terminal:
            console.print("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip())
            return
        grid = Table.grid(padding=(0, 2))
        for width in _WIDTHS[:-1]:
            grid.add_column(width=width, no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_row(*(Text(cell, style=str(style) if n in (3, 4) else "") for n, cell in enumerate(cells)))
        console.print(grid)

    def _line(self, text: str, style: str = "") -> None:
        if self._console is not None:
            self._console.print(Text(text, style=style if self._console.is_terminal else ""))


def _explain(effect: DeliverResult | DenyCall, *, enforced: bool) -> tuple[str, str]:
    if isinstance(effect, DenyCall):
        return Verdict.DENIED, ("not run: " if enforced else "would not have run: ") + effect.reason
    if effect.repeats is not None:
        return (
            effect.verdict,
            f"re-read {effect.repeats} of this, {effect.cross_result} in all; turn {effect.first_turn}",
        )
    if effect.progress is Progress.NEW_CONTENT:
        return "new content", "delivered in full"
    if effect.progress is Progress.PROGRESS_CALL:
        return "progress", "delivered in full"
    if effect.tool_class is ToolClass.READ:
        return effect.verdict, "in full, not counted"
    return effect.verdict, "delivered in full"


def limitations(records: list[AttemptRecord]) -> list[str]:
    """One line per attempt whose answer was asked for (R25)."""
    return [
        f"{record.step_id} attempt {record.attempt}: asked after turn {record.conclude_now.turn}"
        f" ({record.conclude_now.trigger}), {record.outcome}"
        for record in records
        if record.conclude_now is not None
    ]
