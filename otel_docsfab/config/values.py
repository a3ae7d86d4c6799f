"""Words that the whole room shares: a value with its source, the mode, the caps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from otel_docsfab.errors import ConfigError

MODE_VARIABLE = "OTEL_DOCSFAB_MODE"
TOOLSET_VARIABLE = "OTEL_DOCSFAB_TOOLSET"
SETTINGS_VARIABLE = "OTEL_DOCSFAB_SETTINGS"
LIMITS_FILE_VARIABLE = "DOCSFAB_SERVICE_ENV_FILE"
DEFAULT_LIMITS_FILE = "/etc/docsfab/service.env"


class Setting(NamedTuple):
    """A limit's value and where it came from.

    Attributes:
        value: The value, in the limit's unit.
        source: ``default``, ``file PATH:LINE``, ``settings PATH:LINE``, ``environment VARIABLE``, ``code``
            or ``option NAME``.
    """

    value: int
    source: str


class Ignored(NamedTuple):
    """A key that was read and means nothing here. Its value is never kept: such files hold secrets of others.

    Attributes:
        key: The key, printable and shortened.
        source: Where it stands.
        reason: Why it is ignored, with the nearest limit where there is one.
    """

    key: str
    source: str
    reason: str


class Mode(StrEnum):
    """What may be done, from nothing to everything."""

    OFF = "off"
    OBSERVE = "observe"
    ENFORCE = "enforce"

    def at_most(self, ceiling: Mode) -> Mode:
        """The weaker of the two."""
        return min(self, ceiling, key=_MODES.index)

    @classmethod
    def parse(cls, value: str, source: str) -> Mode:
        """A mode from text, whatever its case.

        Raises:
            ConfigError: It is none of the three.
        """
        try:
            return cls(value.strip().lower())
        except (ValueError, AttributeError):
            raise ConfigError(f"mode = {printable(value)} (from {source}) is refused: give {', '.join(cls)}") from None


_MODES = tuple(Mode)


@dataclass(frozen=True, slots=True)
class Caps:
    """What bounds the memory and the series of a supervisor; each at least 1.

    Attributes:
        max_live_attempts: Attempts alive at once; the one idle longest goes past it.
        max_idle_ms: Time without an event after which an attempt is dropped, ms.
        max_results_per_attempt: Distinct results known to one attempt; reads past it are unjudged.
        max_queued_decisions: Timed decisions waiting for their callback.
        max_tool_labels: Tools with a label of their own; later ones are ``other``.
        max_step_labels: Steps with a label of their own.
        max_agent_labels: Agents with a label of their own.
        max_model_labels: Models with a label of their own.
        max_series_per_instrument: Label sets of one instrument; later ones fold into ``other``.

    Source: DESIGN section 5.
    """

    max_live_attempts: int = 100_000
    max_idle_ms: int = 3_600_000
    max_results_per_attempt: int = 65_536
    max_queued_decisions: int = 1_024
    max_tool_labels: int = 64
    max_step_labels: int = 32
    max_agent_labels: int = 16
    max_model_labels: int = 16
    max_series_per_instrument: int = 1_000

    def __post_init__(self) -> None:
        """Refuse what is no whole number of at least 1 (``ConfigError``)."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} = {printable(value)} (from code) is refused: give a count of at least 1")


DEFAULT_CAPS = Caps()


def printable(value: object, longest: int = 80) -> str:
    """A value as one short line without control characters, safe for a terminal and a log."""
    text = ascii(value[: longest * 4] if isinstance(value, str | bytes) else value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def printable_text(text: str) -> str:
    """A name or path as people type it; quoted and escaped only when it holds what cannot be printed."""
    return text if text.isprintable() else ascii(text)
