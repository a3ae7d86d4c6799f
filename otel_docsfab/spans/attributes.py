"""Names of the attributes, spans and events of our own that a trace may carry (DESIGN section 4)."""

from __future__ import annotations

from typing import Final

RUN_ID: Final = "docsfab.run.id"
STEP_ID: Final = "docsfab.step.id"
STEP_KIND: Final = "docsfab.step.kind"
STEP_JUDGMENT: Final = "docsfab.step.judgment"
ATTEMPT_NUMBER: Final = "docsfab.attempt.number"
ATTEMPT_RETRY_OF: Final = "docsfab.attempt.retry_of"
ATTEMPT_TIMEOUT_MS: Final = "docsfab.attempt.timeout_ms"
ATTEMPT_BEGAN_UNIX_MS: Final = "docsfab.attempt.began_unix_ms"
"""When the attempt began, ms since the epoch, where that was before its span."""
ANSWER_PATH: Final = "docsfab.answer.path"

STOP_CODE: Final = "docsfab.stop.code"
CONCLUDE_NOW_TRIGGER: Final = "docsfab.conclude_now.trigger"
DEADLINE_TURN: Final = "docsfab.deadline_turn"
OUTCOME: Final = "docsfab.outcome"
ENFORCED: Final = "docsfab.enforced"

TURN: Final = "docsfab.turn"
RESULT_DIGEST: Final = "docsfab.result.digest"
ARGUMENTS_DIGEST: Final = "docsfab.arguments.digest"
READ_VERDICT: Final = "docsfab.read.verdict"
READ_REPEATS: Final = "docsfab.read.repeats"
READ_CROSS_RESULT: Final = "docsfab.read.cross_result"
READ_FIRST_TURN: Final = "docsfab.read.first_turn"

COMPACTION: Final = "docsfab.compaction"
"""Name of a child span or of a span event: earlier results left the context (R12)."""
EVICTED_CALL_IDS: Final = "docsfab.evicted.call_ids"
"""On a compaction: only the results of these calls left (R12a)."""
REQUEST_SENT: Final = "docsfab.request_sent"
OUTPUT_STARTED: Final = "docsfab.output_started"
REQUEST_ENDED: Final = "docsfab.request_ended"
OUTPUT_KIND: Final = "kind"
"""On ``docsfab.output_started``: what is streaming (R23)."""
