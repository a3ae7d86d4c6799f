"""The limits of SPEC section 2: one table that everything else reads.

``LIMITS`` names each limit, its default, unit and range; ``Limits`` holds the values one attempt works with. Where
values come from (file, environment, code) is the business of ``otel_docsfab.config``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from otel_docsfab.errors import LimitError

ANSWER_PLAN = "compositionExecution.answerPlan."
_PLAN_NAME = re.compile(r"compositionExecution\.answerPlan\.([a-z][A-Za-z0-9]*)Tokens")
_MAX = 2**53 - 1


class LimitSpec(NamedTuple):
    """One limit.

    Attributes:
        name: Dotted camelCase name.
        field: Attribute of ``Limits`` that holds it; for an answer plan, the step in camelCase.
        default: Value when nothing sets it.
        unit: ``count``, ``ms``, ``tokens``, ``tokens/s`` or ``basis points``.
        minimum: Smallest value allowed.
        maximum: Largest value allowed.
    """

    name: str
    field: str
    default: int
    unit: str
    minimum: int = 0
    maximum: int = _MAX

    @property
    def allowed(self) -> str:
        """The range in words."""
        if self.maximum < _MAX:
            return f"a whole number from {self.minimum} to {self.maximum} {self.unit}"
        return f"a whole number of at least {self.minimum} {self.unit}"

    def check(self, value: object, source: str) -> int:
        """Return the value, or raise ``LimitError`` naming limit, value, source and range."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.minimum <= value <= self.maximum:
            raise LimitError(self.name, value, source, self.allowed)
        return value


LIMITS: tuple[LimitSpec, ...] = (
    LimitSpec("execution.readLoopRepeatStreak", "repeat_streak", 8, "count"),
    LimitSpec("execution.readLoopUnchangedReReads", "unchanged_re_reads", 16, "count"),
    LimitSpec("execution.readLoopWithheldReads", "withheld_reads", 8, "count"),
    LimitSpec("execution.toolCallCeiling", "tool_call_ceiling", 512, "count", 1),
    LimitSpec("retry.maxNoProgressRetries", "max_no_progress_retries", 1, "count"),
    LimitSpec("compositionExecution.timeoutMs", "timeout_ms", 300_000, "ms", 1),
    LimitSpec("compositionExecution.maxOutputTokens", "max_output_tokens", 8_192, "tokens", 1),
    LimitSpec(ANSWER_PLAN + "defaultTokens", "default_answer_tokens", 4_000, "tokens", 1),
    LimitSpec(ANSWER_PLAN + "reviewDocumentationTokens", "reviewDocumentation", 8_700, "tokens", 1),
    LimitSpec(
        ANSWER_PLAN + "evaluateDocumentQualityTokens",
        "evaluateDocumentQuality",
        15_000,
        "tokens",
        1,
    ),
    LimitSpec(
        "compositionExecution.answerNowDecodeTokensPerSecond",
        "decode_tokens_per_second",
        80,
        "tokens/s",
        1,
    ),
    LimitSpec("compositionExecution.answerNowTurnLatencyMs", "turn_latency_ms", 5_000, "ms"),
    LimitSpec(
        "compositionExecution.answerNowElapsedShareBasisPoints",
        "elapsed_share_bp",
        7_000,
        "basis points",
        0,
        10_000,
    ),
)
"""Every limit that has a default, in the order of SPEC section 2."""

_BY_NAME = {spec.name: spec for spec in LIMITS}


def limit_spec(name: str) -> LimitSpec | None:
    """The limit of a dotted name, answer plans of any step included; None when there is no such limit."""
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    plan = _PLAN_NAME.fullmatch(name)
    return LimitSpec(name, plan[1], 0, "tokens", 1) if plan else None


