"""Workflow steps: what the rules need to know of one."""

from __future__ import annotations

from dataclasses import dataclass

from otel_docsfab.core.codes import AnswerPath, StepKind

JUDGMENT_STEPS = frozenset({"review-documentation", "evaluate-document-quality"})


@dataclass(frozen=True, slots=True)
class Step:
    """One workflow step.

    Attributes:
        id: Step id, such as ``review-documentation``; None when the runtime names none.
        kind: Read-only or write; None when nobody declared it, and then the step is never asked (R20).
        judgment: Whether the step also has a reading share (R21).
        answer_path: How its answer is handed in; ``tool-call`` has R22's exception.
        answer_tokens: Planned answer, tokens; None to take it from the limits (R20).

    Source: R20, R21, R22.
    """

    id: str | None = None
    kind: StepKind | None = None
    judgment: bool = False
    answer_path: AnswerPath | None = None
    answer_tokens: int | None = None


UNDECLARED = Step()
"""A step of which nothing is known."""
