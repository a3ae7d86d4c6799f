"""Claude Agent SDK: hooks of the program that runs the agent.

One line sets it up: ``Docsfab(supervisor).query(prompt=..., options=...)`` in place of ``query``, or
``options = Docsfab(supervisor).hooked(options)`` for a client. ``install`` gives the hooks to all options that are made
afterwards; ``arun`` runs a step with its retry. Give the supervisor ``toolset="claude-code"``.

Each prompt is an attempt, and so is each sub-agent. What this runtime lacks: tools stay listed after the ask, and are
denied; only results whose shape is known here can be withheld (files read, command output, searched lines, tools of MCP
servers), others get the notice beside them. The program tells of compactions, but not of single results that it clears:
nothing is withheld unless ``withhold_without_compaction=True``. The notice is context of its own, which the program
appends to the result.
"""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,misc,no-any-return"

from __future__ import annotations

import contextlib
import dataclasses
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final
from weakref import WeakSet

import claude_agent_sdk as sdk
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from otel_docsfab.core import Step, ToolClass
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import StepResult
from otel_docsfab.gate.hooks._base import Hooks, guarded, replace
from otel_docsfab.gate.hooks._call import Call
from otel_docsfab.gate.hooks._claude_output import Shape, output
from otel_docsfab.gate.hooks._run import Run
from otel_docsfab.gate.hooks.levers import Runtime
from otel_docsfab.supervisor import Attempt, Supervisor

_log = logging.getLogger("otel_docsfab")
_MAX_RUNS: Final = 1_000
_Key = tuple[str, str | None]
_Hook = Callable[[dict[str, Any], str | None, Any], Awaitable[dict[str, Any]]]
_opened: ContextVar[Run | None] = ContextVar("otel_docsfab_claude_agent_sdk", default=None)
"""The run that a query opened, for its first prompt."""
_EVENTS: Final = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
)


class Docsfab:
    """Judges the tools of the agents that run with its hooks."""

    def __init__(
        self, supervisor: Supervisor, *, strict: bool = False, withhold_without_compaction: bool = False
    ) -> None:
        """Judge with this supervisor.

        Args:
            supervisor: Judges the runs.
            strict: Raise for what the runtime lacks, instead of warning.
            withhold_without_compaction: Withhold results. By default there are notices only, because the program does
                not tell of single results that it clears.
        """
        self._hooks = Hooks(
            Runtime.CLAUDE_AGENT_SDK,
            supervisor,
            strict=strict,
            withhold_without_compaction=withhold_without_compaction,
        )
        self._lock = threading.Lock()
        self._runs: dict[_Key, Run] = {}
        self._calls: dict[tuple[str, str], tuple[_Key, Call]] = {}
        self._stops: dict[str, AttemptStopped] = {}
        self._bound: WeakSet[Run] = WeakSet()
        toolset = supervisor.settings.resolve(None, None).toolset
        if toolset.classify("Read", {"file_path": "x"}).tool_class is not ToolClass.READ:
            _log.warning('otel-docsfab: this toolset knows no Read; Supervisor(toolset="claude-code") does.')

    # Set-up

    def hooked(self, options: Any = None) -> Any:
        """A copy of these options with the hooks behind the host's own."""
        options = ClaudeAgentOptions() if options is None else options
        return dataclasses.replace(options, hooks=self._beside(options.hooks))

    def _beside(self, given: Any) -> dict[str, list[Any]]:
        """The host's hooks, then these; those of another supervisor give way."""
        hooks = {event: [one for one in matchers if not _is_ours(one)] for event, matchers in (given or {}).items()}
        for event in _EVENTS:
            hooks.setdefault(event, []).append(HookMatcher(hooks=[self._on]))
        return hooks

    async def query(self, *, prompt: Any, options: Any = None, **more: Any) -> AsyncIterator[Any]:
        """``claude_agent_sdk.query`` with the hooks.

        Raises:
            AttemptStopped: At the end of a stopped run; its last message came before.
        """
        run = self._hooks.begin(tells_context=False)  # before the program and its spans, so that they are in it
        token = _opened.set(run)
        try:
            with run.current():
                messages = aiter(sdk.query(prompt=prompt, options=self.hooked(options), **more))
                message = await anext(messages, None)
        finally:
            _opened.reset(token)
        session = ""
        try:
            while message is not None:
                session = getattr(message, "session_id", None) or session
                yield message
                with run.current():
                    message = await anext(messages, None)
        finally:
            run.end()
        stop = self._stops.pop(session, None)
        if stop is not None:
            raise stop

    # Hooks

    async def _on(self, given: dict[str, Any], tool_use_id: str | None, context: Any) -> dict[str, Any]:  # noqa: ARG002 - the SDK's signature
        """One hook for all events; it answers nothing when anything goes wrong."""
        return await self._answer(given) or {}

    @guarded
    async def _answer(self, given: dict[str, Any]) -> dict[str, Any] | None:
        handler = self._HANDLERS[given["hook_event_name"]]
        return handler(self, given, (given["session_id"], given.get("agent_id")))

    def _prompt(self, _: dict[str, Any], key: _Key) -> None:
        """A prompt begins an attempt; what was left open of the one before ends."""
        self._stops.pop(key[0], None)
        opened = _opened.get()
        if opened is None or opened in self._bound or opened.attempt.machine.closed:
            self._begin(key, None)
            return
        self._bound.add(opened)
        with self._lock:
            self._runs[key] = opened

    def _subagent_began(self, given: dict[str, Any], key: _Key) -> None:
        self._begin(key, given.get("agent_type"))

    def _answered(self, _: dict[str, Any], key: _Key) -> None:
        self._end(key, answered=True)

    def _compacts(self, _: dict[str, Any], key: _Key) -> None:
        self._run_of(key).attempt.compacted()

    def _pre(self, given: dict[str, Any], key: _Key) -> dict[str, Any] | None:
        """Admit or deny one call."""
        call_id = given["tool_use_id"]
        call = self._run_of(key).start(given["tool_name"], given.get("tool_input"), call_id)
        if call.denial is not None:
            return output(given, permissionDecision="deny", permissionDecisionReason=call.denial)
        with self._lock:
            self._calls[key[0], call_id] = (key, call)
        return None

    def _post(self, given: dict[str, Any], key: _Key) -> dict[str, Any] | None:
        """Judge what a call returned."""
        with self._lock:
            _, call = self._calls.pop((key[0], given["tool_use_id"]), (key, None))
        if call is None:
            return None
        result = given.get("tool_response")
        shape = Shape(given)
        answer = call.deliver(result, shape=shape, can_withhold=shape.replaced("") is not None)
        return None if answer is result else answer

    def _failed(self, given: dict[str, Any], key: _Key) -> None:
        with self._lock:
            _, call = self._calls.pop((key[0], given["tool_use_id"]), (key, None))
        if call is not None:
            call.failed()

    def _batch(self, given: dict[str, Any], key: _Key) -> dict[str, Any] | None:
        """All calls of a turn have their results: stop, or ask for the answer."""
        with self._lock:
            left = [call_id for call_id, (owner, _) in self._calls.items() if owner == key]
            never_ran = [self._calls.pop(call_id)[1] for call_id in left]
        for call in never_ran:
            call.failed()
        run = self._run_of(key)
        asked_before = run.attempt.conclude_request is not None
        try:
            ask = run.before_request()
        except AttemptStopped as stop:
            self._end(key)
            if run in self._bound:
                self._stops[key[0]] = stop
            return {"continue_": False, "stopReason": stop.message}
        if ask is None or asked_before:
            return None
        return output(given, additionalContext=ask)

    _HANDLERS: Final = {
        "UserPromptSubmit": _prompt,
        "PreToolUse": _pre,
        "PostToolUse": _post,
        "PostToolUseFailure": _failed,
        "PostToolBatch": _batch,
        "PreCompact": _compacts,
        "SubagentStart": _subagent_began,
        "SubagentStop": _answered,
        "Stop": _answered,
    }

    # Runs

    def _begin(self, key: _Key, agent_name: str | None) -> Run:
        self._end(key)
        with self._lock:
            outer = self._runs.get((key[0], None)) if key[1] is not None else None
        with outer.current() if outer is not None else contextlib.nullcontext():
            run = self._hooks.begin(agent_name, tells_context=False)
        with self._lock:
            self._runs[key] = run
            left = self._runs.pop(next(iter(self._runs))) if len(self._runs) > _MAX_RUNS else None
        if left is not None:  # a session that ended without a word
            left.end()
        return run

    def _run_of(self, key: _Key) -> Run:
        with self._lock:
            run = self._runs.get(key)
        return run or self._begin(key, None)

    def _end(self, key: _Key, *, answered: bool = False) -> None:
        with self._lock:
            run = self._runs.pop(key, None)
        if run is not None:
            run.end(answered=answered)


