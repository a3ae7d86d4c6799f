"""mini-swe-agent trajectories: messages with tool calls (version 2), or with one fenced shell command (version 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.sessions.conversation import Conversation
from otel_docsfab.replay.readers.sessions.fields import mapping, sequence, spoken, text, unix_ms
from otel_docsfab.replay.script import ScriptEvent

_FENCE: Final = re.compile(r"```(?:mswea_)?bash(?:_command)?\s*\n(.*?)\n```", re.DOTALL)
_OBSERVATION: Final = re.compile(r"\s*(?:<returncode>\s*(-?\d+)\s*</returncode>|Observation:)")
_SUBMIT: Final = re.compile(r"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT")


def is_mini_swe_agent(key: str, value: Any) -> bool:
    """Whether a document's member names the format, or is a message only this one writes."""
    if key == "trajectory_format":
        return str(value).startswith("mini-swe-agent")
    if key == "info":
        return "mini_version" in mapping(value)
    extra = mapping(mapping(value).get("extra"))
    return key == "messages" and ("actions" in extra or "raw_output" in extra)


def mini_swe_agent_events(records: Iterator[Record], name: str) -> Iterator[ScriptEvent]:
    """Events of one trajectory file.

    Args:
        records: The members of the document and its messages.
        name: Name of the file.
    """
    agent, turns = Conversation("mini-swe-agent", name, None, "mini-swe-agent"), 0
    for record in records:
        if record.key == "messages":
            message = mapping(record.value)
            at_ms = unix_ms(mapping(message.get("extra")).get("timestamp"))
            if message.get("role") == "assistant" or message.get("object") == "response":
                turns += 1
                _response(agent, message, turns, at_ms)
            else:
                _other(agent, message, at_ms)
            yield from agent.take()
        elif record.key == "instance_id":
            agent.run_id = text(record.value)
    agent.close()
    yield from agent.take()


def _response(agent: Conversation, message: dict[str, Any], turn: int, at_ms: int) -> None:
    agent.turn(str(turn), at_ms)
    for command, call_id in _actions(message):
        if isinstance(command, str) and _SUBMIT.search(command):
            agent.answered()
        else:
            agent.call("bash", {"command": command}, call_id, at_ms)


def _actions(message: dict[str, Any]) -> list[tuple[Any, str | None]]:
    recorded = mapping(message.get("extra")).get("actions")
    if isinstance(recorded, list):
        actions = [mapping(action) for action in recorded]
        return [(action.get("command"), text(action.get("tool_call_id"))) for action in actions]
    content = message.get("content")
    commands = _FENCE.findall(content) if isinstance(content, str) else []
    return [(commands[0].strip(), None)] if len(commands) == 1 else []  # more than one is refused by the agent


def _other(agent: Conversation, message: dict[str, Any], at_ms: int) -> None:
    """An observation; tasks, system prompts and complaints about a response's form are none."""
    extra = mapping(message.get("extra"))
    output = message.get("output") if message.get("type") == "function_call_output" else message.get("content")
    header = _OBSERVATION.match(spoken(output))
    is_result = message.get("role") == "tool" or message.get("type") == "function_call_output"
    if not agent.begun or not (is_result or header or "returncode" in extra):
        return
    code = extra.get("returncode", int(header[1]) if header and header[1] else 0)
    ok = code in (0, None) and not extra.get("exception_info")
    call_id = text(message.get("tool_call_id")) or text(message.get("call_id"))
    agent.result(call_id, output if isinstance(output, str) else sequence(output), ok=ok, at_ms=at_ms)