def camel_case(step_id: str) -> str:
    """A step id in camelCase: ``review-documentation`` is ``reviewDocumentation``."""
    first, *rest = re.split(r"[^A-Za-z0-9]+", step_id.strip("-_ ")) or [""]
    return first[:1].lower() + first[1:] + "".join(part[:1].upper() + part[1:] for part in rest)


_SCALARS = tuple(spec for spec in LIMITS if spec.field.islower())


@dataclass(frozen=True, slots=True)
class Limits:
    """The values one attempt works with; every field is the limit of the same row in ``LIMITS``.

    Attributes:
        repeat_streak: Re-reads of one result delivered in full, count.
        unchanged_re_reads: Re-reads of all results together delivered in full, count.
        withheld_reads: Notice-only re-reads tolerated before the stop, count.
        tool_call_ceiling: Hard ceiling of tool calls in an attempt, count.
        max_no_progress_retries: Retries after a read-loop stop or a ceiling, count.
        timeout_ms: The attempt timer, ms.
        max_output_tokens: Output of one turn, tokens.
        default_answer_tokens: Planned answer of a step without a plan of its own, tokens.
        decode_tokens_per_second: Decoding speed the reserve counts with.
        turn_latency_ms: Latency of the answer turn and of each continuation, ms.
        elapsed_share_bp: Reading share of a judgment step, basis points of the timer.
        answer_tokens: Planned answer by step id in camelCase, tokens.
    """

    repeat_streak: int = 8
    unchanged_re_reads: int = 16
    withheld_reads: int = 8
    tool_call_ceiling: int = 512
    max_no_progress_retries: int = 1
    timeout_ms: int = 300_000
    max_output_tokens: int = 8_192
    default_answer_tokens: int = 4_000
    decode_tokens_per_second: int = 80
    turn_latency_ms: int = 5_000
    elapsed_share_bp: int = 7_000
    answer_tokens: Mapping[str, int] = field(
        default_factory=lambda: {spec.field: spec.default for spec in LIMITS if not spec.field.islower()}
    )

    def __post_init__(self) -> None:
        """Refuse values out of range (``LimitError``)."""
        for spec in _SCALARS:
            spec.check(getattr(self, spec.field), "code")
        for step, tokens in self.answer_tokens.items():
            name = f"{ANSWER_PLAN}{step}Tokens"
            (limit_spec(name) or LimitSpec(name, step, 0, "tokens", 1)).check(tokens, "code")

    @classmethod
    def of(cls, values: Mapping[str, int], base: Limits | None = None) -> Limits:
        """Limits from dotted names.

        Args:
            values: Dotted limit name to value.
            base: Limits to start from; the defaults when None.

        Returns:
            The base with these values in place.

        Raises:
            LimitError: A name is no limit, or a value is out of range.
        """
        base = base or cls()
        changed: dict[str, Any] = {}
        plans = dict(base.answer_tokens)
        for name, value in values.items():
            spec = limit_spec(name)
            if spec is None:
                raise LimitError(name, value, "code", "a limit that exists (doctor --limits)")
            spec.check(value, "code")
            if spec in _SCALARS:
                changed[spec.field] = value
            else:
                plans[spec.field] = value
        return replace(base, answer_tokens=plans, **changed)

    def get(self, name: str) -> int:
        """The value of a dotted limit name; KeyError when there is no such limit."""
        spec = limit_spec(name)
        if spec is None:
            raise KeyError(name)
        if spec in _SCALARS:
            return int(getattr(self, spec.field))
        return self.answer_tokens.get(spec.field, self.default_answer_tokens)

    def planned_tokens(self, step_id: str | None) -> int:
        """Tokens of a step's planned answer: its own entry, else the default (R20)."""
        if step_id is None:
            return self.default_answer_tokens
        return self.answer_tokens.get(camel_case(step_id), self.default_answer_tokens)


assert {spec.field for spec in _SCALARS} == {f.name for f in fields(Limits)} - {"answer_tokens"}  # noqa: S101 - the table and the record are one list
