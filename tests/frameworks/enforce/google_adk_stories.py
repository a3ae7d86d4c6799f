"""The stories on Google ADK. Run as a module in its environment; prints facts."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator
from typing import Any

os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool
from google.genai import types
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from otel_docsfab import AttemptStopped
from otel_docsfab.gate.hooks import google_adk as hooks
from tests.frameworks.enforce.stories import LOOP, played, stories_of
from tests.frameworks.enforce.story import ANSWER, READ, Facts, Request, Script, Stage, Turn, tell


class Switch(SpanProcessor):
    """ADK keeps the first tracer provider for good; this leads its spans to the one of the moment."""

    to: Any = None

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self.to is not None:
            self.to.on_start(span, parent_context)

    def on_end(self, span: Any) -> None:
        if self.to is not None:
            self.to.on_end(span)


SWITCH = Switch()
SAID = types.Content(role="user", parts=[types.Part(text="go")])


def received(request: LlmRequest, calls: list[str]) -> Request:
    """ADK takes its own call ids out of requests; these are in the order in which they were made."""
    users: list[str] = []
    responses: list[Any] = []
    for content in request.contents:
        for part in content.parts or []:
            if part.function_response is not None:
                responses.append(part.function_response)
            elif part.text is not None and content.role == "user":
                users.append(part.text)
    results = {response.id or key: texts(response.response) for response, key in zip(responses, calls, strict=False)}
    offered = [one.name for tool in request.config.tools or [] for one in tool.function_declarations or []]
    return Request(offered, results, users)


def texts(response: dict[str, Any]) -> list[str]:
    """The members' texts: the content, then the notice."""
    return [str(value) for value in response.values()]


class Model(BaseLlm):
    """Answers as its script says."""

    model: str = "scripted"
    script: Any = None
    ids: Any = True
    made: list[str] = []  # noqa: RUF012 - pydantic copies it

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse]:
        script: Script = self.script
        turn = script.next(received(llm_request, self.made))
        if turn is None:
            if stream:
                partial = types.Content(role="model", parts=[types.Part(text=ANSWER[:3])])
                yield LlmResponse(content=partial, partial=True)
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=ANSWER)]))
            return
        keys = script.ids()
        self.made.extend(keys)
        calls = [
            types.FunctionCall(id=key if self.ids else None, name=name, args=args)
            for key, (name, args) in zip(keys, turn, strict=True)
        ]
        parts = [types.Part(function_call=call) for call in calls]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class Driver:
    modes = ("sync", "async", "stream")

    def agent(
        self, stage: Stage, *, name: str = "agent", ids: bool = True, tools: Any = (), **options: Any
    ) -> LlmAgent:
        bodies = stage.tools

        def read(path: str) -> Any:
            try:
                return bodies.read(path)
            except FileNotFoundError:
                return {"error": "no such file"}

        def edit(path: str, text: str) -> str:
            return bodies.edit(path, text)

        def submit_quality_evaluation(verdict: str) -> str:
            return bodies.submit(verdict)

        model = Model(script=stage.script, ids=ids)
        return LlmAgent(name=name, model=model, tools=[read, edit, submit_quality_evaluation, *tools], **options)

    def runner(self, stage: Stage, agent: LlmAgent, *, hooked: bool = True, more: Any = ()) -> InMemoryRunner:
        plugins = [*more, *([hooks.Docsfab(stage.supervisor)] if hooked else [])]
        return InMemoryRunner(agent=agent, app_name="app", plugins=plugins)

    def play(self, stage: Stage, mode: str, *, provider: TracerProvider | None = None, hooks: bool = True) -> str:
        SWITCH.to = provider and provider._active_span_processor
        try:
            return self.run(self.runner(stage, self.agent(stage), hooked=hooks), mode)
        finally:
            SWITCH.to = None

    def run(self, runner: InMemoryRunner, mode: str, session: str = "s") -> str:
        async def begin() -> None:
            service = runner.session_service
            if await service.get_session(app_name="app", user_id="u", session_id=session) is None:
                await service.create_session(app_name="app", user_id="u", session_id=session)

        options: dict[str, Any] = {"user_id": "u", "session_id": session, "new_message": SAID}

        async def go() -> str:
            await begin()
            if mode == "stream":
                options["run_config"] = RunConfig(streaming_mode=StreamingMode.SSE)
            answer = ""
            async for event in runner.run_async(**options):
                answer = said(event) or answer
            return answer

        if mode != "sync":
            return asyncio.run(go())
        asyncio.run(begin())
        answer = ""
        try:
            for event in runner.run(**options):
                answer = said(event) or answer
        except RuntimeError as error:  # so the runner tells what ended its thread
            if isinstance(error.__cause__, AttemptStopped):
                raise error.__cause__ from None
            raise
        return answer

    def step(self, stage: Stage, mode: str, **options: Any) -> Any:
        runner = self.runner(stage, self.agent(stage))
        if mode == "sync":
            return hooks.run(stage.supervisor, "step", runner, "go", **options)
        return asyncio.run(hooks.arun(stage.supervisor, "step", runner, "go", **options))


