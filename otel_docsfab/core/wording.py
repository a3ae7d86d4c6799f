"""Every sentence the package says to a model or a person.

Notices hold no changing counter and no content; they stay under 200 bytes plus tool and path (R6).
"""

from __future__ import annotations

import re
from typing import Final

from otel_docsfab.core.codes import Code, Denial, RetryOf
from otel_docsfab.core.identity import one_line

NOTICE_MARK: Final = "[docsfab]"
"""Begins every notice and denial. The mark alone proves nothing: see ``is_own_notice``."""

CONCLUDE_REQUEST: Final = (
    "Tools are withdrawn now. Give your final answer from what you have already read, in the form this step asks for."
)
"""What is added to the next model request when the answer is asked for (R18)."""

RETRY_PROMPTS: Final[dict[RetryOf, str]] = {
    RetryOf.NO_PROGRESS: (
        "The previous attempt kept re-reading content it already had and was stopped. Read each thing once, keep what"
        " you learn, and answer as soon as you can."
    ),
    RetryOf.TOOL_CALL_CEILING: (
        "The previous attempt used every tool call the step allows without answering. Plan the calls you need, and"
        " answer before they run out."
    ),
}
"""What the prompt of a retry says (R17)."""

_DENIALS: Final = {
    Denial.STOPPED: "This attempt has been stopped; no tool runs any more.",
    Denial.READ_LOOP: "Tools are withdrawn: give your final answer from what you have already read.",
    Denial.ATTEMPT_DEADLINE: "Tools are withdrawn: give your final answer from what you have already read.",
    Denial.READING_BUDGET: "Tools are withdrawn: give your final answer from what you have already read.",
    Denial.CEILING: "This step's tool calls are used up; give your final answer from what you have already read.",
}


def notice(tool: str, subject: str, first_turn: int) -> str:
    """The notice of an unchanged re-read.

    Args:
        tool: Tool name.
        subject: The path-like argument, or the shortened arguments.
        first_turn: Turn that first delivered the content.

    Returns:
        One line; the same for every repeat.

    Source: R6.
    """
    return (
        f"{NOTICE_MARK} {_called(tool, subject)} is unchanged: its full content, delivered in turn {first_turn}, is"
        " still current and in your context. Next: work from that copy."
    )


def denial(tool: str, reason: Denial) -> str:
    """What a model gets instead of a call that was denied (R17, R19, R22)."""
    return f"{NOTICE_MARK} {one_line(tool, _MAX_TOOL)} was not run. {_DENIALS[reason]}"


_TURN = re.compile(r"delivered in turn (\d{1,9}), is")
_MAX_NOTICE = 2_000
_MAX_TOOL = 60


def is_own_notice(text: object, tool: str, subject: str) -> bool:
    """Whether a result is, as a whole, a notice or denial that we would write for this call.

    Recognised by regenerating it, never by a likeness of words (R6).
    """
    if not isinstance(text, str) or not text.startswith(NOTICE_MARK) or len(text) > _MAX_NOTICE:
        return False
    turn = _TURN.search(text)
    if turn and text == notice(tool, subject, int(turn[1])):
        return True
    return any(text == denial(tool, reason) for reason in Denial)


def bound_message(code: Code, observed: int, limit_name: str, limit: int) -> str:
    """The stop's message up to ``count.``, to the letter of R15 and R17."""
    verb = "reaches" if code is Code.TOOL_CALL_CEILING else "exceeds"
    return f"{code}: {observed} {verb} {limit_name} = {limit} count."


def deadline_message(code: Code, timer_ms: int, limit_name: str) -> str:
    """The message of an attempt whose timer fired (R23)."""
    return f"{code}: the attempt timer {limit_name} = {timer_ms} ms ran out."


def stop_detail(code: Code, most_read: tuple[str, str] | None) -> str:
    """One sentence for people that names the tool and path read most (R15)."""
    most = f", most often {_called(*most_read)}" if most_read else ""
    if code is Code.TOOL_CALL_CEILING:
        return f"Every tool call the step allows was used without an answer{most}."
    return f"The model kept re-reading content it already had{most}."


def _called(tool: str, subject: str) -> str:
    tool = one_line(tool, _MAX_TOOL)
    return f"{tool} {subject}" if subject else tool
