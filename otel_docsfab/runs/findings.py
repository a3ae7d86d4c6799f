"""Why steps failed: the closed table of SPEC section 8 applied to records, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from otel_docsfab.core.codes import FINDINGS
from otel_docsfab.runs.models import Finding, FindingEvidence, RunResult, Summary, What, Why
from otel_docsfab.runs.results import by_steps, last_of, limitations_of

NEXT: Final = {
    "read-loop-stopped": (
        "Find the content that the model kept re-reading (the notices in the trace name it) and give it once, in the"
        " prompt or in larger pieces; if the re-reads were needed, raise the limit named in the evidence."
    ),
    "tool-call-ceiling-reached": (
        "Split the step, or raise execution.toolCallCeiling if so many calls are right for it; tools.stall shows"
        " whether the calls led anywhere."
    ),
    "deadline-in-tool-loop": (
        "The model was still calling tools: declare the step read-only so that it is asked in time, give it less to"
        " read, or raise compositionExecution.timeoutMs."
    ),
    "provider-stalled": (
        "No byte came back from the model's provider: look at its status and at retries and timeouts of the client;"
        " the model did nothing wrong."
    ),
    "attempt-timed-out": (
        "The answer did not fit into the time: raise compositionExecution.timeoutMs or the step's planned tokens"
        " (compositionExecution.answerPlan), or ask for a shorter answer."
    ),
    "answer-rejected": (
        "The host's check refused the answer: compare the step's contract with its prompt; an answer asked for early"
        " may lack what was not read."
    ),
}
"""What to do, by cause."""


def findings_of(result: RunResult) -> list[Finding]:
    """Why the steps of a run failed; steps that ended well, or without a code, have no finding.

    Source: R26.
    """
    found = []
    for tries in by_steps(result.attempts):
        last = last_of(tries)
        if last.code is None:
            continue
        meaning = FINDINGS[last.code]
        found.append(
            Finding(
                summary=Summary(run_id=result.run_id, step_id=last.step_id, owner=meaning.owner, cause=meaning.cause),
                model=last.model,
                what=What(
                    step_id=last.step_id,
                    attempt=last.attempt,
                    attempts=max(last.attempt, len(tries)),
                    outcome=last.outcome,
                    code=last.code,
                    category=meaning.category,
                    enforced=last.enforced,
                ),
                evidence=FindingEvidence(
                    turns=last.turns,
                    calls=last.tools.calls,
                    duration_ms=last.duration_ms,
                    stop=last.stop,
                    deadline_turn=last.deadline_turn,
                    read_evidence=last.tools.read_evidence,
                    stall=last.tools.stall,
                ),
                limitations=tuple(limitations_of(last)),
                next_action=NEXT[meaning.cause],
            )
        )
    return found


def why(results: Iterable[RunResult]) -> Why:
    """The document that ``why`` prints; it names the run when there is one only."""
    listed = list(results)
    return Why(
        schema_version=1,
        kind="docsfab-why",
        run_id=listed[0].run_id if len(listed) == 1 else None,
        findings=tuple(finding for result in listed for finding in findings_of(result)),
    )
