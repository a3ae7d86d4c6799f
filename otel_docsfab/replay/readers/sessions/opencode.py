"""OpenCode sessions: its storage folders, and the JSON that ``opencode export`` writes.

A part whose ``state.time.compacted`` is set lost its result at that time: an eviction. A shell that ended with another
exit code than 0 failed, though its part says completed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from otel_docsfab.core import Unjudged
from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.json_values import BrokenJson, loads
from otel_docsfab.replay.readers.problems import Problems
from otel_docsfab.replay.readers.sessions.content import Content, result_content
from otel_docsfab.replay.readers.sessions.conversation import Conversation
from otel_docsfab.replay.readers.sessions.fields import mapping, sequence, text, unix_ms
from otel_docsfab.replay.script import ScriptEvent

_SESSION: Final = "ses_"
_PROMPT_PARTS: Final = frozenset({"file", "subtask", "agent"})


def is_opencode_export(key: str, value: Any) -> bool:
    """Whether a document's member is an exported session's: its header, or one of its messages."""
    value = mapping(value)
    if key == "info":
        return str(value.get("id", "")).startswith(_SESSION)
    return key == "messages" and isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def is_session_file(path: str) -> bool:
    """Whether a path is a session of OpenCode's storage, its messages beside it."""
    file = Path(path)
    return file.name.startswith(_SESSION) and file.suffix == ".json" and _messages_folder(file) is not None


def export_events(records: Iterator[Record], name: str) -> Iterator[ScriptEvent]:
    """Events of an exported session.

    Args:
        records: The members of the document and the elements of its messages.
        name: Name of the file.
    """
    session = _Session(name)
    for record in records:
        if record.key == "info":
            session.header(mapping(record.value))
        elif record.key == "messages":
            message = mapping(record.value)
            yield from session.message(
                mapping(message.get("info")), [mapping(p) for p in sequence(message.get("parts"))]
            )
    yield from session.end()


def storage_events(path: str, limit: int, problems: Problems) -> Iterator[ScriptEvent]:
    """Events of a session in the storage folders, one message in memory at a time.

    Args:
        path: The session's file.
        limit: Longest file that is read, bytes.
        problems: Takes files that cannot be read.
    """
    file = Path(path)
    session = _Session(path)
    session.header(_load(file, limit, problems))
    messages = _messages_folder(file)
    # Ids sort by time; the older layout keeps parts under their session.
    for message_file in sorted(messages.glob("*.json")) if messages else ():
        message = _load(message_file, limit, problems)
        parts = _parts_folder(file, message_file.stem)
        yield from session.message(message, [_load(part, limit, problems) for part in sorted(parts.glob("*.json"))])
    yield from session.end()


def _messages_folder(session: Path) -> Path | None:
    """``session/<project>/<id>.json`` has ``message/<id>``; ``session/info/<id>.json`` has ``session/message/<id>``."""
    for root in (session.parent.parent.parent, session.parent.parent):
        folder = root / "message" / session.stem
        if folder.is_dir():
            return folder
    return None


def _parts_folder(session: Path, message_id: str) -> Path:
    older = session.parent.parent / "part" / session.stem / message_id
    return older if older.is_dir() else session.parent.parent.parent / "part" / message_id


def _load(file: Path, limit: int, problems: Problems) -> dict[str, Any]:
    try:
        if file.stat().st_size > limit:
            problems.broke(str(file), 0, f"longer than {limit} bytes")
            return {}
        return mapping(loads(file.read_bytes()))
    except (OSError, BrokenJson) as error:
        problems.broke(str(file), 0, getattr(error, "strerror", None) or str(error))
        return {}


