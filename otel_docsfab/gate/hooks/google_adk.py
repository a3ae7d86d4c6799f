"""Google ADK: a plugin.

One line sets it up: ``Runner(..., plugins=[..., Docsfab(supervisor)])``, or ``App(plugins=...)``, last, so that it sees
each request as other plugins leave it. ``install`` gives it to every runner that is made afterwards; ``run`` and
``arun`` run a step with its retry.

Each agent of an invocation is an attempt of its own, sub-agents and agents as tools included. The notice is a member of
the function response beside its content. A tool fails when it raises or when its own error test says so.
"""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,import-untyped,misc,no-any-return"

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Token
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.runners import Runner
from google.genai import types

from otel_docsfab.core import Step
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import StepResult
from otel_docsfab.gate.hooks._adk_contents import ANSWERS, Shape, results, succeeded, withdraw
from otel_docsfab.gate.hooks._base import Hooks, guarded, replace
from otel_docsfab.gate.hooks._call import Call, stopped_text
from otel_docsfab.gate.hooks._run import Run
from otel_docsfab.gate.hooks.levers import Runtime
from otel_docsfab.supervisor import Attempt, Supervisor, current_attempt

_Key = tuple[str, str, str | None]


class Docsfab(BasePlugin):
    """Judges the tools that agents call."""

    def __init__(self, supervisor: Supervisor, *, strict: bool = False) -> None:
        """Judge with this supervisor.

        Args:
            supervisor: Judges the runs.
            strict: Nothing is missing here, so that it changes nothing.
        """
        super().__init__(name="docsfab")
        self._hooks = Hooks(Runtime.GOOGLE_ADK, supervisor, strict=strict)
        self._lock = threading.Lock()
        self._runs: dict[_Key, tuple[Run, Token[Attempt | None]]] = {}
        self._calls: dict[tuple[str, str], Call] = {}

    # The run of an agent

    @guarded
    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Open the run."""
        if not isinstance(agent, LlmAgent):
            return
        run = self._hooks.begin(agent.name)
        with self._lock:
            self._runs[_key(callback_context)] = (run, current_attempt.set(run.attempt))

    @guarded
    async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> None:  # noqa: ARG002 - its signature
        """End the run with its answer."""
        self._end(callback_context, answered=True)

    @guarded
    async def on_agent_error_callback(self, *, agent: Any, callback_context: Any, error: Exception) -> None:  # noqa: ARG002 - as above
        """End the run without one."""
        self._end(callback_context)

    @guarded
    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """End what an invocation left open."""
        self._end_all(invocation_context.invocation_id)

    def _end_all(self, invocation: str) -> None:
        with self._lock:
            runs = [self._runs.pop(key)[0] for key in list(self._runs) if key[0] == invocation]
            for call in [key for key in self._calls if key[0] == invocation]:
                del self._calls[call]
        for run in runs:
            run.end()

    def _end(self, context: Any, *, answered: bool = False) -> None:
        with self._lock:
            run, token = self._runs.pop(_key(context), (None, None))
        if token is not None:
            with contextlib.suppress(ValueError):  # it was set in another task, which is over
                current_attempt.reset(token)
        if run is not None:
            run.end(answered=answered)

    def _run_of(self, context: Any) -> Run | None:
        with self._lock:
            run, _ = self._runs.get(_key(context), (None, None))
        return run

    # Model requests

    @guarded
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        """End the turn; stop, or withdraw the tools and ask for the answer."""
        run = self._run_of(callback_context)
        if run is None:
            return None
        with run.guarded():
            run.gates(name for name in llm_request.tools_dict if name not in ANSWERS)
        try:
            ask = run.before_request(functools.partial(results, callback_context, llm_request.contents))
        except AttemptStopped as stop:
            self._end(callback_context)
            if not run.nested:
                self._end_all(callback_context.invocation_id)
                raise
            text = stopped_text(callback_context.agent_name, stop)
            return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))
        if ask is not None:
            with run.guarded():
                withdraw(llm_request, run)
                llm_request.contents.append(types.Content(role="user", parts=[types.Part(text=ask)]))
        return None

    @guarded
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:  # noqa: ARG002 - as above
        """A turn begins."""
        run = self._run_of(callback_context)
        if run is not None:
            run.after_response()

    # Tool calls

    @guarded
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> dict[str, Any] | None:
        """Admit or deny one call."""
        run = self._run_of(tool_context)
        if run is None or tool.name in ANSWERS:
            return None
        call = run.start(tool.name, tool_args, tool_context.function_call_id)
        call.on_current_span()
        if call.denial is not None:
            return {"error": call.denial}
        with self._lock:
            self._calls[_call_key(tool_context)] = call
        return None

    @guarded
    async def after_tool_callback(
        self,
        *,
        tool: Any,
        tool_args: Any,  # noqa: ARG002 - as above
        tool_context: Any,
        result: Any,
    ) -> dict[str, Any] | None:
        """Judge what a call returned."""
        call = self._finished(tool_context)
        if call is None:
            return None
        given = call.deliver(result, ok=succeeded(tool, result), shape=Shape)
        return None if given is result else given

    @guarded
    async def on_tool_error_callback(
        self,
        *,
        tool: Any,  # noqa: ARG002 - as above
        tool_args: Any,  # noqa: ARG002 - as above
        tool_context: Any,
        error: BaseException,  # noqa: ARG002 - as above
    ) -> None:
        """A call failed."""
        call = self._finished(tool_context)
        if call is not None:
            call.failed()

    def _finished(self, context: Any) -> Call | None:
        with self._lock:
            return self._calls.pop(_call_key(context), None)


def _key(context: Any) -> _Key:
    """Which agent's run a callback belongs to."""
    return (
        context.invocation_id,
        context.agent_name,
        getattr(getattr(context, "_invocation_context", None), "branch", None),
    )


