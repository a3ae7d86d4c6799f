"""OpenAI Agents SDK: its runner, with hooks.

One line sets it up: ``openai_agents.install(supervisor)`` for every run, or ``runner = Docsfab(supervisor)`` and
``runner.run(agent, ...)`` in place of ``Runner.run``. ``run`` and ``arun`` run a step with its retry.

Function tools and those of MCP servers are judged; hosted tools run elsewhere and are only withdrawn. The notice is an
output item of its own behind the tool's output. Agents that hand over to one another are one conversation and so one
attempt; an agent used as a tool is an attempt of its own. When the server keeps the conversation, nobody here sees
what is still in the context: such runs get notices, and nothing is withheld unless
``withhold_without_compaction=True``.
"""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,misc,no-any-return"

from __future__ import annotations

import asyncio
import dataclasses
import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from agents import FunctionTool, RunConfig, Runner, ToolOutputFileContent, ToolOutputImage, ToolOutputText
from agents.agent import AgentBase
from agents.run import AgentRunner
from agents.run_config import ModelInputData

from otel_docsfab.core import Step
from otel_docsfab.gate import StepResult
from otel_docsfab.gate.hooks._base import Hooks
from otel_docsfab.gate.hooks._openai_tools import judged, results
from otel_docsfab.gate.hooks._run import Run
from otel_docsfab.gate.hooks.levers import Runtime
from otel_docsfab.supervisor import Attempt, Site, Supervisor

_docsfab: ContextVar[Docsfab | None] = ContextVar("otel_docsfab_openai_agents", default=None)
_run: ContextVar[_Run | None] = ContextVar("otel_docsfab_openai_agents_run", default=None)
_installed: list[Docsfab] = []
_SERVER_KEEPS: Final = ("conversation_id", "previous_response_id", "auto_previous_response_id")
_STRUCTURED: Final = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


