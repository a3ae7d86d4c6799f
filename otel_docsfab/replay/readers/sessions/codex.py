"""Codex rollout files: records wrapped in ``type`` and ``payload``, bare items of older versions, and the oldest JSON.

A shell's output carries header lines (chunk id, wall time, exit code, token count) around the content: an envelope,
which changes on every call and is left out. A turn has no id of its own: what the model says after results begins one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.json_values import BrokenJson, loads
from otel_docsfab.replay.readers.sessions.content import result_content
from otel_docsfab.replay.readers.sessions.conversation import Conversation
from otel_docsfab.replay.readers.sessions.fields import mapping, spoken, text, unix_ms
from otel_docsfab.replay.script import ScriptEvent

_WRAPPERS: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ITEMS: Final = frozenset(
    {
        "function_call",
        "function_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "reasoning",
    }
)
_COMPACTIONS: Final = frozenset({"compaction", "compaction_summary", "context_compaction"})
_HEADER: Final = re.compile(
    r"(?:(?:Chunk ID: |Wall time: |Command: |Original token count: |Process running with session ID )[^\n]*"
    r"|(?:Process exited with code|Exit code:) (?P<code>-?\d+)|(?P<lines>Total output lines: [^\n]*))\n"
)
_BEGIN: Final = re.compile(r"Output:(?:\n|\Z)")
_FAILURES: Final = (
    "failed to parse function arguments",
    "execution error:",
    "aborted by user",
    "unsupported call:",
    "exec command rejected",
    "exec_command failed",
    "tool call error:",
)
_NO_PROMPTS: Final = ("<", "# AGENTS.md instructions", "Warning: ")


class Output(NamedTuple):
    """A shell's output out of its envelope.

    Attributes:
        content: What the command wrote.
        ok: False when it ended with another exit code than 0.
    """

    content: str
    ok: bool


def is_codex(value: Any) -> bool:
    """Whether a JSON value is a record of a Codex rollout, or the oldest form's whole file."""
    if not isinstance(value, dict):
        return False
    kind = text(value.get("type"))
    if kind in _WRAPPERS:
        return "payload" in value
    if kind in _ITEMS:
        return "call_id" in value or kind == "reasoning" or "action" in value
    if kind == "message":
        return "role" in value and isinstance(value.get("content"), list) and "message" not in value
    if value.get("record_type") == "state":
        return True
    return {"id", "timestamp", "instructions"} <= value.keys() or {"session", "items"} <= value.keys()


def codex_events(records: Iterator[Record], name: str) -> Iterator[ScriptEvent]:
    """Events of one rollout.

    Args:
        records: Its records: one a line, or the members and items of the oldest form.
        name: Its name.
    """
    reader = _Reader(name)
    for record in records:
        if record.key == "session":
            reader.agent.run_id = text(mapping(record.value).get("id"))
        elif record.key in ("", "items") and isinstance(record.value, dict):
            reader.read(record.value)
            yield from reader.agent.take()
    reader.agent.close()
    yield from reader.agent.take()


