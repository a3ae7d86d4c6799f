"""What holds for an attempt: the result of reading every source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from otel_docsfab.config.values import DEFAULT_CAPS, Caps, Ignored, Mode, Setting
from otel_docsfab.core import Limits, Step, Toolset


class Resolved(NamedTuple):
    """What holds for one attempt.

    Attributes:
        step: The step; only its id when nobody declared it.
        limits: Its limits.
        toolset: What classes its calls.
        mode: Nothing, observed or enforced.
    """

    step: Step
    limits: Limits
    toolset: Toolset
    mode: Mode


@dataclass(frozen=True, slots=True)
class Scope:
    """What one step or one agent does otherwise than the rest.

    Attributes:
        limits: Its own limits by dotted name.
        toolset: Its own toolset.
        mode: Its own mode.
    """

    limits: Mapping[str, Setting] = field(default_factory=dict)
    toolset: Toolset | None = None
    mode: Mode | None = None

    def under(self, other: Scope) -> Scope:
        """This scope with another of higher precedence laid over it."""
        toolset = self.toolset if other.toolset is None else other.toolset
        return Scope({**self.limits, **other.limits}, toolset, other.mode or self.mode)


_PLAIN = Scope()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is configured, with its sources. Made by ``load``; safe to share between threads.

    A narrower scope wins over a wider one, whatever its source: step over agent over the rest. Within a scope the order
    of sources holds.

    Attributes:
        table: Every limit that is set, by dotted name, with its source.
        steps: Declared steps by id.
        toolset: What classes calls.
        mode: What may be done.
        ceiling: No scope's mode goes above it: the mode of the environment, the kill switch.
        caps: Bounds of memory and of series.
        step_scopes: What single steps do otherwise.
        agent_scopes: What single agents do otherwise.
        ignored: Keys that were read and mean nothing here.
        limits: The limits of an attempt without a scope of its own.

    Source: SPEC section 2; DESIGN section 3.
    """

    table: Mapping[str, Setting]
    steps: Mapping[str, Step]
    toolset: Toolset
    mode: Mode = Mode.OBSERVE
    ceiling: Mode = Mode.ENFORCE
    caps: Caps = DEFAULT_CAPS
    step_scopes: Mapping[str, Scope] = field(default_factory=dict)
    agent_scopes: Mapping[str, Scope] = field(default_factory=dict)
    ignored: tuple[Ignored, ...] = ()
    limits: Limits = field(init=False)
    _known: dict[tuple[str | None, str | None], Resolved] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        """Build the limits of the widest scope."""
        object.__setattr__(self, "limits", _limits(self.table))

    def resolve(self, step_id: str | None = None, agent_name: str | None = None) -> Resolved:
        """What holds for an attempt.

        Remembered for every pair of configured names, so that it costs two look-ups an attempt; names that nobody
        configured share one entry and so cannot fill the memory.

        Args:
            step_id: Step id as the runtime gives it, or None.
            agent_name: Agent name as the runtime gives it, or None.
        """
        step = step_id if step_id in self.steps or step_id in self.step_scopes else None
        agent = agent_name if agent_name in self.agent_scopes else None
        resolved = self._known.get((step, agent))
        if resolved is None:
            resolved = self._known[step, agent] = self._resolve(step, agent)
        return resolved if step == step_id else resolved._replace(step=Step(step_id))

    def limit_table(self, step_id: str | None = None, agent_name: str | None = None) -> dict[str, Setting]:
        """Every limit that holds for an attempt, by dotted name, with its source."""
        agent, step = self.agent_scopes.get(agent_name or "", _PLAIN), self.step_scopes.get(step_id or "", _PLAIN)
        return {**self.table, **agent.limits, **step.limits}

    @property
    def strongest_mode(self) -> Mode:
        """The strongest mode that any attempt can have: below ``enforce`` no hook need be installed."""
        scopes = [*self.step_scopes.values(), *self.agent_scopes.values()]
        modes = {self.mode, *(scope.mode for scope in scopes if scope.mode)}
        return max((mode.at_most(self.ceiling) for mode in modes), key=tuple(Mode).index)

    def _resolve(self, step_id: str | None, agent_name: str | None) -> Resolved:
        scope = self.agent_scopes.get(agent_name or "", _PLAIN).under(self.step_scopes.get(step_id or "", _PLAIN))
        return Resolved(
            step=self.steps.get(step_id or "", Step(step_id)),
            limits=_limits(self.limit_table(step_id, agent_name)) if scope.limits else self.limits,
            toolset=self.toolset if scope.toolset is None else scope.toolset,
            mode=(scope.mode or self.mode).at_most(self.ceiling),
        )


def _limits(table: Mapping[str, Setting]) -> Limits:
    """The limits of a table; it names every limit but answer plans."""
    return Limits.of({name: setting.value for name, setting in table.items()}, Limits(answer_tokens={}))
