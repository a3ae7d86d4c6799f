"""What must come of the script in every framework, live and replayed."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from otel_docsfab.replay.run import Replay, Request
from tests.frameworks import script
from tests.frameworks.variants import Variant

SAME = ("tool", "turn", "verdict", "ok", "repeats", "crossResult", "firstTurn", "unjudged", "progress")
"""What live and replayed calls have in common."""
TURNS = (1, 2, 3, 3, 4, 5, 6)
"""Turns of the script's calls, in order."""
SUBJECTS = ("a.txt", "b.txt", "out.txt", "missing.txt")


def replayed(folder: Path) -> list[dict[str, Any]]:
    """Entries of the report of the recorded spans."""
    request = Request((str(folder / "spans.binpb"),), {}, "generic", with_calls=True)
    return list(Replay(request).entries())


def differences(variant: Variant, folder: Path) -> list[str]:
    """What is not as it must be, a line each.

    Args:
        variant: What was run.
        folder: Where ``record`` wrote.
    """
    report = json.loads((folder / "report.json").read_text())
    found = []
    if report["answer"] != script.ANSWER:
        found.append("the agent did not come to its answer")
    attempts, entries = report["attempts"], replayed(folder)
    for where, seen in (("live", attempts), ("replay", entries)):
        found += [f"{where}: {difference}" for difference in _attempts(seen, variant)]
    found += [f"live: {difference}" for difference in _calls(report["calls"], variant)]
    live, again = _same(report["calls"]), _same(call for entry in entries for call in entry["calls"])
    if again != live:
        found.append(f"replay judged otherwise: {again} instead of {live}")
    return found


def _same(calls: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: call[key] for key in SAME} for call in calls]


def _attempts(attempts: list[dict[str, Any]], variant: Variant) -> Iterator[str]:
    if len(attempts) != 1:
        yield f"{len(attempts)} attempts instead of 1"
        return
    (attempt,) = attempts
    for key, value in (("agentName", "reader"), ("outcome", "answered"), ("enforced", False)):
        if attempt[key] != value:
            yield f"{key} is {attempt[key]!r} instead of {value!r}"
    if variant.has_model_spans and attempt["turns"] != len(script.TURNS) + 1:
        yield f"{attempt['turns']} turns instead of {len(script.TURNS) + 1}"
    evidence = {
        "unchangedReReads": 3,
        "readLoopWithheld": 0,
        "maxRepeatsOfOneResult": 3,
        "maxUnchangedReReadsAcrossResults": 3,
    }
    if attempt["tools"].get("readEvidence") != evidence:
        yield f"readEvidence is {attempt['tools'].get('readEvidence')}"


def _calls(calls: list[dict[str, Any]], variant: Variant) -> Iterator[str]:
    a, b, written, failed = ([call for call in calls if call["subject"] == name] for name in SUBJECTS)
    if [call["repeats"] for call in a] != [None, 1, 2, 3]:
        yield f"a.txt was read with repeats {[call['repeats'] for call in a]}"
    if [call["verdict"] for call in a] != ["deliver", *["deliver-with-notice"] * 3]:
        yield f"a.txt was given {[call['verdict'] for call in a]}"
    for name, seen, ok, progress in (
        ("b.txt", b, True, "new-content"),
        ("out.txt", written, True, "progress-call"),
        ("missing.txt", failed, False, None),
    ):
        facts = [(call["verdict"], call["ok"], call["progress"]) for call in seen]
        if facts != [("deliver", ok, progress)]:
            yield f"{name} was given {facts}"
    unjudged = [call["unjudged"] for call in calls if call["unjudged"]]
    if unjudged or len(calls) != len(TURNS):
        yield f"{len(calls)} calls instead of {len(TURNS)}, unjudged: {unjudged}"
    turns = tuple(call["turn"] for call in calls)
    if variant.has_model_spans and turns != TURNS:
        yield f"turns are {turns}"
    if not variant.has_model_spans and not _in_order(turns):
        yield f"turns are {turns}"


def _in_order(turns: tuple[int, ...]) -> bool:
    """Whether only the parallel calls, the third and the fourth, may share a turn."""
    steps = [later - earlier for earlier, later in pairwise(turns)]
    return turns[:1] == (1,) and all(step == 1 or (step == 0 and index == 2) for index, step in enumerate(steps))