class _Session:
    def __init__(self, name: str) -> None:
        self._agent = Conversation("opencode", name, None, "opencode")
        self._evictions: list[tuple[int, str]] = []  # (when, call id), earliest first

    def header(self, info: dict[str, Any]) -> None:
        self._agent.run_id = text(info.get("id"))
        if text(info.get("parentID")):
            self._agent.agent = "sub-agent"

    def message(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> list[ScriptEvent]:
        at_ms = unix_ms(mapping(info.get("time")).get("created"))
        if any(part.get("type") == "compaction" for part in parts):
            self._agent.compacted(at_ms)
        elif info.get("role") == "user":
            if not parts or any(_is_prompt(part) for part in parts):
                self._agent.prompt(text(info.get("id")), at_ms)
        elif info.get("role") == "assistant" and info.get("summary") is not True:
            self._assistant(info, parts, at_ms)
        return self._agent.take()

    def end(self) -> list[ScriptEvent]:
        self._agent.close()
        return self._agent.take()

    def _assistant(self, info: dict[str, Any], parts: list[dict[str, Any]], at_ms: int) -> None:
        agent, model = self._agent, text(info.get("modelID"))
        key, step = text(info.get("id")) or f"at {at_ms}", 0
        tools: list[dict[str, Any]] = []
        self._evict_until(at_ms)
        agent.turn(f"{key}/0", at_ms, model)
        for number, part in enumerate(parts):
            kind = part.get("type")
            if kind == "step-start" and number > 0:
                self._run(tools)
                tools, step = [], step + 1
                following = next((tool for tool in parts[number:] if tool.get("type") == "tool"), {})
                at_ms = _started(following) or at_ms
                self._evict_until(at_ms)
                agent.turn(f"{key}/{step}", at_ms, model)
            elif kind == "tool":
                tools.append(part)
            elif kind == "text" and part.get("synthetic") is not True and (text(part.get("text")) or "").strip():
                agent.said()
        self._run(tools)
        error = mapping(info.get("error")).get("name")
        if error == "MessageAbortedError":
            agent.close(interrupted=True)
        elif error or info.get("finish") == "length":
            agent.no_answer()

    def _run(self, tools: list[dict[str, Any]]) -> None:
        """The calls of one response in its order, their results in the order in which they came back."""
        for tool in tools:
            state = mapping(tool.get("state"))
            self._agent.call(text(tool.get("tool")) or "", state.get("input"), text(tool.get("callID")), _started(tool))
        for tool in sorted(tools, key=_ended):
            self._result(tool, mapping(tool.get("state")))

    def _result(self, tool: dict[str, Any], state: dict[str, Any]) -> None:
        call_id, metadata = text(tool.get("callID")), mapping(state.get("metadata"))
        cleared_ms = unix_ms(mapping(state.get("time")).get("compacted"))
        if cleared_ms and call_id:
            heapq.heappush(self._evictions, (cleared_ms, call_id))
        if state.get("status") == "error":
            self._agent.result(call_id, state.get("error"), ok=False, at_ms=_ended(tool))
        elif state.get("status") == "completed":
            exit_code = metadata.get("exit")
            failed = isinstance(exit_code, int) and exit_code != 0
            self._agent.content(call_id, _output(tool, state, metadata), ok=not failed, at_ms=_ended(tool))

    def _evict_until(self, at_ms: int) -> None:
        gone: list[str] = []
        when = 0
        while self._evictions and self._evictions[0][0] <= at_ms:
            when, call_id = heapq.heappop(self._evictions)
            gone.append(call_id)
        self._agent.evicted(tuple(gone), when)


def _output(tool: dict[str, Any], state: dict[str, Any], metadata: dict[str, Any]) -> Content:
    output = state.get("output")
    if tool.get("truncated") is True:  # plug-ins overwrite old outputs in place
        return Content(output, Unjudged.RESULT_CUT)
    if text(metadata.get("outputPath")):
        return Content(output, Unjudged.RESULT_OFFLOADED)
    if sequence(state.get("attachments")):
        return Content(None, Unjudged.RESULT_NOT_TEXT)
    return result_content(output)


def _is_prompt(part: dict[str, Any]) -> bool:
    if part.get("type") == "text":
        return part.get("synthetic") is not True and part.get("ignored") is not True
    return text(part.get("type")) in _PROMPT_PARTS


def _started(tool: dict[str, Any]) -> int:
    return unix_ms(mapping(mapping(tool.get("state")).get("time")).get("start"))


def _ended(tool: dict[str, Any]) -> int:
    return unix_ms(mapping(mapping(tool.get("state")).get("time")).get("end"))
