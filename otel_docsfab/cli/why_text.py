"""How findings look to people: plain text, the same on a terminal, in a pipe and without colors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from otel_docsfab.cli.runs_text import named, plain, reads, work
from otel_docsfab.runs.results import Document

_MARGIN: Final = 12


def why_text(document: Document, results: Sequence[Document]) -> str:
    """What ``why`` says.

    Args:
        document: The findings.
        results: The runs that were looked at.
    """
    if not document["findings"]:
        ends = [f"{plain(one['runId'])}: {one['outcome']}; no step failed with a code\n" for one in results]
        return "".join(ends) or "no run failed\n"
    return "\n".join(map(_finding_text, document["findings"]))


def _finding_text(finding: Document) -> str:
    summary, what = finding["summary"], finding["what"]
    how = "enforced" if what["enforced"] else "observed"
    end = f"attempt {what['attempt']} of {what['attempts']} {what['outcome']}: {what['code']}"
    limitations = [f"{one['limitation']}: {one['detail']}" for one in finding["limitations"]]
    parts = {
        "model": [plain(finding.get("model", "unknown"))],
        "what": [f"{end} ({what['category']}, {how})"],
        "evidence": list(_evidence(finding["evidence"])),
        "limitations": limitations or ["none"],
        "next": [finding["nextAction"]],
    }
    head = f"{summary['cause']}: step {named(summary.get('stepId'))} of {plain(summary['runId'])}"
    lines = [f"{head}, owned by {summary['owner']}"]
    for title, said in parts.items():
        lines += [f"  {title if at == 0 else '':<{_MARGIN}}{line}" for at, line in enumerate(said)]
    return "\n".join(lines) + "\n"


def _evidence(evidence: Document) -> Iterator[str]:
    yield work(evidence["turns"], evidence["calls"], evidence["durationMs"])
    if "stop" in evidence:
        yield evidence["stop"]["message"]
    if "deadlineTurn" in evidence:
        yield f"the timer found it {evidence['deadlineTurn']}"
    if "readEvidence" in evidence:
        yield reads(evidence["readEvidence"])
    yield f"{evidence['stall']['longestStretchCalls']} calls without progress at the longest"
