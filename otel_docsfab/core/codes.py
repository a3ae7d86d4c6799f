"""The closed lists: every word that a decision, a record or a metric may hold.

Source: SPEC sections 3 to 8.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ToolClass(StrEnum):
    """What a tool call means to the supervisor (SPEC section 1)."""

    READ = "read"
    PROGRESS = "progress"
    NEUTRAL = "neutral"


class Verdict(StrEnum):
    """What becomes of one call's result (R2, R4, R5, R19)."""

    DELIVER = "deliver"
    DELIVER_WITH_NOTICE = "deliver-with-notice"
    NOTICE_ONLY = "notice-only"
    DENIED = "denied"


class Denial(StrEnum):
    """Why a call was denied."""

    STOPPED = "stopped"
    READ_LOOP = "read-loop"
    ATTEMPT_DEADLINE = "attempt-deadline"
    READING_BUDGET = "reading-budget"
    CEILING = "tool-call-ceiling"


class Trigger(StrEnum):
    """What raised the ask for the answer (R18, R20, R21)."""

    READ_LOOP = "read-loop"
    ATTEMPT_DEADLINE = "attempt-deadline"
    READING_BUDGET = "reading-budget"


class StepKind(StrEnum):
    """Whether a step only reads; a step that nobody declared has none and is never asked (R20)."""

    READ_ONLY = "read-only"
    WRITE = "write"


class AnswerPath(StrEnum):
    """How the final answer is handed in (R22)."""

    TOOL_CALL = "tool-call"
    TEXT_FINAL = "text-final"


class Output(StrEnum):
    """What a model is streaming (R23)."""

    ANSWER = "answer"
    TOOL_CALL = "tool-call"
    OTHER = "other"


class DeadlineTurn(StrEnum):
    """Where the attempt timer found the attempt (R23)."""

    AWAITING_FIRST_BYTE = "awaiting-first-byte"
    STREAMING_ANSWER = "streaming-answer"
    STREAMING_TOOL_CALL = "streaming-tool-call"
    STREAMING = "streaming"
    BETWEEN_REQUESTS = "between-requests"


class Outcome(StrEnum):
    """How an attempt ended (SPEC section 8)."""

    ANSWERED = "answered"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"
    OPEN = "open"


class Progress(StrEnum):
    """What renews an execution lease (R28)."""

    NEW_CONTENT = "new-content"
    PROGRESS_CALL = "progress-call"
    NEUTRAL_RESULT = "neutral-result"
    ANSWER = "answer"


class Unjudged(StrEnum):
    """Why a successful read could not be judged (R29)."""

    RESULT_NOT_CAPTURED = "result-not-captured"
    RESULT_CUT = "result-cut"
    RESULT_REDACTED = "result-redacted"
    RESULT_PLACEHOLDER = "result-placeholder"
    RESULT_NOT_TEXT = "result-not-text"
    RESULT_OFFLOADED = "result-offloaded"
    ARGUMENTS_NOT_CAPTURED = "arguments-not-captured"
    ARGUMENTS_CUT = "arguments-cut"
    ARGUMENTS_REDACTED = "arguments-redacted"
    ARGUMENTS_PLACEHOLDER = "arguments-placeholder"
    ARGUMENTS_NOT_JSON = "arguments-not-json"
    AGENTS_MIXED = "agents-mixed"
    TOO_MANY_RESULTS = "too-many-results"


class RetryOf(StrEnum):
    """Why an attempt is a retry of R17."""

    NO_PROGRESS = "no-progress"
    TOOL_CALL_CEILING = "tool-call-ceiling"


class Category(StrEnum):
    """The failure category of a code."""

    NO_PROGRESS = "no-progress"
    PROVIDER_STALL = "provider-stall"
    TIMEOUT = "timeout"
    CONTRACT = "contract"


class Code(StrEnum):
    """Why an attempt failed."""

    WITHHELD_READS = "execution-read-loop-withheld-reads-bound"
    UNCHANGED_RE_READS = "execution-read-loop-unchanged-re-reads-bound"
    TOOL_CALL_CEILING = "execution-tool-call-ceiling-bound"
    DEADLINE_IN_TOOL_LOOP = "attempt-deadline-in-tool-loop"
    DEADLINE_AWAITING_PROVIDER = "attempt-deadline-awaiting-provider"
    TIMEOUT = "timeout"
    ANSWER_REJECTED = "answer-rejected"


class Finding(NamedTuple):
    """What a code means to the person who reads it.

    Attributes:
        category: Failure category.
        owner: Who is to look at it.
        cause: The name that ``why`` gives.
    """

    category: Category
    owner: str
    cause: str


FINDINGS: dict[Code, Finding] = {
    Code.WITHHELD_READS: Finding(Category.NO_PROGRESS, "model-progress", "read-loop-stopped"),
    Code.UNCHANGED_RE_READS: Finding(Category.NO_PROGRESS, "model-progress", "read-loop-stopped"),
    Code.TOOL_CALL_CEILING: Finding(Category.NO_PROGRESS, "model-progress", "tool-call-ceiling-reached"),
    Code.DEADLINE_IN_TOOL_LOOP: Finding(Category.NO_PROGRESS, "model-progress", "deadline-in-tool-loop"),
    Code.DEADLINE_AWAITING_PROVIDER: Finding(Category.PROVIDER_STALL, "provider", "provider-stalled"),
    Code.TIMEOUT: Finding(Category.TIMEOUT, "budget", "attempt-timed-out"),
    Code.ANSWER_REJECTED: Finding(Category.CONTRACT, "model-answer", "answer-rejected"),
}

RETRIED: dict[Code, RetryOf] = {
    Code.WITHHELD_READS: RetryOf.NO_PROGRESS,
    Code.UNCHANGED_RE_READS: RetryOf.NO_PROGRESS,
    Code.TOOL_CALL_CEILING: RetryOf.TOOL_CALL_CEILING,
}
"""Codes that R17 gives a retry; deadline codes get none."""