def said(event: Any) -> str:
    if event.partial or event.content is None:
        return ""
    return "".join(part.text or "" for part in event.content.parts or [])


driver = Driver()


class Trim(BasePlugin):
    """Takes all tool results out of the request but those of the newest turn."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        contents = llm_request.contents
        llm_request.contents = [
            one for one in contents if one is contents[-1] or not any(part.function_response for part in one.parts)
        ]


def eviction(*, ids: bool = True) -> Facts:
    """A plugin takes old results out: they are given again, and nothing stops."""
    stage = Stage(*LOOP[:30])
    runner = driver.runner(stage, driver.agent(stage, ids=ids), more=[Trim("trim")])
    return played(stage, lambda: driver.run(runner, "async"))


def without_ids() -> Facts:
    """The model gives no call ids."""
    stage = Stage(*LOOP[:20])
    return played(stage, lambda: driver.run(driver.runner(stage, driver.agent(stage, ids=False)), "async"))


def subagent(*reads: Turn) -> Facts:
    """A tool runs another agent, which reads the same file."""
    stage = Stage(READ, [("sub", {"request": "q"})], READ)
    inner = Stage(*reads)
    inner.supervisor = stage.supervisor
    agent = driver.agent(stage, tools=[AgentTool(driver.agent(inner, name="sub"))])
    return played(stage, lambda: driver.run(driver.runner(stage, agent), "async"))


def pending() -> Facts:
    """The ceiling falls in the middle of a turn: every call of it has its result in the session all the same."""
    stage = Stage(READ * 4, limits={"execution.toolCallCeiling": 2})
    runner = driver.runner(stage, driver.agent(stage))
    facts = played(stage, lambda: driver.run(runner, "async"))
    service = runner.session_service
    session = asyncio.run(service.get_session(app_name="app", user_id="u", session_id="s"))
    facts.more["called"] = [call.id for event in session.events for call in event.get_function_calls()]
    facts.more["returned"] = {
        response.id: str(response.response) for event in session.events for response in event.get_function_responses()
    }
    return facts


def installed() -> Facts:
    """Runners made after ``install`` have the hooks; made after its undoing, none."""
    stage = Stage(READ, READ)
    undo = hooks.install(stage.supervisor)
    try:
        runner = driver.runner(stage, driver.agent(stage), hooked=False)
    finally:
        undo()
    plain = Stage(READ, READ)
    driver.run(driver.runner(plain, driver.agent(plain), hooked=False), "async")
    return played(stage, lambda: driver.run(runner, "async"))


STORIES = stories_of(driver) | {
    "eviction": eviction,
    "eviction-without-ids": lambda: eviction(ids=False),
    "without-ids": without_ids,
    "subagent": lambda: subagent(READ, READ),
    "subagent-loops": lambda: subagent(*LOOP),
    "pending": pending,
    "installed": installed,
}

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    everywhere = TracerProvider()
    everywhere.add_span_processor(SWITCH)
    trace.set_tracer_provider(everywhere)
    tell(STORIES, sys.argv[1:])
