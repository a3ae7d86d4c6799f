"""LangChain and LangGraph: a middleware.

One line sets it up: ``create_agent(..., middleware=[..., Docsfab(supervisor)])``, last, so that it sees each request as
the model gets it. ``install`` gives it to every agent that is made afterwards; ``run`` and ``arun`` run a step with its
retry. A graph of your own with a ``ToolNode`` takes ``wrap_tool_call`` and the gate's turns: see ``docs/hooks.md``.

The notice is a content block of its own behind the content of the tool message.
"""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,misc,no-any-return"

from __future__ import annotations

import functools
import secrets
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired

import langchain.agents as langchain_agents
from langchain.agents import factory
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.config import get_config

from otel_docsfab.core import Step
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import StepResult
from otel_docsfab.gate.hooks._base import Hooks, replace
from otel_docsfab.gate.hooks._call import Call
from otel_docsfab.gate.hooks._run import Run
from otel_docsfab.gate.hooks.levers import Runtime
from otel_docsfab.supervisor import Attempt, Supervisor

_KEY: Final = "docsfab_run"
_MAX_RUNS: Final = 1_000


class _State(AgentState[Any]):
    """The agent's state, with the key of its run: the one thing that all nodes of a run share."""

    docsfab_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]  # the base is unknown there


class Docsfab(AgentMiddleware[Any, Any, Any]):
    """Judges the tools that an agent calls."""

    state_schema = _State

    def __init__(self, supervisor: Supervisor, *, strict: bool = False) -> None:
        """Judge with this supervisor.

        Args:
            supervisor: Judges the runs.
            strict: Nothing is missing here, so that it changes nothing.
        """
        super().__init__()
        self.tools: list[Any] = []
        self._hooks = Hooks(Runtime.LANGCHAIN, supervisor, strict=strict)
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, Run] = OrderedDict()

    # The run

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002 - the framework's signature
        """Open the run."""
        key = secrets.token_hex(8)
        self._begin(key)
        return {_KEY: key}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Open the run, on its event loop."""
        return self.before_agent(state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - as above
        """End the run with its answer."""
        with self._lock:
            run = self._runs.pop(state.get(_KEY, ""), None)
        if run is not None:
            run.end(answered=True)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """End the run with its answer."""
        self.after_agent(state, runtime)

    def _begin(self, key: str) -> Run:
        run = self._hooks.begin(_agent_name())
        given_up: list[Run] = []
        with self._lock:
            self._runs[key] = run
            while len(self._runs) > _MAX_RUNS or next(iter(self._runs.values())).attempt.machine.closed:
                given_up.append(self._runs.popitem(last=False)[1])
        for old in given_up:
            old.end()
        return run

    def _run_of(self, state: Any) -> Run:
        """The run that these nodes belong to; a new one for a run that another process began."""
        key = state.get(_KEY, "") if isinstance(state, Mapping) else ""
        with self._lock:
            run = self._runs.get(key)
        return self._begin(key) if run is None or run.attempt.machine.closed else run

    # Model requests

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """End the turn; stop, or withdraw the tools and ask for the answer; then a turn begins."""
        run, request = self._before(request)
        with run.current():
            response = handler(request)
        run.after_response()
        return response

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same on the event loop."""
        run, request = self._before(request)
        with run.current():
            response = await handler(request)
        run.after_response()
        return response

    def _before(self, request: Any) -> tuple[Run, Any]:
        run = self._run_of(request.state)
        ask = run.before_request(functools.partial(_results, request.messages))
        with run.guarded():
            run.gates(tool.name for tool in request.tools if hasattr(tool, "name"))
            if ask is not None:
                kept = [tool for tool in request.tools if run.keeps(getattr(tool, "name", ""))]
                messages = [*request.messages, HumanMessage(ask)]
                request = request.override(tools=kept, tool_choice=None, messages=messages)
        return run, request

    # Tool calls

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Judge one call."""
        call = self._start(request)
        with call.running():
            if call.denial is not None:
                return _message(request, call.denial)
            try:
                result = handler(request)
            except AttemptStopped as stop:
                return _message(request, call.stopped_inside(stop))
            except BaseException:
                call.failed()
                raise
            return _deliver(call, result)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Judge one call on the event loop."""
        call = self._start(request)
        with call.running():
            if call.denial is not None:
                return _message(request, call.denial)
            try:
                result = await handler(request)
            except AttemptStopped as stop:
                return _message(request, call.stopped_inside(stop))
            except BaseException:
                call.failed()
                raise
            return _deliver(call, result)

    def _start(self, request: Any) -> Call:
        call = request.tool_call
        return self._run_of(request.state).start(call["name"], call["args"], call["id"])


