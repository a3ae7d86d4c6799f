"""SWE-agent trajectories (``.traj``): steps of an action in shell text and its observation.

Exit codes are not recorded. What a history processor took out of a later request (``Old environment output``) is an
eviction: each step keeps the request that was sent.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any, Final

from otel_docsfab.replay.readers.framing import Record
from otel_docsfab.replay.readers.sessions.conversation import Conversation
from otel_docsfab.replay.readers.sessions.fields import mapping, sequence, spoken, text
from otel_docsfab.replay.script import ScriptEvent

_EDITORS: Final = frozenset({"str_replace_editor", "edit_anthropic"})
_COMMANDS: Final = frozenset(
    {
        "open",
        "goto",
        "scroll_up",
        "scroll_down",
        "create",
        "edit",
        "insert",
        "append",
        "search_dir",
        "search_file",
        "find_file",
        "filemap",
        "view_image",
    }
)
_SUBMITS: Final = frozenset({"submit", "submit_review", "submit_final"})
_ELIDED: Final = "Old environment output:"
_FIRST_WORD: Final = re.compile(r"\s*([A-Za-z_]\w*)(?=\s|\Z)")


def is_swe_agent(key: str, value: Any) -> bool:
    """Whether a document's member is a trajectory's: a step, or an attempt of several."""
    value = mapping(value)
    if key == "trajectory":
        return "action" in value and "observation" in value
    return key == "attempts" and isinstance(value.get("trajectory"), list)


def swe_agent_events(records: Iterator[Record], name: str) -> Iterator[ScriptEvent]:
    """Events of one trajectory file.

    Args:
        records: The members of the document, its steps and its attempts.
        name: Name of the file.
    """
    reader, several = _Reader(name), False
    for record in records:
        if record.key == "attempts":
            if not several:  # the outer trajectory is the last attempt's once more
                reader, several = _Reader(name), True
            for step in sequence(mapping(record.value).get("trajectory")):
                reader.step(mapping(step))
            reader.agent.close()
            yield from reader.take()
        elif record.key == "trajectory" and not several:
            reader.step(mapping(record.value))
            yield from reader.take()
        elif record.key in ("environment", "instance_id") and not reader.agent.run_id:
            reader.agent.run_id = text(record.value)
    reader.agent.close()
    yield from reader.take()


class _Reader:
    def __init__(self, name: str) -> None:
        self.agent = Conversation("swe-agent", name, None, "swe-agent")
        self._steps = 0
        self._observed: list[int] = []
        self._elided: set[int] = set()

    def take(self) -> list[ScriptEvent]:
        return self.agent.take()

    def step(self, step: dict[str, Any]) -> None:
        if not self.agent.begun:
            self._steps, self._observed, self._elided = 0, [], set()
        self._evict(sequence(step.get("query")) or sequence(step.get("messages")))
        self._steps += 1
        self.agent.turn(str(self._steps))
        action = step.get("action")
        if not isinstance(action, str) or not action.strip():
            return  # a response in a wrong form: the host asks again
        self._observed.append(self._steps)
        tool, arguments = parse_action(action)
        if tool in _SUBMITS:
            self.agent.answered()
            return
        call_id = f"step-{self._steps}"
        self.agent.call(tool, arguments, call_id)
        if step.get("observation") is not None:
            self.agent.result(call_id, step["observation"])

    def _evict(self, query: list[Any]) -> None:
        """Find what this request no longer shows; counted from its end, its observations are the last steps'."""
        shown = [m for m in map(mapping, reversed(query)) if m.get("message_type") == "observation"]
        gone: list[str] = []
        for message, number in zip(shown, reversed(self._observed), strict=False):
            if number not in self._elided and spoken(message.get("content")).lstrip().startswith(_ELIDED):
                self._elided.add(number)
                gone.append(f"step-{number}")
        self.agent.evicted(tuple(reversed(gone)))


def parse_action(action: str) -> tuple[str, dict[str, Any]]:
    """Tool and arguments of an action in shell text.

    Args:
        action: One of SWE-agent's own commands, or a shell command.

    Returns:
        The editor with its parsed arguments, another command with the text behind it, or ``bash`` with the whole text.
    """
    word = _FIRST_WORD.match(action)
    tool = word[1] if word else ""
    if tool in _EDITORS and (parsed := _editor(action)) is not None:
        return tool, parsed
    if tool in _COMMANDS | _SUBMITS:
        return tool, {"arguments": action[word.end() if word else 0 :].strip()}
    return "bash", {"command": action}


def _editor(action: str) -> dict[str, Any] | None:
    """``str_replace_editor <command> <path> --flag value ...``; None when it is not of that form."""
    try:
        words = shlex.split(action)[1:]
    except ValueError:
        return None
    if len(words) < 2 or words[0].startswith("-"):  # noqa: PLR2004 - a command and a path
        return None
    parsed: dict[str, Any] = {"command": words[0], "path": words[1]}
    flag: str | None = None
    for word in words[2:]:
        if word.startswith("--") and len(word) > 2:  # noqa: PLR2004 - more than the dashes
            flag = word[2:]
            parsed[flag] = ""
        elif flag is None:
            return None
        elif flag == "view_range" and parsed[flag] != "":
            parsed[flag] = [*sequence(parsed[flag] if isinstance(parsed[flag], list) else [parsed[flag]]), word]
        else:
            parsed[flag] = word if parsed[flag] == "" else f"{parsed[flag]} {word}"
    return parsed
