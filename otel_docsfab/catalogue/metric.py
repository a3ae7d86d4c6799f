"""What a metric is: its kind, unit, labels, bounds and caps, and its name in Prometheus."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import Final

from otel_docsfab.catalogue.attributes import PAIRS, Label

MAX_SERIES: Final = 999
"""Most Prometheus series of one metric, the buckets of a histogram counted each."""

_UNIT_SUFFIX: Final = {"s": "seconds", "By": "bytes"}


class Kind(StrEnum):
    """Instrument kind."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Stability(StrEnum):
    """What a user may build on; a stable name, unit, kind and label is never changed or removed, only added to."""

    STABLE = "stable"
    DEVELOPMENT = "development"


class Recorded(StrEnum):
    """When a recorder takes the value."""

    AT_COLLECTION = "at collection"  # a plain integer of the hot path, read by an observable instrument
    AT_ONCE = "at once"  # a rare fact, recorded in the attempt's context so that an exemplar leads to its trace


class Zero(StrEnum):
    """When the series of a counter come to be, at 0; ``increase()`` misses what a series starts with."""

    AT_START = "at start"  # every combination of its closed labels
    AT_ATTEMPT = "at the first attempt"  # of its step, agent and enforcement: every combination of the other labels
    NEVER = "never"  # too many, or known too late: queries ask for new series too


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: OpenTelemetry name.
        kind: Instrument kind.
        unit: UCUM unit; ``{...}`` is an annotation without unit.
        description: One sentence, the HELP text too.
        labels: Its attributes.
        recorded: When a recorder takes the value.
        zero: When its series come to be at 0.
        bounds: Upper bounds of a histogram, in its unit, ascending, never a whole number: exporters write whole ones as
            ``le="1"`` or ``le="1.0"``, a bound like 8.5 in one way only.
        stability: What may be built on.
    """

    name: str
    kind: Kind
    unit: str
    description: str
    labels: tuple[Label, ...]
    recorded: Recorded = Recorded.AT_ONCE
    zero: Zero = Zero.NEVER
    bounds: tuple[float, ...] = ()
    stability: Stability = Stability.STABLE

    @property
    def prometheus_name(self) -> str:
        """Its name in Prometheus by the usual rules: dots to underscores, unit suffix, ``_total``."""
        name = self.name.replace(".", "_")
        suffix = _UNIT_SUFFIX.get(self.unit)
        if suffix and not name.endswith(f"_{suffix}"):
            name = f"{name}_{suffix}"
        return f"{name}_total" if self.kind is Kind.COUNTER else name

    @property
    def series_names(self) -> tuple[str, ...]:
        """The names that a query may select: a histogram has three."""
        base = self.prometheus_name
        if self.kind is Kind.HISTOGRAM:
            return (f"{base}_bucket", f"{base}_sum", f"{base}_count")
        return (base,)

    def label(self, name: str) -> Label:
        """Its label of that name; KeyError when it has none."""
        for label in self.labels:
            if label.name == name:
                return label
        raise KeyError(f"{self.name} has no label {name}")

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of its labels, in order."""
        return tuple(label.name for label in self.labels)

    @property
    def open_labels(self) -> tuple[Label, ...]:
        """Labels whose values are names that the host chooses."""
        return tuple(label for label in self.labels if label.open)

    def closed_combinations(self, known: Mapping[str, str] | None = None) -> Iterator[dict[str, str]]:
        """Every combination of its closed labels that can occur.

        Args:
            known: Values that are settled already; labels the metric lacks are passed over.

        Yields:
            Label name to value, the known values of its labels included.
        """
        fixed = {name: value for name, value in (known or {}).items() if name in self.label_names}
        free = [label for label in self.labels if not label.open and label.name not in fixed]
        for values in itertools.product(*(label.values for label in free)):
            labels = fixed | {label.name: value for label, value in zip(free, values, strict=True)}
            if _exists(labels):
                yield {name: labels[name] for name in self.label_names if name in labels}

    @property
    def max_open_combinations(self) -> int:
        """Most combinations of its open labels, the one where all are ``other`` included.

        A recorder that has seen one fewer than this folds every further combination into that one, so that the metric
        stays within ``MAX_SERIES``.
        """
        series = sum(1 for _ in self.closed_combinations()) * (len(self.bounds) + 3 if self.bounds else 1)
        return min(prod(label.size for label in self.open_labels), MAX_SERIES // series)


def _exists(labels: Mapping[str, str]) -> bool:
    """Whether these values can occur together."""
    return all(
        first not in labels or second not in labels or (labels[first], labels[second]) in pairs
        for (first, second), pairs in PAIRS.items()
    )
