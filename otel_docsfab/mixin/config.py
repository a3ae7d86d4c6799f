"""Every threshold, window and link of rules, alerts and dashboards, in one place."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from otel_docsfab.errors import ConfigError


@dataclass(frozen=True, slots=True)
class MixinConfig:
    """What an operator may want otherwise.

    Attributes:
        runbook_url: Where the files of ``dashboards/runbooks`` are served; ``/<Alert>.md`` is added.
        soon: Window of the alerts that tell of single events.
        long: Window of the alerts that compare shares.
        seen_within: A job whose telemetry is gone is told of when data was seen in this time.
        stop_share: Stopped share of a step's attempts, 0 to 1, that is too high.
        early_answer_share: Share of a step's attempts asked for an early answer, 0 to 1, that is too high.
        unjudged_share: Unjudged share of reads, 0 to 1, that is too high.
        least_attempts: Fewest attempts in ``long`` for a share of attempts to mean something.
        least_reads: Fewest reads in ``long`` for a share of reads to mean something.
        ignored_calls_per_ask: Calls denied for each ask, beyond which the ask was ignored.
        provider_stalls: Provider stalls in ``soon`` that are too many.
        tool_loop_deadlines: Deadlines in a tool loop in ``long`` that are too many, per step and agent.
        stretch_calls: Calls without progress that are a long stretch; a bound of the histogram.
        long_stretches: Attempts with such a stretch in ``long`` that are too many, per step and agent.
        lease_refusals: Refused renewals in ``soon`` that are too many.
        progress_age_s: Age of the newest progress that is too old, s.
    """

    runbook_url: str = "https://runbooks.example.org/otel-docsfab"
    soon: str = "15m"
    long: str = "1h"
    seen_within: str = "1d"
    stop_share: float = 0.05
    early_answer_share: float = 0.3
    unjudged_share: float = 0.2
    least_attempts: int = 20
    least_reads: int = 50
    ignored_calls_per_ask: float = 3
    provider_stalls: int = 3
    tool_loop_deadlines: int = 3
    stretch_calls: float = 50.5
    long_stretches: int = 3
    lease_refusals: int = 3
    progress_age_s: int = 600


DEFAULTS = MixinConfig()
"""The committed files are made with these."""


def load(path: Path) -> MixinConfig:
    """A configuration from a TOML file of ``MixinConfig``'s attributes; those it leaves out keep their defaults.

    Raises:
        ConfigError: The file cannot be read, or a key or the type of a value is wrong.
    """
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from error
    known = {one.name: type(getattr(DEFAULTS, one.name)) for one in fields(MixinConfig)}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"{path}: there is no {name}; there are {', '.join(known)}")
        wanted = (int, float) if known[name] is float else known[name]
        if isinstance(value, bool) or not isinstance(value, wanted):
            raise ConfigError(f"{path}: {name} = {value!r} is no {known[name].__name__}")
    return MixinConfig(**values)
