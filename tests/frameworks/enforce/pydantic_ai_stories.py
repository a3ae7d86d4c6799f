"""The stories on Pydantic AI. Run as a module in its environment; prints facts."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent, InstrumentationSettings, RunContext, capture_run_messages
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from otel_docsfab.gate.hooks import pydantic_ai as hooks
from tests.frameworks.enforce.stories import LOOP, in_mode, played, stories_of
from tests.frameworks.enforce.story import ANSWER, READ, Facts, Request, Script, Stage, Turn, tell


def received(messages: list[ModelMessage], info: AgentInfo) -> Request:
    results: dict[str, list[str]] = {}
    users: list[str] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                results[part.tool_call_id] = [part.model_response_str()]
            elif isinstance(part, UserPromptPart):
                users.extend([part.content] if isinstance(part.content, str) else map(str, part.content))
    return Request([tool.name for tool in info.function_tools], results, users)


def model_of(script: Script) -> FunctionModel:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = script.next(received(messages, info))
        if turn is None:
            return ModelResponse(parts=[TextPart(ANSWER)])
        return ModelResponse(
            parts=[
                ToolCallPart(name, args, tool_call_id=key) for key, (name, args) in zip(script.ids(), turn, strict=True)
            ]
        )

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        response = respond(messages, info)
        for place, part in enumerate(response.parts):
            if isinstance(part, ToolCallPart):
                yield {place: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}
            else:
                yield part.content

    return FunctionModel(respond, stream_function=stream)


class Driver:
    modes = ("sync", "async", "stream")

    def agent(
        self, stage: Stage, *, provider: TracerProvider | None = None, hooked: bool = True, more: Any = ()
    ) -> Agent:
        agent = Agent(
            model_of(stage.script),
            name="agent",
            capabilities=[*more, *([hooks.Docsfab(stage.supervisor)] if hooked else [])],
        )
        if provider is not None:
            agent.instrument = InstrumentationSettings(tracer_provider=provider)
        tools = stage.tools

        @agent.tool_plain
        def read(path: str) -> str:
            try:
                return tools.read(path)
            except FileNotFoundError as error:
                raise ToolFailed("no such file") from error

        @agent.tool_plain
        def edit(path: str, text: str) -> str:
            return tools.edit(path, text)

        @agent.tool_plain
        def submit_quality_evaluation(verdict: str) -> str:
            return tools.submit(verdict)

        return agent

    def play(self, stage: Stage, mode: str, *, provider: TracerProvider | None = None, hooks: bool = True) -> str:
        return self.run(self.agent(stage, provider=provider, hooked=hooks), mode)

    def run(self, agent: Agent, mode: str) -> str:
        async def asynchronous() -> str:
            return (await agent.run("go")).output

        async def stream() -> str:
            async with agent.run_stream("go") as result:
                return await result.get_output()

        return in_mode(mode, lambda: agent.run_sync("go").output, asynchronous, stream)

    def step(self, stage: Stage, mode: str, **options: Any) -> Any:
        agent = self.agent(stage)
        return in_mode(
            mode,
            lambda: hooks.run(stage.supervisor, "step", agent, "go", **options),
            lambda: hooks.arun(stage.supervisor, "step", agent, "go", **options),
            lambda: None,
        )


driver = Driver()


def eviction() -> Facts:
    """A history processor clears old results: they are given again, and nothing stops."""

    def trim(messages: list[ModelMessage]) -> list[ModelMessage]:
        return [
            dataclasses.replace(
                message,
                parts=[
                    dataclasses.replace(part, content="[cleared]") if isinstance(part, ToolReturnPart) else part
                    for part in message.parts
                ],
            )
            if message is not messages[-1]
            else message
            for message in messages
        ]

    stage = Stage(*LOOP[:30])
    return played(stage, lambda: driver.run(driver.agent(stage, more=[ProcessHistory(trim)]), "sync"))


def subagent(*reads: Turn) -> Facts:
    """A tool runs another agent, which reads the same file."""
    stage = Stage(READ, [("ask", {"question": "q"})], READ)
    inner = Stage(*reads)
    inner.supervisor = stage.supervisor
    sub = driver.agent(inner)
    sub.name = "sub"
    agent = driver.agent(stage)

    @agent.tool
    async def ask(ctx: RunContext[None], question: str) -> str:
        return (await sub.run(question)).output

    return played(stage, lambda: driver.run(agent, "async"))


def pending() -> Facts:
    """The ceiling falls in the middle of a turn: every call of it has its result all the same."""
    stage = Stage(READ * 4, limits={"execution.toolCallCeiling": 2})
    with capture_run_messages() as messages:
        facts = played(stage, lambda: driver.play(stage, "sync"))
    parts = [part for message in messages for part in message.parts]
    facts.more["called"] = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    facts.more["returned"] = {part.tool_call_id: part.content for part in parts if isinstance(part, ToolReturnPart)}
    return facts


def installed() -> Facts:
    """Agents made after ``install`` have the hooks; made after its undoing, none."""
    stage = Stage(READ, READ)
    undo = hooks.install(stage.supervisor)
    try:
        agent = driver.agent(stage, hooked=False)
    finally:
        undo()
    plain = driver.agent(Stage(READ, READ), hooked=False)
    driver.run(plain, "sync")
    return played(stage, lambda: driver.run(agent, "sync"))


STORIES = stories_of(driver) | {
    "eviction": eviction,
    "subagent": lambda: subagent(READ, READ),
    "subagent-loops": lambda: subagent(*LOOP),
    "pending": pending,
    "installed": installed,
}

if __name__ == "__main__":
    tell(STORIES, sys.argv[1:])
