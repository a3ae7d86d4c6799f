"""The public DocsFab steps."""

from __future__ import annotations

from otel_docsfab.core import JUDGMENT_STEPS, Step, StepKind

READ_ONLY_STEPS = (
    "audit-documentation",
    "derive-source-obligations",
    "lint-documentation",
    "provisional-technical-verification",
    "verify-technical-accuracy",
    "review-documentation",
    "test-audience-understanding",
    "evaluate-document-quality",
    "plan-documentation",
)
WRITE_STEPS = ("write-documentation",)

DOCSFAB_STEPS: dict[str, Step] = {
    step_id: Step(step_id, kind, judgment=step_id in JUDGMENT_STEPS)
    for kind, ids in ((StepKind.READ_ONLY, READ_ONLY_STEPS), (StepKind.WRITE, WRITE_STEPS))
    for step_id in ids
}
"""Steps that need no declaration; a settings file or code adds others and changes these (R20, R21)."""
