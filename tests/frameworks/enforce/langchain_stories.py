"""The stories on LangChain. Run as a module in its environment; prints facts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import langchain.agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_docsfab.gate.hooks import langchain as hooks
from tests.frameworks.enforce.stories import LOOP, in_mode, played, stories_of
from tests.frameworks.enforce.story import ANSWER, READ, Facts, Request, Script, Stage, Turn, tell

GO = {"messages": [("user", "go")]}


def parts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [block["text"] for block in content]


class Model(BaseChatModel):
    """Answers as its script says."""

    script: Any
    offered: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Model:
        return Model(script=self.script, offered=tuple(one.name for one in tools))

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        results = {one.tool_call_id: parts(one.content) for one in messages if isinstance(one, ToolMessage)}
        users = [text for one in messages if isinstance(one, HumanMessage) for text in parts(one.content)]
        script: Script = self.script
        turn = script.next(Request(list(self.offered), results, users))
        message = AIMessage(ANSWER)
        if turn is not None:
            calls = zip(script.ids(), turn, strict=True)
            message = AIMessage("", tool_calls=[{"name": name, "args": args, "id": key} for key, (name, args) in calls])
        return ChatResult(generations=[ChatGeneration(message=message)])


class Driver:
    modes = ("sync", "async", "stream")

    def agent(self, stage: Stage, *, hooked: bool = True, more: Any = (), tools: Any = (), **options: Any) -> Any:
        bodies = stage.tools

        @tool
        def read(path: str) -> str:
            """Read."""
            try:
                return bodies.read(path)
            except FileNotFoundError as error:
                raise ToolException("no such file") from error

        @tool
        def edit(path: str, text: str) -> str:
            """Edit."""
            return bodies.edit(path, text)

        @tool
        def submit_quality_evaluation(verdict: str) -> str:
            """Submit."""
            return bodies.submit(verdict)

        read.handle_tool_error = True
        middleware = [*more, *([hooks.Docsfab(stage.supervisor)] if hooked else [])]
        named = {"name": "agent", **options}
        return langchain.agents.create_agent(
            Model(script=stage.script), [read, edit, submit_quality_evaluation, *tools], middleware=middleware, **named
        )

    def play(self, stage: Stage, mode: str, *, provider: TracerProvider | None = None, hooks: bool = True) -> str:
        instrumentor = LangChainInstrumentor()
        if provider is not None:
            instrumentor.instrument(tracer_provider=provider)
        try:
            return self.run(self.agent(stage, hooked=hooks), mode)
        finally:
            if provider is not None:
                instrumentor.uninstrument()

    def run(self, agent: Any, mode: str, inputs: Any = GO, config: Any = None) -> str:
        async def asynchronous() -> Any:
            return await agent.ainvoke(inputs, config)

        async def stream() -> Any:
            return [state async for state in agent.astream(inputs, config, stream_mode="values")][-1]

        state = in_mode(mode, lambda: agent.invoke(inputs, config), asynchronous, stream)
        return str(state["messages"][-1].content)

    def step(self, stage: Stage, mode: str, **options: Any) -> Any:
        agent = self.agent(stage)
        return in_mode(
            mode,
            lambda: hooks.run(stage.supervisor, "step", agent, GO, **options),
            lambda: hooks.arun(stage.supervisor, "step", agent, GO, **options),
            lambda: None,
        )


driver = Driver()


class Trim(AgentMiddleware):
    """Clears all tool results but the newest."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        messages = [
            one.model_copy(update={"content": "[cleared]"})
            if isinstance(one, ToolMessage) and one is not request.messages[-1]
            else one
            for one in request.messages
        ]
        return handler(request.override(messages=messages))


def eviction() -> Facts:
    """A middleware clears old results: they are given again, and nothing stops."""
    stage = Stage(*LOOP[:30])
    return played(stage, lambda: driver.run(driver.agent(stage, more=[Trim()]), "sync"))


def subagent(*reads: Turn) -> Facts:
    """A tool runs another agent, which reads the same file."""
    stage = Stage(READ, [("ask", {"question": "q"})], READ)
    inner = Stage(*reads)
    inner.supervisor = stage.supervisor
    sub = driver.agent(inner, name="sub")

    @tool
    async def ask(question: str) -> str:
        """Ask."""
        return str((await sub.ainvoke({"messages": [("user", question)]}))["messages"][-1].content)

    return played(stage, lambda: driver.run(driver.agent(stage, tools=[ask]), "async"))


def pending() -> Facts:
    """The ceiling falls in the middle of a turn: every call of it has its result in the thread all the same."""
    stage = Stage(READ * 4, limits={"execution.toolCallCeiling": 2})
    agent = driver.agent(stage, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    facts = played(stage, lambda: driver.run(agent, "sync", config=thread))
    messages = agent.get_state(thread).values["messages"]
    facts.more["called"] = [call["id"] for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    facts.more["returned"] = {one.tool_call_id: str(one.content) for one in messages if isinstance(one, ToolMessage)}
    return facts


def threads() -> Facts:
    """Two prompts of one thread are two attempts; what the first was told says nothing in the second."""
    stage = Stage(READ, READ)
    agent = driver.agent(stage, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    driver.run(agent, "sync", config=thread)
    stage.script.calls = 0
    return played(stage, lambda: driver.run(agent, "sync", config=thread))


def installed() -> Facts:
    """Agents made after ``install`` have the hooks; made after its undoing, none."""
    stage = Stage(READ, READ)
    undo = hooks.install(stage.supervisor)
    try:
        agent = driver.agent(stage, hooked=False)
    finally:
        undo()
    driver.run(driver.agent(Stage(READ, READ), hooked=False), "sync")
    return played(stage, lambda: driver.run(agent, "sync"))


STORIES = stories_of(driver) | {
    "eviction": eviction,
    "subagent": lambda: subagent(READ, READ),
    "subagent-loops": lambda: subagent(*LOOP),
    "pending": pending,
    "threads": threads,
    "installed": installed,
}

if __name__ == "__main__":
    tell(STORIES, sys.argv[1:])
