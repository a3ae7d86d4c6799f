"""The limits examined: the table of SPEC section 2 and, for a step, when it is asked and why then."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from otel_docsfab.config import Ignored, Resolved, Settings, variable
from otel_docsfab.config.values import printable_text
from otel_docsfab.core import LIMITS, AskTime, StepKind, Trigger, ask_time, reserve_ms
from otel_docsfab.core.limits import ANSWER_PLAN, camel_case, limit_spec

COLUMNS = ("name", "value", "unit", "source", "observed-max-seen", "headroom%", "status")
UNKNOWN = "unknown"
NEAR_PERCENT = 20
"""Below this headroom a limit is ``near``."""
_WIDTH = 1_000


class LimitRow(NamedTuple):
    """One limit as it holds.

    Attributes:
        name: Dotted name.
        value: Its value, in the unit.
        unit: The unit.
        source: Where the value comes from.
        observed: Largest value seen in what was measured; None when it was never measured.
    """

    name: str
    value: int
    unit: str
    source: str
    observed: int | None

    @property
    def headroom_percent(self) -> int | None:
        """Share of the limit that was never used, rounded down; negative past it; None when never measured."""
        return None if self.observed is None else (self.value - self.observed) * 100 // max(1, self.value)

    @property
    def status(self) -> str:
        """``ok``, ``near``, ``reached``, or ``unknown`` when never measured."""
        if self.observed is None:
            return UNKNOWN
        if self.observed >= self.value:
            return "reached"
        return "near" if (self.headroom_percent or 0) < NEAR_PERCENT else "ok"


class StepPlan(NamedTuple):
    """When a step is asked for its answer.

    Attributes:
        resolved: Step, limits and mode that hold for it.
        tokens: Planned answer, tokens.
        tokens_from: The limit that plans it, or ``the step's declaration``.
        reserve_ms: Time the planned answer needs, ms.
        by_reserve_ms: Moment that leaves the reserve, ms.
        by_share_ms: End of the reading share, ms; None unless the step judges.
        ask: What holds; None when it is never asked.
        rule: Which rule decides, in words.

    Source: R20, R21, R22.
    """

    resolved: Resolved
    tokens: int
    tokens_from: str
    reserve_ms: int
    by_reserve_ms: int
    by_share_ms: int | None
    ask: AskTime | None
    rule: str


@dataclass(frozen=True, slots=True)
class LimitsReport:
    """What ``doctor --limits`` says.

    Attributes:
        rows: Every limit that holds, in the order of SPEC section 2.
        mode: The mode that holds.
        plan: When the step is asked; None without a step.
        ignored: Keys that were read and mean nothing.
    """

    rows: tuple[LimitRow, ...]
    mode: str
    plan: StepPlan | None
    ignored: tuple[Ignored, ...]


def examine(
    settings: Settings,
    *,
    step_id: str | None = None,
    agent_name: str | None = None,
    observed: Mapping[str, int] | None = None,
) -> LimitsReport:
    """Examine the limits that hold for a step and an agent.

    Args:
        settings: What was loaded.
        step_id: The step; None for an attempt of no step.
        agent_name: The agent; None for any.
        observed: Largest values seen, by dotted limit name; what is missing was never measured.
    """
    seen = observed or {}
    resolved = settings.resolve(step_id, agent_name)
    order = {spec.name: number for number, spec in enumerate(LIMITS)}
    rows = [
        LimitRow(name, setting.value, spec.unit, setting.source, seen.get(name))
        for name, setting in sorted(resolved.table.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))
        if (spec := limit_spec(name))
    ]
    plan = _plan(resolved) if step_id is not None else None
    return LimitsReport(tuple(rows), resolved.mode, plan, settings.ignored)


def _plan(resolved: Resolved) -> StepPlan:
    step, limits = resolved.step, resolved.limits
    tokens = step.answer_tokens or limits.planned_tokens(step.id)
    own = f"{ANSWER_PLAN}{camel_case(step.id or '')}Tokens"
    planned_by = own if own in resolved.table else ANSWER_PLAN + "defaultTokens"
    reserve = reserve_ms(tokens, limits)
    ask = ask_time(step, limits.timeout_ms, limits)
    return StepPlan(
        resolved=resolved,
        tokens=tokens,
        tokens_from="the step's declaration" if step.answer_tokens else planned_by,
        reserve_ms=reserve,
        by_reserve_ms=max(0, limits.timeout_ms - reserve),
        by_share_ms=-(-limits.timeout_ms * limits.elapsed_share_bp // 10_000) if step.judgment else None,
        ask=ask,
        rule=_rule(resolved, ask, reserve),
    )


def _rule(resolved: Resolved, ask: AskTime | None, reserve: int) -> str:
    if ask is None:
        why = "a write step" if resolved.step.kind is StepKind.WRITE else "nobody declared its kind"
        return f"never asked: {why} (R20, R22)"
    if ask.trigger is Trigger.READING_BUDGET:
        return "the reading share ends first (R21)"
    if reserve >= resolved.limits.timeout_ms:
        return "the reserve is no shorter than the timer: asked once the first tool turn is over (R20)"
    return "only the answer reserve remains (R20)"


def as_json(report: LimitsReport) -> dict[str, Any]:
    """The report with camelCase keys; what was never measured is null, its status ``unknown``."""
    document: dict[str, Any] = {
        "mode": report.mode,
        "limits": [
            {
                "name": row.name,
                "value": row.value,
                "unit": row.unit,
                "source": row.source,
                "variable": variable(row.name),
                "observedMaxSeen": row.observed,
                "headroomPercent": row.headroom_percent,
                "status": row.status,
            }
            for row in report.rows
        ],
        "ignored": [entry._asdict() for entry in report.ignored],
    }
    if report.plan:
        plan, step = report.plan, report.plan.resolved.step
        document["step"] = {
            "id": step.id,
            "kind": step.kind,
            "judgment": step.judgment,
            "plannedTokens": plan.tokens,
            "plannedTokensFrom": plan.tokens_from,
            "timeoutMs": plan.resolved.limits.timeout_ms,
            "reserveMs": plan.reserve_ms,
            "askAtByReserveMs": plan.by_reserve_ms,
            "askAtByShareMs": plan.by_share_ms,
            "askAtMs": plan.ask and plan.ask.at_ms,
            "trigger": plan.ask and plan.ask.trigger,
            "rule": plan.rule,
        }
    return document


def print_json(report: LimitsReport) -> None:
    """Write the report to stdout as JSON."""
    sys.stdout.write(json.dumps(as_json(report), indent=2) + "\n")


def print_table(report: LimitsReport) -> None:
    """Write the report to stdout as tables, never folded: names are there to be copied."""
    from rich import box  # noqa: PLC0415 - JSON needs no rich
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above

    console = Console(markup=False, emoji=False, highlight=False, width=_WIDTH)

    def show(columns: tuple[str, ...], rows: list[tuple[str, ...]], right: frozenset[str] = frozenset()) -> None:
        table = Table(box=box.MARKDOWN)
        for column in columns:
            table.add_column(printable_text(column), justify="right" if column in right else "left", no_wrap=True)
        for row in rows:
            table.add_row(*map(printable_text, row))
        console.print(table)

    show(COLUMNS, [_cells(row) for row in report.rows], frozenset({"value", "observed-max-seen", "headroom%"}))
    console.print(f"mode: {report.mode}")
    if report.plan:
        show(("step", report.plan.resolved.step.id or ""), _plan_cells(report.plan))
    if report.ignored:
        show(("ignored", "where", "why"), [tuple(entry) for entry in report.ignored])


def _cells(row: LimitRow) -> tuple[str, ...]:
    observed, headroom = (UNKNOWN if fact is None else str(fact) for fact in (row.observed, row.headroom_percent))
    return row.name, str(row.value), row.unit, row.source, observed, headroom, row.status


def _plan_cells(plan: StepPlan) -> list[tuple[str, ...]]:
    step, limits = plan.resolved.step, plan.resolved.limits
    kind = f"{step.kind or 'undeclared'}{', judgment' if step.judgment else ''}"
    rows = [
        ("kind", kind),
        ("planned tokens", f"{plan.tokens} from {plan.tokens_from}"),
        ("reserve", f"{plan.reserve_ms} ms of the timer's {limits.timeout_ms} ms"),
        ("ask by the reserve", f"{plan.by_reserve_ms} ms"),
    ]
    if plan.by_share_ms is not None:
        rows.append(("ask by the reading share", f"{plan.by_share_ms} ms"))
    asked = f"{plan.ask.at_ms} ms, trigger {plan.ask.trigger}" if plan.ask else "never"
    return [*rows, ("asked at", asked), ("which rule decides", plan.rule)]
