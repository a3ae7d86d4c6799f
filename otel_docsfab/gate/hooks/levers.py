"""What each runtime lets a hook do, as data; the table in the documentation is made from it."""

from __future__ import annotations

import logging
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from otel_docsfab.errors import ConfigError

_log = logging.getLogger("otel_docsfab")


class Lever(StrEnum):
    """What a hook can do to a run."""

    OBSERVE = "observe"
    NOTICE = "notice"
    WITHHOLD = "withhold"
    DENY = "deny"
    STOP = "stop"
    CONCLUDE = "conclude"
    RETRY = "retry"
    COMPACTION = "compaction"


class Runtime(StrEnum):
    """Runtimes that have an adapter; the value is the adapter's module and its extra, with ``-`` for ``_``."""

    PYDANTIC_AI = "pydantic_ai"
    LANGCHAIN = "langchain"
    OPENAI_AGENTS = "openai_agents"
    GOOGLE_ADK = "google_adk"
    CLAUDE_AGENT_SDK = "claude_agent_sdk"


class Support(NamedTuple):
    """How far a runtime supports a lever.

    Attributes:
        how: By which of its own means, in a few words.
        lacks: What is missing, in a few words; empty when nothing is.
        sometimes: Whether it is missing in some runs only; then it is said when such a run begins.
    """

    how: str
    lacks: str = ""
    sometimes: bool = False


_RERUN: Final = Support("`run`, `arun` of the adapter")

LEVERS: Final = MappingProxyType(
    {
        Runtime.PYDANTIC_AI: MappingProxyType(
            {
                Lever.OBSERVE: Support("capability"),
                Lever.NOTICE: Support("user part of the same request (`ToolReturn.content`)"),
                Lever.WITHHOLD: Support("`wrap_tool_execute`"),
                Lever.DENY: Support("`wrap_tool_execute`"),
                Lever.STOP: Support("`AttemptStopped` before the next request"),
                Lever.CONCLUDE: Support("no function tools, and a user part"),
                Lever.RETRY: _RERUN,
                Lever.COMPACTION: Support("messages of each request"),
            }
        ),
        Runtime.LANGCHAIN: MappingProxyType(
            {
                Lever.OBSERVE: Support("middleware"),
                Lever.NOTICE: Support("content block of the `ToolMessage`"),
                Lever.WITHHOLD: Support("`wrap_tool_call`"),
                Lever.DENY: Support("`wrap_tool_call`"),
                Lever.STOP: Support("`AttemptStopped` before the next request"),
                Lever.CONCLUDE: Support("no tools, and a user message"),
                Lever.RETRY: _RERUN,
                Lever.COMPACTION: Support("messages of each request"),
            }
        ),
        Runtime.OPENAI_AGENTS: MappingProxyType(
            {
                Lever.OBSERVE: Support("runner; function tools"),
                Lever.NOTICE: Support("output item of the tool call"),
                Lever.WITHHOLD: Support("function tools"),
                Lever.DENY: Support("function tools"),
                Lever.STOP: Support("`AttemptStopped` before the next request"),
                Lever.CONCLUDE: Support("no function tools, and a user item"),
                Lever.RETRY: _RERUN,
                Lever.COMPACTION: Support(
                    "items of each request", "not when the server keeps the conversation", sometimes=True
                ),
            }
        ),
        Runtime.GOOGLE_ADK: MappingProxyType(
            {
                Lever.OBSERVE: Support("plugin"),
                Lever.NOTICE: Support("member `notice` of the function response"),
                Lever.WITHHOLD: Support("`after_tool_callback`"),
                Lever.DENY: Support("`before_tool_callback`"),
                Lever.STOP: Support("`AttemptStopped` before the next request"),
                Lever.CONCLUDE: Support("no tools, and a user content"),
                Lever.RETRY: _RERUN,
                Lever.COMPACTION: Support("contents of each request"),
            }
        ),
        Runtime.CLAUDE_AGENT_SDK: MappingProxyType(
            {
                Lever.OBSERVE: Support("hooks"),
                Lever.NOTICE: Support("`additionalContext`"),
                Lever.WITHHOLD: Support("`updatedToolOutput`", "only tools whose output shape is known"),
                Lever.DENY: Support("`PreToolUse`"),
                Lever.STOP: Support("`continue_: False`"),
                Lever.CONCLUDE: Support("`additionalContext`, and denials", "tools stay listed"),
                Lever.RETRY: Support("`arun` of the adapter"),
                Lever.COMPACTION: Support("`PreCompact`", "single results cleared by the program are not told"),
            }
        ),
    }
)
"""Runtime by lever; every runtime has every lever."""


def report(runtime: Runtime, *, strict: bool, lacking: Lever | None = None) -> None:
    """Say at set-up what a runtime lacks.

    Args:
        runtime: The runtime.
        strict: Raise instead of warning.
        lacking: Only this lever, for what is missing in one kind of run; None for all that always are.

    Raises:
        ConfigError: Something is missing and ``strict`` was asked for.
    """
    levers = LEVERS[runtime]
    missing = [f"{lever}: {cell.lacks}" for lever, cell in levers.items() if cell.lacks and not cell.sometimes]
    if lacking is not None:
        missing = [f"{lacking}: {levers[lacking].lacks}"]
    if not missing:
        return
    message = f"{runtime} lacks levers ({'; '.join(missing)})"
    if strict:
        raise ConfigError(f"{message}; leave strict out to enforce the rest")
    _log.warning("otel-docsfab: %s; the rest is enforced.", message)


def levers_table() -> str:
    """The table of the documentation, in Markdown: a runtime a row, a lever a column."""
    rows = [["runtime", *Lever], ["---"] * (len(Lever) + 1)]
    for runtime, levers in LEVERS.items():
        cells = (levers[lever] for lever in Lever)
        rows.append([f"`{runtime}`", *(f"{cell.how} ({cell.lacks})" if cell.lacks else cell.how for cell in cells)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
