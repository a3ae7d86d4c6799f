"""Why steps failed: the closed table of SPEC section 8 applied to records, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from otel_docsfab.core.codes import FINDINGS, Code
from otel_docsfab.runs.results import Document, by_steps, last_of, limitations_of

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


def findings_of(result: Document) -> list[dict[str, Any]]:
    """Why the steps of a run failed; steps that ended well, or without a code, have no finding.

    Args:
        result: What ``run_result`` gives.

    Returns:
        Findings as in the model ``Finding``, ready for JSON.

    Source: R26.
    """
    ends = [(tries, last_of(tries)) for tries in by_steps(result["attempts"])]
    return [_finding(result["runId"], last, len(tries)) for tries, last in ends if "code" in last]


def why(results: Iterable[Document]) -> dict[str, Any]:
    """The document that ``why`` prints, as in the model ``Why``; it names the run when there is one only."""
    listed = list(results)
    run = {"runId": listed[0]["runId"]} if len(listed) == 1 else {}
    findings = [finding for result in listed for finding in findings_of(result)]
    return {"schemaVersion": 1, "kind": "docsfab-why", **run, "findings": findings}


def _finding(run_id: str, last: Document, tries: int) -> dict[str, Any]:
    meaning = FINDINGS[Code(last["code"])]
    step = {"stepId": last["stepId"]} if "stepId" in last else {}
    model = {"model": last["model"]} if "model" in last else {}
    tools = last["tools"]
    evidence = {"turns": last["turns"], "calls": tools["calls"], "durationMs": last["durationMs"]}
    evidence |= {key: last[key] for key in ("stop", "deadlineTurn") if key in last}
    evidence |= {key: tools[key] for key in ("readEvidence", "stall") if key in tools}
    return {
        "summary": {"runId": run_id, **step, "owner": meaning.owner, "cause": meaning.cause},
        **model,
        "what": {
            **step,
            "attempt": last["attempt"],
            "attempts": max(last["attempt"], tries),
            "outcome": last["outcome"],
            "code": last["code"],
            "category": meaning.category.value,
            "enforced": last["enforced"],
        },
        "evidence": evidence,
        "limitations": limitations_of(last),
        "nextAction": NEXT[meaning.cause],
    }
