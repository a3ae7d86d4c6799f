"""The stories on the OpenAI Agents SDK. Run as a module in its environment; prints facts."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool, set_tracing_disabled
from agents.run_config import ModelInputData
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_docsfab.gate.hooks import openai_agents as hooks
from tests.frameworks.enforce.stories import LOOP, in_mode, played, stories_of
from tests.frameworks.enforce.story import ANSWER, READ, Facts, Request, Script, Stage, Turn, tell


def texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [part["text"] for part in content]


def received(given: Any, tools: list[Any]) -> Request:
    results: dict[str, list[str]] = {}
    users: list[str] = []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if item.get("type") == "function_call_output":
            results[item["call_id"]] = texts(item["output"])
        elif item.get("role") == "user":
            users.extend(texts(item["content"]))
    return Request([tool.name for tool in tools], results, users)


class Scripted(Model):
    """Answers as its script says."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def respond(self, given: Any, tools: list[Any]) -> list[Any]:
        turn = self.script.next(received(given, tools))
        if turn is None:
            text = ResponseOutputText(type="output_text", text=ANSWER, annotations=[])
            return [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])]
        return [
            ResponseFunctionToolCall(type="function_call", call_id=key, name=name, arguments=json.dumps(args))
            for key, (name, args) in zip(self.script.ids(), turn, strict=True)
        ]

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - its name
        model_settings: Any,
        tools: Any,
        *_: Any,
        **__: Any,
    ) -> Any:
        return ModelResponse(output=self.respond(input, tools), usage=Usage(), response_id=None)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - its name
        model_settings: Any,
        tools: Any,
        *_: Any,
        **__: Any,
    ) -> Any:
        response = Response(
            id="r",
            created_at=0,
            model="scripted",
            object="response",
            output=self.respond(input, tools),
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


class Driver:
    modes = ("sync", "async", "stream")

    def agent(self, stage: Stage, *, name: str = "agent", tools: Any = ()) -> Any:
        bodies = stage.tools

        @function_tool
        def read(path: str) -> str:
            return bodies.read(path)

        @function_tool
        def edit(path: str, text: str) -> str:
            return bodies.edit(path, text)

        @function_tool
        def submit_quality_evaluation(verdict: str) -> str:
            return bodies.submit(verdict)

        return Agent(name=name, model=Scripted(stage.script), tools=[read, edit, submit_quality_evaluation, *tools])

    def play(self, stage: Stage, mode: str, *, provider: TracerProvider | None = None, hooks: bool = True) -> str:
        instrumentor = OpenAIAgentsInstrumentor()
        if provider is not None:
            set_tracing_disabled(False)
            instrumentor.instrument(tracer_provider=provider)
        try:
            return self.run(stage, self.agent(stage), mode, hooked=hooks)
        finally:
            if provider is not None:
                instrumentor.uninstrument()
                set_tracing_disabled(True)

    def run(self, stage: Stage, agent: Any, mode: str, *, hooked: bool = True, **options: Any) -> str:
        runner = hooks.Docsfab(stage.supervisor) if hooked else Runner
        options = {"max_turns": 50, **options}

        async def asynchronous() -> str:
            return str((await runner.run(agent, "go", **options)).final_output)

        async def stream() -> str:
            result = runner.run_streamed(agent, "go", **options)
            async for _ in result.stream_events():
                pass
            return str(result.final_output)

        return in_mode(mode, lambda: str(runner.run_sync(agent, "go", **options).final_output), asynchronous, stream)

    def step(self, stage: Stage, mode: str, **options: Any) -> Any:
        agent = self.agent(stage)
        more = {"agent_options": {"max_turns": 50}, **options}
        return in_mode(
            mode,
            lambda: hooks.run(stage.supervisor, "step", agent, "go", **more),
            lambda: hooks.arun(stage.supervisor, "step", agent, "go", **more),
            lambda: None,
        )


driver = Driver()


def eviction() -> Facts:
    """An input filter clears old results: they are given again, and nothing stops."""

    def trim(data: Any) -> Any:
        items = data.model_data.input
        cleared = [
            {**item, "output": "[cleared]"}
            if item.get("type") == "function_call_output" and item is not items[-1]
            else item
            for item in items
        ]
        return ModelInputData(input=cleared, instructions=data.model_data.instructions)

    stage = Stage(*LOOP[:30])
    config = RunConfig(call_model_input_filter=trim)
    return played(stage, lambda: driver.run(stage, driver.agent(stage), "sync", run_config=config))


def subagent(*reads: Turn) -> Facts:
    """A tool runs another agent, which reads the same file."""
    stage = Stage(READ, [("ask", {"input": "q"})], READ)
    inner = Stage(*reads)
    inner.supervisor = stage.supervisor
    ask = driver.agent(inner, name="sub").as_tool("ask", "Ask.", max_turns=50)
    return played(stage, lambda: driver.run(stage, driver.agent(stage, tools=[ask]), "async"))


def handoff() -> Facts:
    """An agent hands over to another: one conversation, one attempt."""
    stage = Stage(READ, [("transfer_to_second", {})], READ)
    first, second = driver.agent(stage), driver.agent(stage, name="second")
    first.handoffs = [second]
    return played(stage, lambda: driver.run(stage, first, "async"))


def blind() -> Facts:
    """The server keeps the conversation: notices, but nothing is withheld."""
    stage = Stage(*LOOP[:12])
    return played(stage, lambda: driver.run(stage, driver.agent(stage), "async", conversation_id="c"))


def blind_told() -> Facts:
    """The same, told to withhold all the same; and strict."""
    stage = Stage(*LOOP[:12])
    runner = hooks.Docsfab(stage.supervisor, withhold_without_compaction=True)
    strict = hooks.Docsfab(stage.supervisor, strict=True)
    options = {"max_turns": 50, "conversation_id": "c"}
    agent = driver.agent(stage)
    facts = played(stage, lambda: str(asyncio.run(runner.run(agent, "go", **options)).final_output))
    try:
        asyncio.run(strict.run(agent, "go", **options))
    except Exception as error:  # noqa: BLE001 - the test looks at it
        facts.more["strict"] = repr(error)
    return facts


class Memory:
    """A session that keeps its items."""

    session_id = "s"
    session_settings = None

    def __init__(self) -> None:
        self.items: list[Any] = []

    async def get_items(self, limit: int | None = None) -> list[Any]:
        return list(self.items)

    async def add_items(self, items: list[Any]) -> None:
        self.items.extend(items)

    async def pop_item(self) -> Any:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items.clear()


def pending() -> Facts:
    """The ceiling falls in the middle of a turn: every call of it has its result in the session all the same."""
    stage = Stage(READ * 4, limits={"execution.toolCallCeiling": 2})
    memory = Memory()
    facts = played(stage, lambda: driver.run(stage, driver.agent(stage), "async", session=memory))
    facts.more["called"] = [item["call_id"] for item in memory.items if item.get("type") == "function_call"]
    facts.more["returned"] = {
        item["call_id"]: str(item["output"]) for item in memory.items if item.get("type") == "function_call_output"
    }
    return facts


def installed() -> Facts:
    """Runs after ``install`` have the hooks; after its undoing, none."""
    stage = Stage(READ, READ)
    undo = hooks.install(stage.supervisor)
    try:
        facts = played(stage, lambda: driver.run(stage, driver.agent(stage), "sync", hooked=False))
    finally:
        undo()
    plain = Stage(READ, READ)
    driver.run(plain, driver.agent(plain), "sync", hooked=False)
    return facts


STORIES = stories_of(driver) | {
    "eviction": eviction,
    "subagent": lambda: subagent(READ, READ),
    "subagent-loops": lambda: subagent(*LOOP),
    "handoff": handoff,
    "blind": blind,
    "blind-told": blind_told,
    "pending": pending,
    "installed": installed,
}

if __name__ == "__main__":
    set_tracing_disabled(True)
    tell(STORIES, sys.argv[1:])
