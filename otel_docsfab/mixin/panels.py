"""What a board is made of, before it becomes Grafana's JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from otel_docsfab.catalogue import SPAN_ATTRIBUTES
from otel_docsfab.catalogue.metric import Metric
from otel_docsfab.mixin.promql import Query, Where, select

VARIABLES: Final = ("job", "step", "tool", "agent", "enforced")
"""Board variables; each filters every series that has a label of this name."""

RANGE: Final = "$__range"
"""The board's whole time range."""
RESOLUTION: Final = "$__rate_interval"
"""The window of one point of a graph."""


class View(StrEnum):
    """How a panel shows its data."""

    STAT = "stat"
    LINES = "lines"
    BARS = "bars"  # stacked, for rare events
    AREA = "area"  # stacked
    PERCENT = "percent"  # stacked to 100 %
    RANKING = "ranking"
    TABLE = "table"
    HEATMAP = "heatmap"


@dataclass(frozen=True, slots=True)
class Target:
    """One query of a panel.

    Attributes:
        query: The query.
        legend: Legend, or the column's name in a table of several queries.
        exemplars: Whether points lead to traces.
    """

    query: Query
    legend: str = ""
    exemplars: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        title: Title.
        view: How it shows its data.
        targets: Its queries.
        description: What it says, and what to look for.
        unit: Grafana's unit id.
        width: Of 24 columns.
        colours: Value and colour from which it counts; green below the first.
        traces: TraceQL condition of the link to traces; no link when empty.
        empty: When it rightly shows nothing; an empty text when it has data as soon as one attempt was seen.
        colour_of: Fixed colours by series name.
    """

    title: str
    view: View
    targets: tuple[Target, ...]
    description: str
    unit: str = "short"
    width: int = 8
    colours: tuple[tuple[float, str], ...] = ()
    traces: str = ""
    empty: str = ""
    colour_of: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """A titled row of panels.

    Attributes:
        title: Title.
        panels: Its panels; their widths fill whole lines of 24.
        height: Height of each line, grid units.
    """

    title: str
    panels: tuple[Panel, ...]
    height: int = 8


@dataclass(frozen=True, slots=True)
class Board:
    """One dashboard.

    Attributes:
        uid: Uid; the file has its name without the prefix.
        title: Title.
        description: What it answers.
        rows: Its rows.
    """

    uid: str
    title: str
    description: str
    rows: tuple[Row, ...]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Every panel, in order."""
        return tuple(panel for row in self.rows for panel in row.panels)

    @property
    def file_name(self) -> str:
        """Name of its JSON file."""
        return f"{self.uid.removeprefix('docsfab-')}.json"


def chosen(metric: Metric, where: Where | None = None, *, part: str = "", at_most: float | None = None) -> Query:
    """A metric's series, filtered by the board's variables where ``where`` does not say otherwise."""
    given = where or {}
    free = [name for name in VARIABLES if name == "job" or (name in metric.label_names and name not in given)]
    filters: dict[str, str | tuple[str, ...]] = {name: f"${name}" for name in free}
    return select(metric, {**filters, **given}, part=part, at_most=at_most)


def one(query: Query, legend: str = "", *, exemplars: bool = False) -> tuple[Target, ...]:
    """A single target."""
    return (Target(query, legend, exemplars),)


def trace_condition(attribute: str, condition: str = "!= nil") -> str:
    """A TraceQL condition on one of the catalogue's span attributes; KeyError when there is no such attribute."""
    if attribute not in {known.name for known in SPAN_ATTRIBUTES}:
        raise KeyError(attribute)
    return f"span.{attribute} {condition}"
