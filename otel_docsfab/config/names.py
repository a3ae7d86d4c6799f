"""Names of limits: dotted name, environment variable, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from otel_docsfab.core.limits import ANSWER_PLAN, LIMITS, LimitSpec, camel_case, limit_spec

_HUMP = re.compile(r"(?<=[A-Za-z0-9])(?=[A-Z])")


def variable(name: str) -> str:
    """The environment variable of a dotted limit name.

    ``execution.readLoopRepeatStreak`` is ``DOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK``.

    Source: SPEC section 2.
    """
    return "DOCSFAB_" + _HUMP.sub("_", name).replace(".", "_").upper()


_BY_VARIABLE = {variable(spec.name): spec for spec in LIMITS}
_PLAN_VARIABLE = re.compile(variable(ANSWER_PLAN) + "([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)_TOKENS")

GROUPS = {tuple(spec.name.split(".")[:depth]) for spec in LIMITS for depth in range(spec.name.count(".") + 1)}
"""The tables in which limits stand, as paths; the outermost is ``()``."""

LIMIT_PREFIXES = tuple({variable(name.split(".")[0] + "."): None for name in (spec.name for spec in LIMITS)})
"""How variables begin that can only be meant as limits; other ``DOCSFAB_`` variables belong to the host."""


def plan_name(step_id: str) -> str | None:
    """The limit that plans a step's answer; None for a step id that makes no such name."""
    name = f"{ANSWER_PLAN}{camel_case(step_id)}Tokens"
    return name if limit_spec(name) else None


def find_limit(key: str) -> LimitSpec | None:
    """The limit that a key of a limits file or an environment variable names; answer plans of any step included."""
    known = _BY_VARIABLE.get(key)
    if known is not None:
        return known
    plan = _PLAN_VARIABLE.fullmatch(key)
    if plan is not None:
        return limit_spec(f"{ANSWER_PLAN}{camel_case(plan[1].lower())}Tokens")
    return limit_spec(key)


def did_you_mean(key: str, names: Iterable[str]) -> str:
    """``; did you mean X?`` for the nearest names, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    near = get_close_matches(key[:200], list(names), n=3, cutoff=0.7)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def nearest_limit(key: str) -> str:
    """``; did you mean X?`` over limit names or, for a key that looks like one, their variables."""
    names = _BY_VARIABLE if key.startswith("DOCSFAB_") else [spec.name for spec in LIMITS]
    return did_you_mean(key, names)
