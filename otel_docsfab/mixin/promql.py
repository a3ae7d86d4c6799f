"""PromQL made from the catalogue: a query cannot name a metric, label or value that the catalogue lacks.

Aggregations name the labels they keep, so that labels an exporter adds (``otel_scope_name``) split nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from otel_docsfab.catalogue.metric import Kind, Metric

TARGET_LABELS: Final = ("job", "instance")
"""Labels that Prometheus itself puts on every series."""

_KNOWN_FOR: Final = "1h"
"""A series with a sample in the hour before a window is not new in it; shorter gaps of scraping make nothing new."""

Where = Mapping[str, str | tuple[str, ...]]
"""Label to a value, to some values, or to a board variable such as ``$step``."""


class CatalogueError(ValueError):
    """A query names what its source does not have."""


@dataclass(frozen=True, slots=True)
class Query:
    """An instant vector.

    Attributes:
        text: The expression.
        labels: Labels that its series have.
        reads: Names of the series it selects.
    """

    text: str
    labels: frozenset[str]
    reads: frozenset[str]

    def keep(self, *labels: str) -> frozenset[str]:
        """The labels, when the query has each of them; ``CatalogueError`` otherwise."""
        missing = set(labels) - self.labels
        if missing:
            raise CatalogueError(f"{self.text} has no label {sorted(missing)}")
        return frozenset(labels)


@dataclass(frozen=True, slots=True)
class Rule:
    """A recording rule.

    Attributes:
        name: ``level:metric:operation``; the level is the labels kept.
        query: What it records.
        description: Why it is recorded.
    """

    name: str
    query: Query
    description: str


def _matcher(label: str, wanted: str | tuple[str, ...]) -> str:
    if isinstance(wanted, tuple):
        return f'{label}=~"{"|".join(wanted)}"'
    return f'{label}=~"{wanted}"' if wanted.startswith("$") else f'{label}="{wanted}"'


def _check_values(metric: Metric, name: str, wanted: str | tuple[str, ...]) -> None:
    if name in TARGET_LABELS:
        return
    try:
        label = metric.label(name)
    except KeyError as error:
        raise CatalogueError(str(error)) from error
    values = (wanted,) if isinstance(wanted, str) else wanted
    unknown = [value for value in values if not (label.open or value in label.values or value.startswith("$"))]
    if unknown:
        raise CatalogueError(f"{metric.name}: {name} is never {unknown}")


def le(metric: Metric, bound: float) -> str:
    """The ``le`` value of a bound of a histogram; ``CatalogueError`` when it has no such bound."""
    if bound not in metric.bounds:
        raise CatalogueError(f"{metric.name} has no bound {bound}; it has {metric.bounds}")
    return f"{bound:g}"


def select(metric: Metric, where: Where | None = None, *, part: str = "", at_most: float | None = None) -> Query:
    """A metric's series.

    Args:
        metric: The metric.
        where: What its labels must be.
        part: For a histogram: ``bucket``, ``sum`` or ``count``.
        at_most: For buckets: the bound, one of the metric's.

    Returns:
        The selector.

    Raises:
        CatalogueError: The metric lacks such a label, value, part or bound.
    """
    if (metric.kind is Kind.HISTOGRAM) != bool(part):
        raise CatalogueError(f"{metric.name} is a {metric.kind}; part {part!r} does not fit")
    name = f"{metric.prometheus_name}_{part}" if part else metric.prometheus_name
    if name not in metric.series_names:
        raise CatalogueError(f"{metric.name} has no part {part!r}")
    for label, wanted in (where or {}).items():
        _check_values(metric, label, wanted)
    matchers = [_matcher(label, wanted) for label, wanted in (where or {}).items()]
    if at_most is not None:
        matchers.append(_matcher("le", le(metric, at_most)))
    labels = {*TARGET_LABELS, *metric.label_names, *(["le"] if part == "bucket" else [])}
    return Query(f"{name}{{{','.join(matchers)}}}" if matchers else name, frozenset(labels), frozenset({name}))


def recorded(rule: Rule, where: Where | None = None, *, offset: str = "") -> Query:
    """What a recording rule recorded, now or ``offset`` ago."""
    for label in where or {}:
        rule.query.keep(label)
    matchers = ",".join(_matcher(label, wanted) for label, wanted in (where or {}).items())
    text = f"{rule.name}{{{matchers}}}" if matchers else rule.name
    return Query(f"{text} offset {offset}" if offset else text, rule.query.labels, frozenset({rule.name}))


def rate(series: Query, window: str) -> Query:
    """Increments a second."""
    return replace(series, text=f"rate({series.text}[{window}])")


def added(series: Query, window: str, *by: str) -> Query:
    """Increments within the window summed by these labels, those of a series that is new in it included.

    ``increase()`` alone misses what a series starts with: the first stop of a step that no one scraped before.
    """
    text = series.text
    new = f"({text} unless last_over_time({text}[{_KNOWN_FOR}] offset {window}))"
    return sum_by(replace(series, text=f"{new} or increase({text}[{window}])"), *by)


def _aggregate(operator: str, query: Query, labels: tuple[str, ...]) -> Query:
    kept = query.keep(*labels)
    by = f" by ({', '.join(labels)})" if labels else ""
    return replace(query, text=f"{operator}{by} ({query.text})", labels=kept)


def sum_by(query: Query, *labels: str) -> Query:
    """The sum over all labels but these."""
    return _aggregate("sum", query, labels)


def max_by(query: Query, *labels: str) -> Query:
    """The largest over all labels but these."""
    return _aggregate("max", query, labels)


def count_by(query: Query, *labels: str) -> Query:
    """How many series there are for these labels."""
    return _aggregate("count", query, labels)


def whole(query: Query) -> Query:
    """Rounded: extrapolation makes 2 increments 2.1."""
    return replace(query, text=f"round({query.text})")


def counted(series: Query, window: str, *by: str) -> Query:
    """``added``, as a whole number of events."""
    return whole(added(series, window, *by))


def _joined(left: Query, operator: str, right: Query) -> Query:
    if left.labels != right.labels:
        raise CatalogueError(f"{sorted(left.labels)} and {sorted(right.labels)} do not match: {operator}")
    return Query(f"{left.text} {operator} {right.text}", left.labels, left.reads | right.reads)


def share(part: Query, of: Query) -> Query:
    """One quantity as a share of another; nothing where there is nothing to share."""
    return _joined(part, "/", replace(of, text=f"({of.text} > 0)"))


def minus(left: Query, right: Query) -> Query:
    """The difference of two queries of the same labels."""
    return _joined(left, "-", right)


def both(left: Query, right: Query) -> Query:
    """The left one where the right one is too."""
    return _joined(left, "and", right)


def but_not(left: Query, right: Query) -> Query:
    """The left one where the right one is not."""
    return _joined(left, "unless", right)


def above(query: Query, limit: float | Query) -> Query:
    """Where it is more than the limit."""
    if isinstance(limit, Query):
        return _joined(query, ">", limit)
    return replace(query, text=f"{query.text} > {limit:g}")


def at_least(query: Query, limit: float) -> Query:
    """Where it is the limit or more."""
    return replace(query, text=f"{query.text} >= {limit:g}")


def times(query: Query, factor: float, *, minimum: float) -> Query:
    """A multiple, with the query taken as ``minimum`` where it is less."""
    return replace(query, text=f"{factor:g} * clamp_min({query.text}, {minimum:g})")


def or_zero(query: Query) -> Query:
    """0 instead of nothing, for a total without labels."""
    if query.labels:
        raise CatalogueError(f"{query.text} is no total")
    return replace(query, text=f"{query.text} or vector(0)")


def top(count: int, query: Query) -> Query:
    """The largest ones."""
    return replace(query, text=f"topk({count}, {query.text})")


def quantile(share_below: float, buckets: Query, window: str, *labels: str) -> Query:
    """A quantile of a histogram over the window."""
    summed = sum_by(rate(buckets, window), *labels, "le")
    return replace(summed, text=f"histogram_quantile({share_below:g}, {summed.text})", labels=frozenset(labels))


def seen_within(query: Query, window: str, *, offset: str = "") -> Query:
    """The newest value of every series that had one in the window, which ends ``offset`` ago."""
    return replace(query, text=f"last_over_time({query.text}[{window}]{f' offset {offset}' if offset else ''})")