def _is_ours(matcher: Any) -> bool:
    return any(isinstance(getattr(hook, "__self__", None), Docsfab) for hook in matcher.hooks)


def install(supervisor: Supervisor) -> Callable[[], None]:
    """Give the hooks to all options that are made from now on; returns what undoes it.

    A stopped run ends without an answer; only ``Docsfab.query`` also raises.
    """
    docsfab = Docsfab(supervisor)

    def init(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not any(_is_ours(one) for matchers in (self.hooks or {}).values() for one in matchers):
            self.hooks = docsfab._beside(self.hooks)  # noqa: SLF001 - our own

    return replace(ClaudeAgentOptions, "__init__", init)


async def arun(
    supervisor: Supervisor | Docsfab,
    step: str | Step,
    prompt: str,
    agent_options: Any = None,
    *,
    validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
    **options: Any,
) -> StepResult:
    """Run a step with its retry of R17: a query, and once more with R17's sentence when it is granted.

    Args:
        supervisor: Opens the attempts; or a ``Docsfab`` with options of its own.
        step: Step id or ``Step``.
        prompt: The prompt.
        agent_options: ``ClaudeAgentOptions``.
        validate: The host's check of the answer.
        **options: For ``Supervisor.attempt``.

    Returns:
        The step's result; its answer is the text of the result message.
    """
    docsfab = supervisor if isinstance(supervisor, Docsfab) else Docsfab(supervisor)

    async def run_attempt(attempt: Attempt) -> Any:
        more = f"\n\n{attempt.retry_prompt}" if attempt.retry_prompt is not None else ""
        answer = None
        async for message in docsfab.query(prompt=f"{prompt}{more}", options=agent_options):
            if getattr(message, "subtype", None) == "success" and not getattr(message, "is_error", False):
                answer = getattr(message, "result", None)
        return answer

    return await docsfab._hooks.supervisor.arun_step(  # noqa: SLF001 - our own
        step, run_attempt, validate=validate, **options
    )