class _Reader:
    def __init__(self, name: str) -> None:
        self.agent = Conversation("codex", name, None, "codex")
        self._model: str | None = None
        self._turn_id: str | None = None
        self._prompts = 0

    def read(self, record: dict[str, Any]) -> None:
        kind, payload = text(record.get("type")), mapping(record.get("payload"))
        at_ms = unix_ms(record.get("timestamp"))
        if kind == "response_item":
            self._item(payload, at_ms)
        elif kind == "event_msg":
            self._event(payload, at_ms)
        elif kind == "compacted":
            self.agent.compacted(at_ms)
        elif kind == "turn_context":
            self._model = text(payload.get("model")) or self._model
        elif kind == "session_meta":
            self._meta(payload)
        elif kind is None and "instructions" in record:  # the first line of the older form
            self.agent.run_id = self.agent.run_id or text(record.get("id"))
        else:
            self._item(record, at_ms)

    def _meta(self, payload: dict[str, Any]) -> None:
        if self.agent.run_id is not None:
            return  # a fork repeats the header of the session it came from
        self.agent.run_id = text(payload.get("id")) or text(payload.get("session_id"))
        spawned = mapping(payload.get("source")).get("subagent")
        if spawned is not None:
            role = text(mapping(mapping(spawned).get("thread_spawn")).get("agent_role"))
            self.agent.agent = role or "sub-agent"

    def _event(self, payload: dict[str, Any], at_ms: int) -> None:
        kind = text(payload.get("type"))
        if kind in ("task_started", "turn_started"):
            self._turn_id, self._prompts = text(payload.get("turn_id")), 0
            self.agent.prompt(self._turn_id, at_ms)
        elif kind == "user_message":
            self._prompt(at_ms)
        elif kind == "turn_aborted":
            self.agent.close(interrupted=True)
        elif kind in ("task_complete", "turn_complete"):
            self.agent.close()

    def _prompt(self, at_ms: int) -> None:
        """A prompt; one in the middle of a run begins an attempt of its own."""
        if self.agent.begun:
            self._prompts += 1
        key = self._turn_id
        self.agent.prompt(f"{key}.{self._prompts}" if key and self._prompts else key, at_ms)

    def _item(self, item: dict[str, Any], at_ms: int) -> None:
        kind = text(item.get("type"))
        if kind == "message":
            self._message(item, at_ms)
        elif kind in _COMPACTIONS:
            self.agent.compacted(at_ms)
        elif kind in ("reasoning", "web_search_call", "image_generation_call"):
            self.agent.turn(at_ms=at_ms, model=self._model)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"):
            self.agent.turn(at_ms=at_ms, model=self._model)
            self._call(item, at_ms)
        elif kind in (
            "function_call_output",
            "custom_tool_call_output",
            "local_shell_call_output",
            "tool_search_output",
        ):
            self._output(item, at_ms)

    def _message(self, item: dict[str, Any], at_ms: int) -> None:
        said = spoken(item.get("content"))
        if item.get("role") == "assistant":
            self.agent.turn(at_ms=at_ms, model=self._model)
            if said.strip():
                self.agent.said()
        elif item.get("role") == "user" and not said.lstrip().startswith(_NO_PROMPTS):
            self._prompt(at_ms)

    def _call(self, item: dict[str, Any], at_ms: int) -> None:
        kind = text(item.get("type"))
        call_id = text(item.get("call_id")) or text(item.get("id"))
        if kind == "local_shell_call":
            self.agent.call("local_shell", item.get("action"), call_id, at_ms)
            return
        tool, space = text(item.get("name")) or str(kind), text(item.get("namespace")) or ""
        if space.startswith("mcp") and not tool.startswith(space):
            tool = f"{space}{tool}"
        arguments = item.get("input") if kind == "custom_tool_call" else item.get("arguments")
        self.agent.call(tool, arguments, call_id, at_ms)

    def _output(self, item: dict[str, Any], at_ms: int) -> None:
        value, ok = item.get("output", item.get("tools")), True
        if isinstance(value, dict):
            ok = value.get("success") is not False and value.get("exit_code", 0) == 0
            value = value.get("content", value.get("output"))
        if isinstance(value, str):
            output = unwrap_output(value)
            value, ok = output.content, ok and output.ok
        self.agent.content(text(item.get("call_id")) or text(item.get("id")), result_content(value), ok=ok, at_ms=at_ms)


def unwrap_output(output: str) -> Output:
    """A tool's output without the envelope of its runtime.

    Args:
        output: Text as recorded: content with header lines up to ``Output:``, the older JSON with ``output`` and
            ``metadata``, or the content itself.

    Returns:
        The content. Of the header the total of lines stays, because it says how much of a long output is not shown.
    """
    if output.startswith("{"):
        unwrapped = _old_json(output)
        if unwrapped is not None:
            return unwrapped
    at, code, total = 0, 0, ""
    while header := _HEADER.match(output, at):
        at = header.end()
        code = int(header["code"]) if header["code"] else code
        total = f"{header['lines']}\n" if header["lines"] else total
    begin = _BEGIN.match(output, at)
    if at and begin:
        return Output(total + output[begin.end() :], ok=code == 0)
    return Output(output, ok=not output.startswith(_FAILURES))


def _old_json(output: str) -> Output | None:
    try:
        value = mapping(loads(output.encode("utf-8", "surrogatepass")))
    except BrokenJson:
        return None
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(value.get("output"), str):
        return None
    return Output(value["output"], ok=metadata.get("exit_code", 0) == 0)