class Docsfab:
    """Runs agents under a supervisor; its methods are those of ``agents.Runner``."""

    def __init__(
        self, supervisor: Supervisor, *, strict: bool = False, withhold_without_compaction: bool = False
    ) -> None:
        """Judge with this supervisor.

        Args:
            supervisor: Judges the runs.
            strict: Raise, where a run's context is kept by the server, instead of warning.
            withhold_without_compaction: Withhold in such runs all the same.
        """
        self.hooks = Hooks(
            Runtime.OPENAI_AGENTS,
            supervisor,
            strict=strict,
            withhold_without_compaction=withhold_without_compaction,
        )
        _patch()

    async def run(self, agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the framework's name
        """``Runner.run``."""
        with self._here():
            return await Runner.run(agent, input, **options)

    def run_sync(self, agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - as above
        """``Runner.run_sync``."""
        with self._here():
            return Runner.run_sync(agent, input, **options)

    def run_streamed(self, agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - as above
        """``Runner.run_streamed``."""
        with self._here():
            return Runner.run_streamed(agent, input, **options)

    @contextmanager
    def _here(self) -> Iterator[None]:
        token = _docsfab.set(self)
        try:
            yield
        finally:
            _docsfab.reset(token)


class _Run:
    """One run: its configuration and its tools."""

    def __init__(self, run: Run, given: Any) -> None:
        """Lay the hooks over the configuration that the host gave."""
        self.run = run
        self.owns_provider = given is None or (isinstance(given, dict) and "model_provider" not in given)
        config = RunConfig() if given is None else RunConfig(**given) if isinstance(given, dict) else given
        outer = getattr(config.call_model_input_filter, "__self__", None)
        if isinstance(outer, _Run):  # an agent used as a tool inherits the configuration around it
            config = outer.host_config
        self.host_config: Any = config
        self.config = dataclasses.replace(config, call_model_input_filter=self.filter, tool_error_formatter=self.format)
        self._tools: dict[int, tuple[Any, Any]] = {}

    def tools(self, tools: list[Any]) -> list[Any]:
        """The tools of the next request: judged ones, or after the ask those that stay."""
        if self.run.turn_over() is None:
            return [self._judged(tool) for tool in tools]
        self.config.tool_not_found_behavior = "return_error_to_model"  # a call of a withdrawn tool is denied
        return [self._judged(tool) for tool in tools if self.run.keeps(tool.name)]

    def _judged(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool) or getattr(tool, "output_json_schema", None) is not None:
            return tool
        known = self._tools.get(id(tool))
        if known is None:
            known = self._tools[id(tool)] = (tool, judged(tool, self.run))
            self.run.gates([tool.name])
        return known[1]

    async def filter(self, data: Any) -> Any:
        """The model's input: the host's own filter, then the request for the answer; or the stop."""
        own = self.host_config.call_model_input_filter
        if own is not None:
            filtered = own(data)
            given = await filtered if inspect.isawaitable(filtered) else filtered
        else:
            given = data.model_data
        ask = self.run.before_request(functools.partial(results, given.input))
        if ask is None:
            return given
        return ModelInputData(input=[*given.input, {"role": "user", "content": ask}], instructions=given.instructions)

    async def format(self, args: Any) -> str | None:
        """The text for a call that did not run: our denial, or the host's own."""
        if args.kind == "tool_not_found" and self.run.attempt.conclude_request is not None:
            denial = self.run.start(args.tool_name, None, args.call_id).denial
            if denial is not None:
                return denial
        own = self.host_config.tool_error_formatter
        if own is None:
            return None
        text = own(args)
        return await text if inspect.isawaitable(text) else text


def _begin(agent: Any, options: dict[str, Any]) -> _Run | None:
    """Open the run of a runner's call; None when nobody supervises it."""
    docsfab = _docsfab.get() or (_installed[-1] if _installed else None)
    if docsfab is None:
        return None
    tells = not any(options.get(name) for name in _SERVER_KEEPS)
    supervisor = docsfab.hooks.supervisor
    run = docsfab.hooks.begin(getattr(agent, "name", None), tells_context=tells)
    try:
        hooked = _Run(run, options.get("run_config"))
    except Exception as error:  # noqa: BLE001 - a fault here must not cost the host its run
        supervisor.faults.count(Site.HOOK, error, "A run is not watched.")
        run.end()
        return None
    options["run_config"] = hooked.config
    return hooked


@functools.cache
def _patch() -> None:
    """Lay the hooks into the runner and the agents' tools; without a supervisor they do nothing."""
    plain_run, plain_streamed, plain_tools = AgentRunner.run, AgentRunner.run_streamed, AgentBase.get_all_tools

    @functools.wraps(plain_run)
    async def run(self: Any, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - its name there
        hooked = _begin(starting_agent, options)
        if hooked is None:
            return await plain_run(self, starting_agent, input, **options)
        answered = False
        token = _run.set(hooked)
        try:
            with hooked.run.current():
                result = await plain_run(self, starting_agent, input, **options)
            answered = not getattr(result, "interruptions", None)
            return result
        finally:
            _run.reset(token)
            hooked.run.end(answered=answered)
            if hooked.owns_provider:
                with hooked.run.guarded():
                    await hooked.config.model_provider.aclose()

    @functools.wraps(plain_streamed)
    def run_streamed(self: Any, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - as above
        hooked = _begin(starting_agent, options)
        if hooked is None:
            return plain_streamed(self, starting_agent, input, **options)
        token = _run.set(hooked)
        try:
            with hooked.run.current():
                result = plain_streamed(self, starting_agent, input, **options)
        except BaseException:
            hooked.run.end()
            raise
        finally:
            _run.reset(token)
        result.run_loop_task.add_done_callback(functools.partial(_streamed, hooked, result))
        return result

    @functools.wraps(plain_tools)
    async def get_all_tools(self: Any, run_context: Any) -> Any:
        tools = await plain_tools(self, run_context)
        hooked = _run.get()
        if hooked is not None:
            with hooked.run.guarded():
                return hooked.tools(tools)
        return tools

    AgentRunner.run, AgentRunner.run_streamed, AgentBase.get_all_tools = run, run_streamed, get_all_tools


def _streamed(hooked: _Run, result: Any, task: asyncio.Task[Any]) -> None:
    """A streamed run is over."""
    failed = task.cancelled() or task.exception() is not None
    hooked.run.end(answered=not failed and result.final_output is not None)
    if hooked.owns_provider:
        with hooked.run.guarded():
            closing = asyncio.ensure_future(hooked.config.model_provider.aclose())
            closing.add_done_callback(lambda done: None if done.cancelled() else done.exception())


def install(supervisor: Supervisor) -> Callable[[], None]:
    """Supervise every run from now on; returns what undoes it."""
    docsfab = Docsfab(supervisor)
    _installed.append(docsfab)

    def undo() -> None:
        if docsfab in _installed:
            _installed.remove(docsfab)

    return undo


def _prompted(given: Any, attempt: Attempt) -> Any:
    """The input, in a retry with an item that says what it is to say (R17)."""
    if attempt.retry_prompt is None:
        return given
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    return [*items, {"role": "user", "content": attempt.retry_prompt}]


def run(
    supervisor: Supervisor,
    step: str | Step,
    agent: Any,
    input: Any,  # noqa: A002 - the framework's name
    *,
    validate: Callable[[Any], bool] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """Run a step with its retry of R17: ``Runner.run_sync``, and once more with R17's sentence when it is granted.

    Args:
        supervisor: Opens the attempts.
        step: Step id or ``Step``.
        agent: The agent.
        input: Its input, a text or items. A retry begins with it anew; give it no session that holds the stopped try.
        validate: The host's check of the run's result.
        agent_options: For ``Runner.run_sync``.
        **options: For ``Supervisor.attempt``.

    Returns:
        The step's result; its answer is the runner's result.
    """
    docsfab = Docsfab(supervisor)

    def run_attempt(attempt: Attempt) -> Any:
        return docsfab.run_sync(agent, _prompted(input, attempt), **(agent_options or {}))

    return supervisor.run_step(step, run_attempt, validate=validate, **{"agent_name": agent.name, **options})


async def arun(
    supervisor: Supervisor,
    step: str | Step,
    agent: Any,
    input: Any,  # noqa: A002 - as above
    *,
    validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """``run`` on the event loop, with ``Runner.run``."""
    docsfab = Docsfab(supervisor)

    async def run_attempt(attempt: Attempt) -> Any:
        return await docsfab.run(agent, _prompted(input, attempt), **(agent_options or {}))

    return await supervisor.arun_step(step, run_attempt, validate=validate, **{"agent_name": agent.name, **options})