def _agent_name() -> str | None:
    """The name that the running graph goes by."""
    try:
        name = get_config().get("metadata", {}).get("lc_agent_name")
    except RuntimeError:
        return None
    return name if isinstance(name, str) else None


def _message(request: Any, text: str) -> Any:
    call = request.tool_call
    return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")


def _deliver(call: Call, result: Any) -> Any:
    ok = getattr(result, "status", None) != "error"
    return call.deliver(result, ok=ok, judged=functools.partial(_content, result), shape=_Shape)


def _content(result: Any) -> Any:
    """What the model gets of a result; that of a command is not known."""
    return result.content if isinstance(result, ToolMessage) else result


class _Shape:
    """The notice is a text block of the tool message."""

    @staticmethod
    def with_notice(result: Any, notice: str) -> Any:
        content = result.content
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        return result.model_copy(update={"content": [*blocks, {"type": "text", "text": notice}]})

    @staticmethod
    def notice_only(result: Any, notice: str) -> Any:
        return result.model_copy(update={"content": notice})


def _results(messages: Sequence[Any]) -> Mapping[str, object]:
    """The tool results of a request, by call id."""
    return {
        message.tool_call_id: message.content if isinstance(message.content, str) else repr(message.content)
        for message in messages
        if isinstance(message, ToolMessage)
    }


def install(supervisor: Supervisor) -> Callable[[], None]:
    """Give the middleware to every agent that ``create_agent`` makes from now on; returns what undoes it.

    Modules that took ``create_agent`` by name before this keep the plain one.
    """

    def create_agent(original: Callable[..., Any], *args: Any, middleware: Sequence[Any] = (), **kwargs: Any) -> Any:
        if not any(isinstance(one, Docsfab) for one in middleware):
            middleware = [*middleware, Docsfab(supervisor)]
        return original(*args, middleware=middleware, **kwargs)

    undone = [replace(home, "create_agent", create_agent) for home in (factory, langchain_agents)]

    def undo() -> None:
        for one in undone:
            one()

    return undo


def _prompted(inputs: Any, attempt: Attempt) -> Any:
    """The agent's input, in a retry with a message that says what it is to say (R17)."""
    if attempt.retry_prompt is None:
        return inputs
    return {**inputs, "messages": [*inputs.get("messages", ()), HumanMessage(attempt.retry_prompt)]}


def run(
    supervisor: Supervisor,
    step: str | Step,
    agent: Any,
    inputs: Mapping[str, Any],
    *,
    validate: Callable[[Any], bool] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """Run a step with its retry of R17: ``agent.invoke``, and once more with R17's sentence when it is granted.

    Args:
        supervisor: Opens the attempts.
        step: Step id or ``Step``.
        agent: An agent with the middleware. With a checkpointer, give each step a thread of its own: a retry that goes
            on in the thread of the stopped attempt has all that was read there before it.
        inputs: Its input, with ``messages``.
        validate: The host's check of the agent's final state.
        agent_options: For ``agent.invoke``, such as ``config``.
        **options: For ``Supervisor.attempt``.

    Returns:
        The step's result; its answer is the agent's final state.
    """

    def run_attempt(attempt: Attempt) -> Any:
        return agent.invoke(_prompted(inputs, attempt), **(agent_options or {}))

    return supervisor.run_step(step, run_attempt, validate=validate, **options)


async def arun(
    supervisor: Supervisor,
    step: str | Step,
    agent: Any,
    inputs: Mapping[str, Any],
    *,
    validate: Callable[[Any], bool | Awaitable[bool]] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> StepResult:
    """``run`` on the event loop, with ``agent.ainvoke``."""

    async def run_attempt(attempt: Attempt) -> Any:
        return await agent.ainvoke(_prompted(inputs, attempt), **(agent_options or {}))

    return await supervisor.arun_step(step, run_attempt, validate=validate, **options)
