"""What is published: the record of an attempt, the result of a run, and what ``why`` says, as models.

``python -m otel_docsfab.runs.models DIRECTORY`` writes their JSON Schemas, with ``--check`` it fails when one is stale.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from otel_docsfab.core.codes import (
    Category,
    Code,
    DeadlineTurn,
    Denial,
    Outcome,
    Progress,
    RetryOf,
    StepKind,
    Trigger,
    Unjudged,
    Verdict,
)
from otel_docsfab.runs.fields import MAX_TEXT

Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Number = Annotated[int, Field(ge=1, le=2**63 - 1)]
Name = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
_BOUND: Final = r"[0-9]+ (exceeds|reaches) [A-Za-z.]+ = [0-9]+ count\."
_TIMER: Final = r"the attempt timer [A-Za-z.]+ = [0-9]+ ms ran out\."
Message = Annotated[str, StringConstraints(pattern=f"^[a-z-]+: ({_BOUND}|{_TIMER})$")]
"""The sentence of a stop, up to ``count.``: it has room for neither tool nor path (R27)."""


class Model(BaseModel):
    """A part of a published document: camelCase keys, nothing else."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class Evidence(Model):
    """Counts of an attempt that re-read unchanged content (R24)."""

    unchanged_re_reads: Count
    read_loop_withheld: Count
    max_repeats_of_one_result: Count
    max_unchanged_re_reads_across_results: Count


class Stretches(Model):
    """How long an attempt went without progress (R24)."""

    longest_stretch_calls: Count = 0
    longest_stretch_turns: Count = 0
    max_repeated_failed_reads: Count = 0
    max_repeated_progress_calls: Count = 0


class Tools(Model):
    """The tool calls of an attempt."""

    calls: Count
    denied: dict[Denial, Count] = {}
    calls_after_stop: Count = 0
    verdicts: dict[Verdict, Count] = {}
    unjudged: dict[Unjudged, Count] = {}
    progress: dict[Progress, Count] = {}
    stall: Stretches = Stretches()
    read_evidence: Evidence | None = None


class Stopped(Model):
    """Why an attempt was ended."""

    code: Code
    category: Category
    message: Message
    observed: Count
    limit: Count
    limit_name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]+(\.[A-Za-z]+)*$")]
    turn: Count
    retry_granted: bool = False


class Asked(Model):
    """That the answer was asked for, and after which turn (R25)."""

    trigger: Trigger
    turn: Count


class Attempt(Model):
    """The record of one attempt, as ``AttemptRecord.as_dict()`` writes it."""

    run_id: Name
    step_id: Name | None = None
    step_kind: StepKind | None = None
    attempt: Number
    retry_of: RetryOf | None = None
    agent_name: Name | None = None
    model: Name | None = None
    trace_id: Name | None = None
    span_id: Name | None = None
    enforced: bool
    started_unix_ms: Count
    duration_ms: Count
    turns: Count
    outcome: Outcome
    code: Code | None = None
    category: Category | None = None
    stop: Stopped | None = None
    conclude_now: Asked | None = None
    deadline_turn: DeadlineTurn | None = None
    tools: Tools


class StepEnd(Model):
    """How a step of the run ended: as its last attempt did."""

    step_id: Name | None = None
    step_kind: StepKind | None = None
    attempts: Number
    retries: Count
    outcome: Outcome
    code: Code | None = None
    category: Category | None = None


class AskedEarly(Model):
    """An attempt that was asked for its answer (R25)."""

    step_id: Name | None = None
    attempt: Number
    trigger: Trigger
    turn: Count
    outcome: Outcome


class Limitation(Model):
    """What makes a result of the run less than it seems."""

    limitation: Literal["answer-asked-early", "reads-unjudged", "never-closed"]
    step_id: Name | None = None
    attempt: Number
    detail: str


class RunResult(Model):
    """A run with all its attempts: ``runs show --json``."""

    model_config = ConfigDict(title="otel-docsfab runs show --json")

    schema_version: Literal[1]
    kind: Literal["docsfab-run-result"]
    run_id: Name
    started_unix_ms: Count
    duration_ms: Count
    enforced: bool
    outcome: Outcome
    code: Code | None = None
    category: Category | None = None
    steps: tuple[StepEnd, ...]
    answers_asked_early: tuple[AskedEarly, ...]
    limitations: tuple[Limitation, ...]
    attempts: tuple[Attempt, ...]


class Summary(Model):
    """Which step of which run failed, whose business it is, and what the cause is called."""

    run_id: Name
    step_id: Name | None = None
    owner: str
    cause: str


class What(Model):
    """What happened."""

    step_id: Name | None = None
    attempt: Number
    attempts: Number
    outcome: Outcome
    code: Code
    category: Category
    enforced: bool


class FindingEvidence(Model):
    """The counts that show it."""

    turns: Count
    calls: Count
    duration_ms: Count
    stop: Stopped | None = None
    deadline_turn: DeadlineTurn | None = None
    read_evidence: Evidence | None = None
    stall: Stretches


class Finding(Model):
    """Why one step failed."""

    summary: Summary
    model: Name | None = None
    what: What
    evidence: FindingEvidence
    limitations: tuple[Limitation, ...]
    next_action: str


class Why(Model):
    """What ``why --json`` says."""

    model_config = ConfigDict(title="otel-docsfab why --json")

    schema_version: Literal[1]
    kind: Literal["docsfab-why"]
    run_id: Name | None = None
    findings: tuple[Finding, ...]


PUBLISHED: Final[dict[str, type[Model]]] = {"run-result.schema.json": RunResult, "why.schema.json": Why}
"""Published schemas by file name."""


def as_json(model: Model) -> dict[str, Any]:
    """A document ready for JSON; absent facts are left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def schema_text(model: type[Model]) -> str:
    """A schema as it is published (draft 2020-12)."""
    schema = model.model_json_schema(by_alias=True)
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schemas to a directory, or compare with ``--check``; 1 when one is stale."""
    (directory,) = [Path(argument) for argument in arguments if argument != "--check"]
    stale = 0
    for name, model in PUBLISHED.items():
        target = directory / name
        if "--check" not in arguments:
            directory.mkdir(parents=True, exist_ok=True)
            target.write_text(schema_text(model), encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != schema_text(model):
            sys.stderr.write(f"{target} is stale: run python -m otel_docsfab.runs.models {directory}\n")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