def _call_key(context: Any) -> tuple[str, str]:
    return context.invocation_id, context.function_call_id


def install(supervisor: Supervisor) -> Callable[[], None]:
    """Give the plugin to every runner made from now on; returns what undoes it."""

    def init(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not any(isinstance(plugin, Docsfab) for plugin in self.plugin_manager.plugins):
            self.plugin_manager.register_plugin(Docsfab(supervisor))

    return replace(Runner, "__init__", init)


async def arun(
    supervisor: Supervisor,
    step: str | Step,
    runner: Any,
    message: str | types.Content,
    *,
    user_id: str = "docsfab",
    validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """Run a step with its retry of R17: ``runner.run_async`` in a fresh session, and once more when it is granted.

    Args:
        supervisor: Opens the attempts.
        step: Step id or ``Step``.
        runner: A runner with the plugin.
        message: The user's message.
        user_id: Whose sessions they are.
        validate: The host's check of the answer.
        agent_options: For ``runner.run_async``, such as ``run_config``.
        **options: For ``Supervisor.attempt``.

    Returns:
        The step's result; its answer is the content of the final response.
    """

    async def run_attempt(attempt: Attempt) -> Any:
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id=user_id)
        answer = None
        async for event in runner.run_async(
            user_id=user_id, session_id=session.id, new_message=_prompted(message, attempt), **(agent_options or {})
        ):
            if event.is_final_response() and event.content:
                answer = event.content
        return answer

    return await supervisor.arun_step(step, run_attempt, validate=validate, **options)


def run(
    supervisor: Supervisor, step: str | Step, runner: Any, message: str | types.Content, **options: Any
) -> StepResult:
    """``arun`` where no event loop runs; same arguments."""
    return asyncio.run(arun(supervisor, step, runner, message, **options))


def _prompted(message: str | types.Content, attempt: Attempt) -> Any:
    """The message, in a retry with a part that says what it is to say (R17)."""
    parts = [types.Part(text=message)] if isinstance(message, str) else list(message.parts or [])
    if attempt.retry_prompt is not None:
        parts.append(types.Part(text=attempt.retry_prompt))
    return types.Content(role="user", parts=parts)
