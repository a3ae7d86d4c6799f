"""Pydantic AI and LangChain at once in one process. Run as a module in the environment of both; prints facts."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import langchain.agents
import pydantic_ai

from otel_docsfab import AttemptStopped, instrument, uninstrument
from otel_docsfab.testing import MemorySink
from tests.frameworks.enforce import langchain_stories, pydantic_ai_stories
from tests.frameworks.enforce.stories import LOOP
from tests.frameworks.enforce.story import READ, Facts, Script, Stage, tell

ROUNDS = 4


class Crowd:
    """Scripted loops of both runtimes over the same file, under one supervisor."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.stages: list[Stage] = []
        self.stops: list[str] = []

    def one(self) -> Stage:
        made = Stage(*LOOP[:20])
        made.supervisor = self.stage.supervisor
        self.stages.append(made)
        return made

    def play(self, driver: Any) -> None:
        try:
            driver.play(self.one(), "sync")
        except AttemptStopped as stop:
            self.stops.append(stop.message)

    async def run(self, agent: Any, given: Any) -> None:
        try:
            await agent(given)
        except AttemptStopped as stop:
            self.stops.append(stop.message)

    def report(self) -> Facts:
        return self.stage.report(stops=self.stops, requests=[len(one.script.seen) for one in self.stages])


def on_one_loop() -> Facts:
    """Agents of both runtimes as coroutines of one event loop."""
    crowd = Crowd()

    async def together() -> None:
        runs = []
        for _ in range(ROUNDS):
            runs.append(crowd.run(pydantic_ai_stories.driver.agent(crowd.one()).run, "go"))
            runs.append(crowd.run(langchain_stories.driver.agent(crowd.one()).ainvoke, langchain_stories.GO))
        await asyncio.gather(*runs)

    asyncio.run(together())
    return crowd.report()


def in_threads() -> Facts:
    """Agents of both runtimes in a thread each."""
    crowd = Crowd()
    drivers = [pydantic_ai_stories.driver, langchain_stories.driver] * ROUNDS
    threads = [threading.Thread(target=crowd.play, args=(driver,)) for driver in drivers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return crowd.report()


def inside() -> Facts:
    """An agent of one runtime is a tool of the other's, and of the same name."""
    stage = Stage(READ, [("ask", {"question": "q"})], READ)
    inner = Stage(READ, READ)
    inner.supervisor = stage.supervisor
    sub = langchain_stories.driver.agent(inner)
    agent = pydantic_ai_stories.driver.agent(stage)

    @agent.tool_plain
    async def ask(question: str) -> str:
        return str((await sub.ainvoke({"messages": [("user", question)]}))["messages"][-1].content)

    stage.facts.answer = asyncio.run(agent.run("go")).output
    return stage.report()


def instrumented() -> Facts:
    """``instrument(mode="enforce")`` picks the adapters of what is there."""
    stage = Stage()
    sink = stage.sink = MemorySink()
    stage.supervisor = instrument(mode="enforce", sinks=[sink])
    scripts = [Script([READ, READ]), Script([READ, READ])]
    first, second = (Stage() for _ in scripts)
    first.script, second.script = scripts
    pydantic_ai_stories.driver.run(pydantic_ai_stories.driver.agent(first, hooked=False), "sync")
    langchain_stories.driver.run(langchain_stories.driver.agent(second, hooked=False), "sync")
    uninstrument()
    plain = (pydantic_ai.Agent.__init__.__module__, langchain.agents.create_agent.__module__)
    wrapped = hasattr(pydantic_ai.Agent.__init__, "__wrapped__") or hasattr(
        langchain.agents.create_agent, "__wrapped__"
    )
    return stage.report(plain=plain, wrapped=wrapped)


STORIES = {
    "async": on_one_loop,
    "threads": in_threads,
    "inside": inside,
    "instrumented": instrumented,
}

if __name__ == "__main__":
    tell(STORIES, sys.argv[1:])
