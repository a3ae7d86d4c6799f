"""What an agent span says of its attempt, in our own attributes (DESIGN section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from otel_docsfab.core import AnswerPath, RetryOf, StepKind
from otel_docsfab.spans import attributes as names
from otel_docsfab.supervisor import Attempt

_Word = TypeVar("_Word", bound=StrEnum)


def attempt_facts(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for ``Supervisor.attempt`` from the attributes of an agent span.

    Args:
        attributes: As they are at the start of the span; of any type.

    Returns:
        What is there and makes sense; the rest is left out.
    """
    facts = {
        "run_id": _text(attributes.get(names.RUN_ID)),
        "step": _text(attributes.get(names.STEP_ID)),
        "kind": _word(StepKind, attributes.get(names.STEP_KIND)),
        "judgment": _flag(attributes.get(names.STEP_JUDGMENT)),
        "number": _positive(attributes.get(names.ATTEMPT_NUMBER)),
        "retry_of": _word(RetryOf, attributes.get(names.ATTEMPT_RETRY_OF)),
        "timeout_ms": _positive(attributes.get(names.ATTEMPT_TIMEOUT_MS)),
        "answer_path": _word(AnswerPath, attributes.get(names.ANSWER_PATH)),
    }
    return {name: value for name, value in facts.items() if value is not None}


def attempt_attributes(attempt: Attempt) -> dict[str, Any]:
    """The same attributes from an attempt that the host opened, for its agent span: a replay of it then knows them."""
    machine, step = attempt.machine, attempt.machine.step
    facts = {
        names.RUN_ID: attempt.ref.run_id,
        names.STEP_ID: step.id,
        names.STEP_KIND: step.kind and step.kind.value,
        names.STEP_JUDGMENT: step.judgment or None,
        names.ATTEMPT_NUMBER: machine.number,
        names.ATTEMPT_RETRY_OF: machine.retry_of and machine.retry_of.value,
        names.ATTEMPT_TIMEOUT_MS: machine.timer_ms,
        names.ATTEMPT_BEGAN_UNIX_MS: attempt.began_unix_ms,
        names.ANSWER_PATH: step.answer_path and step.answer_path.value,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _text(value: object) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _word(words: type[_Word], value: object) -> _Word | None:
    return words(value) if isinstance(value, str) and value in list(words) else None
