"""Pydantic AI: a capability.

One line sets it up: ``Agent(..., capabilities=[Docsfab(supervisor)])``. ``install`` gives it to every agent that is
made afterwards; ``run`` and ``arun`` run a step with its retry.

The notice is a user part of the same request, behind the tool results; the results themselves are not touched.
"""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,misc,no-any-return"

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic_ai import Agent, ToolReturn
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart

from otel_docsfab.core import Step
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import StepResult
from otel_docsfab.gate.hooks._base import Hooks, replace
from otel_docsfab.gate.hooks._run import Run
from otel_docsfab.gate.hooks.levers import Runtime
from otel_docsfab.supervisor import Attempt, Supervisor


class Docsfab(AbstractCapability[Any]):
    """Judges the function tools of an agent; output tools are answers and never withdrawn.

    Put it last: it is to see each request as the model gets it.
    """

    def __init__(self, supervisor: Supervisor, *, strict: bool = False) -> None:
        """Judge with this supervisor.

        Args:
            supervisor: Judges the runs.
            strict: Nothing is missing here, so that it changes nothing.
        """
        self._hooks = Hooks(Runtime.PYDANTIC_AI, supervisor, strict=strict)
        self._run: Run | None = None

    def get_ordering(self) -> CapabilityOrdering:
        """Inside all others."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: Any) -> AbstractCapability[Any]:  # noqa: ARG002 - the framework's signature
        """A copy of its own for each run."""
        bound = Docsfab.__new__(Docsfab)
        bound.__dict__.update(self.__dict__, _run=None)
        return bound

    async def wrap_run(self, ctx: Any, *, handler: Callable[[], Any]) -> Any:
        """Open the run, and end it."""
        run = self._run = self._hooks.begin(
            getattr(ctx.agent, "name", None), model=getattr(ctx.model, "model_name", None)
        )
        answered = False
        try:
            with run.current():
                result = await handler()
            answered = True
            return result
        finally:
            run.end(answered=answered)

    async def prepare_tools(self, ctx: Any, tool_defs: list[Any]) -> list[Any]:  # noqa: ARG002 - as above
        """Nothing is withdrawn here: what is withdrawn here could not be denied."""
        if self._run is not None:
            self._run.gates(tool.name for tool in tool_defs)
        return tool_defs

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:  # noqa: ARG002 - as above
        """End the turn; stop, or withdraw the tools and ask for the answer."""
        run = self._run
        if run is None:
            return request_context
        ask = run.before_request(functools.partial(_results, request_context.messages))
        if ask is not None:
            with run.guarded():
                return _asked(request_context, ask, run)
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:  # noqa: ARG002 - as above
        """A turn begins."""
        if self._run is not None:
            self._run.after_response()
        return response

    async def wrap_tool_execute(
        self,
        ctx: Any,  # noqa: ARG002 - as above
        *,
        call: Any,
        tool_def: Any,  # noqa: ARG002 - as above
        args: Any,
        handler: Callable[[Any], Any],
    ) -> Any:
        """Judge one call."""
        run = self._run
        if run is None:
            return await handler(args)
        judged = run.start(call.tool_name, call.args or {}, call.tool_call_id)
        with judged.running():
            if judged.denial is not None:
                return judged.denial
            try:
                result = await handler(args)
            except AttemptStopped as stop:
                return judged.stopped_inside(stop)
            except BaseException:
                judged.failed()
                raise
            return judged.deliver(result, judged=functools.partial(_content, result), shape=_Shape)


class _Shape:
    """The notice is user content beside the tool's return value."""

    @staticmethod
    def with_notice(result: Any, notice: str) -> Any:
        if not isinstance(result, ToolReturn):
            return ToolReturn(return_value=result, content=notice)
        more = result.content
        parts = [] if more is None else [more] if isinstance(more, str) else list(more)
        return dataclasses.replace(result, content=[*parts, notice])

    @staticmethod
    def notice_only(result: Any, notice: str) -> Any:
        if isinstance(result, ToolReturn):
            return dataclasses.replace(result, return_value=notice, content=None)
        return notice


def _content(result: Any) -> Any:
    """What the model gets of a result."""
    if not isinstance(result, ToolReturn):
        return result
    return result.return_value if result.content is None else [result.return_value, result.content]


def _results(messages: Sequence[Any]) -> Mapping[str, object]:
    """The tool results of a request, by call id."""
    return {
        part.tool_call_id: part.model_response_str()
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }


def _asked(request_context: Any, ask: str, run: Run) -> Any:
    """The request without function tools, and with the request for the answer as its last part."""
    parameters = request_context.model_request_parameters
    kept = [tool for tool in parameters.function_tools if run.keeps(tool.name)]
    last = request_context.messages[-1]
    if isinstance(last, ModelRequest):
        asking = dataclasses.replace(last, parts=[*last.parts, UserPromptPart(ask)])
        messages = [*request_context.messages[:-1], asking]
    else:
        messages = [*request_context.messages, ModelRequest(parts=[UserPromptPart(ask)])]
    return dataclasses.replace(
        request_context,
        messages=messages,
        model_request_parameters=dataclasses.replace(parameters, function_tools=kept),
    )


def install(supervisor: Supervisor) -> Callable[[], None]:
    """Give the capability to every agent made from now on; returns what undoes it."""

    def init(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
        given = kwargs.get("capabilities") or ()
        if not any(isinstance(capability, Docsfab) for capability in given):
            kwargs["capabilities"] = [*given, Docsfab(supervisor)]
        original(self, *args, **kwargs)

    return replace(Agent, "__init__", init)


def _prompted(prompt: Any, attempt: Attempt) -> Any:
    """The prompt, in a retry with what it is to say (R17)."""
    more = attempt.retry_prompt
    if more is None:
        return prompt
    if isinstance(prompt, str):
        return f"{prompt}\n\n{more}"
    return [*(prompt or ()), more]


def run(
    supervisor: Supervisor,
    step: str | Step,
    agent: Any,
    prompt: Any,
    *,
    validate: Callable[[Any], bool] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """Run a step with its retry of R17: ``agent.run_sync``, and once more with R17's sentence when it is granted.

    Args:
        supervisor: Opens the attempts.
        step: Step id or ``Step``.
        agent: The agent; it needs the capability.
        prompt: Its user prompt.
        validate: The host's check of the agent's result.
        agent_options: For ``agent.run_sync``.
        **options: For ``Supervisor.attempt``.

    Returns:
        The step's result; its answer is the agent's run result.
    """

    def run_attempt(attempt: Attempt) -> Any:
        return agent.run_sync(_prompted(prompt, attempt), **(agent_options or {}))

    return supervisor.run_step(step, run_attempt, validate=validate, **{"agent_name": agent.name, **options})


async def arun(
    supervisor: Supervisor,
    step: str | Step,
    agent: Any,
    prompt: Any,
    *,
    validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """``run`` on the event loop, with ``agent.run``."""

    async def run_attempt(attempt: Attempt) -> Any:
        return await agent.run(_prompted(prompt, attempt), **(agent_options or {}))

    return await supervisor.arun_step(step, run_attempt, validate=validate, **{"agent_name": agent.name, **options})
