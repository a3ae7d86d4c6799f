"""What holds for an attempt: the result of reading every source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from otel_docsfab.config.values import DEFAULT_CAPS, Caps, Ignored, Mode, Setting
from otel_docsfab.core import DOCSFAB_TOOLS, Limits, Step, Toolset


class Resolved(NamedTuple):
    """What holds for one attempt.

    Attributes:
        step: The step; only its id when nobody declared it.
        limits: Its limits.
        toolset: What classes its calls.
        mode: Nothing, observed or enforced.
        table: Its limits once more, by dotted name and with their sources.
    """

    step: Step
    limits: Limits
    toolset: Toolset
    mode: Mode
    table: Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Scope:
    """What is said of every attempt, of one step or of one agent.

    Attributes:
        limits: Limits by dotted name.
        toolset: What classes calls; None when nothing is said of it.
        mode: What may be done; None when nothing is said of it.
        complete: Whether its limits are all there are: those of a scope below do not show through.
    """

    limits: Mapping[str, Setting] = field(default_factory=dict)
    toolset: Toolset | None = None
    mode: Mode | None = None
    complete: bool = False

    def under(self, other: Scope) -> Scope:
        """This scope with another of higher precedence laid over it."""
        limits = other.limits if other.complete else {**self.limits, **other.limits}
        toolset = self.toolset if other.toolset is None else other.toolset
        return Scope(limits, toolset, other.mode or self.mode, self.complete or other.complete)


_NOTHING = Scope()


@dataclass(frozen=True, slots=True)
class Layer:
    """What sources of one rank say; a narrower scope wins over a wider one: step over agent over the rest.

    Attributes:
        everywhere: Of every attempt.
        steps: Of single steps.
        agents: Of single agents.
    """

    everywhere: Scope = _NOTHING
    steps: Mapping[str, Scope] = field(default_factory=dict)
    agents: Mapping[str, Scope] = field(default_factory=dict)

    def scope(self, step_id: str | None, agent_name: str | None) -> Scope:
        """What it says of one attempt."""
        agent, step = self.agents.get(agent_name or ""), self.steps.get(step_id or "")
        return self.everywhere.under(agent or _NOTHING).under(step or _NOTHING)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is configured, with its sources. Made by ``load``; safe to share between threads.

    Code wins over everything else. Below it a narrower scope wins over a wider one (step over agent over the rest), and
    within a scope the order of sources holds.

    Attributes:
        configured: What defaults, files and environment say; names every limit that has a default.
        code: What code, or an option of a command, says.
        steps: Declared steps by id.
        ceiling: No attempt's mode goes above it: the mode of the environment, the kill switch.
        caps: Bounds of memory and of series.
        ignored: Keys that were read and mean nothing here.

    Source: SPEC section 2; DESIGN section 3.
    """

    configured: Layer
    code: Layer = Layer()
    steps: Mapping[str, Step] = field(default_factory=dict)
    ceiling: Mode = Mode.ENFORCE
    caps: Caps = DEFAULT_CAPS
    ignored: tuple[Ignored, ...] = ()
    _known: dict[tuple[str | None, str | None], Resolved] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def resolve(self, step_id: str | None = None, agent_name: str | None = None) -> Resolved:
        """What holds for an attempt.

        Remembered for every pair of configured names, so that it costs a few look-ups an attempt; names that nobody
        configured share one entry and so cannot fill the memory.

        Args:
            step_id: Step id as the runtime gives it, or None.
            agent_name: Agent name as the runtime gives it, or None.
        """
        configured, code = self.configured, self.code
        step = step_id if step_id in self.steps or step_id in configured.steps or step_id in code.steps else None
        agent = agent_name if agent_name in configured.agents or agent_name in code.agents else None
        resolved = self._known.get((step, agent))
        if resolved is None:
            resolved = self._known[step, agent] = self._resolve(step, agent)
        return resolved if step == step_id else Resolved(Step(step_id), *resolved[1:])

    @property
    def limits(self) -> Limits:
        """The limits of an attempt of which nothing is known."""
        return self.resolve().limits

    @property
    def mode(self) -> Mode:
        """The mode of an attempt of which nothing is known."""
        return self.resolve().mode

    @property
    def toolset(self) -> Toolset:
        """The toolset of an attempt of which nothing is known."""
        return self.resolve().toolset

    @property
    def strongest_mode(self) -> Mode:
        """The strongest mode that any attempt can have: below ``enforce`` no hook need be installed."""
        steps = {None, *self.configured.steps, *self.code.steps}
        agents = {None, *self.configured.agents, *self.code.agents}
        modes = {self.resolve(step, agent).mode for step in steps for agent in agents}
        return max(modes, key=tuple(Mode).index)

    def limit_table(self, step_id: str | None = None, agent_name: str | None = None) -> Mapping[str, Setting]:
        """Every limit that holds for an attempt, by dotted name, with its source."""
        return self.resolve(step_id, agent_name).table

    def _resolve(self, step_id: str | None, agent_name: str | None) -> Resolved:
        scope = self.configured.scope(step_id, agent_name).under(self.code.scope(step_id, agent_name))
        values = {name: setting.value for name, setting in scope.limits.items()}
        return Resolved(
            step=self.steps.get(step_id or "", Step(step_id)),
            limits=Limits.of(values, Limits(answer_tokens={})),
            toolset=DOCSFAB_TOOLS if scope.toolset is None else scope.toolset,
            mode=(scope.mode or Mode.OBSERVE).at_most(self.ceiling),
            table=scope.limits,
        )
