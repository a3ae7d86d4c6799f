"""What a dialect makes of a span."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from otel_docsfab.core import Unjudged


class Role(StrEnum):
    """What a span stands for."""

    AGENT = "agent"  # an attempt, or part of one
    MODEL = "model"  # a model request
    TURN = "turn"  # one model turn and its calls, from runtimes that show a span for it: where it starts, a turn begins
    TOOL = "tool"  # a tool call
    ANSWER = "answer"  # a pseudo tool that hands in the answer (`final_answer`, `finish`)
    COMPACTION = "compaction"  # earlier results left the context
    IGNORED = "ignored"  # a pseudo span that must not count (`execute_tool (merged)`)


class Observation(NamedTuple):
    """One span, read. Content is passed through and never kept.

    Attributes:
        role: What the span stands for.
        dialect: Name of the dialect that read it.
        tool: Tool name; empty unless it is a tool.
        call_id: The runtime's id of the call, if it has one.
        arguments: Parsed arguments or argument text, unwrapped of envelopes; None when unknown.
        arguments_reason: Why the arguments are unknown; None when they are known.
        arguments_digest: Digest of the canonical arguments from a `docsfab.arguments.digest` attribute.
        result: Result as the model gets it, unwrapped: text, bytes or a JSON-like value; None when unknown.
        result_reason: Why the result is unknown; None when it is known.
        result_digest: Digest from a `docsfab.result.digest` attribute.
        ok: False when any failure signal is there.
        agent_name: Name of the agent, for agent spans.
        model: Name of the model, for model and agent spans.
        conversation: Identity across runs (conversation, session, thread, group), if any.
        called_tools: For model spans: whether the response asks for tools; None when the span does not tell.
        output_limited: For model spans: the response stopped at the output limit.
        evicted: For compactions: ids of the calls whose results left; empty for all.
    """

    role: Role
    dialect: str = ""
    tool: str = ""
    call_id: str | None = None
    arguments: Any = None
    arguments_reason: Unjudged | None = None
    arguments_digest: bytes | None = None
    result: Any = None
    result_reason: Unjudged | None = None
    result_digest: bytes | None = None
    ok: bool = True
    agent_name: str | None = None
    model: str | None = None
    conversation: str | None = None
    called_tools: bool | None = None
    output_limited: bool = False
    evicted: tuple[str, ...] = ()
