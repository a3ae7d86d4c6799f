"""Google ADK, which emits its spans itself, through the global provider."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from tests.frameworks import script


class StubModel(BaseLlm):
    turn: int = -1

    async def generate_content_async(self, *_: Any, **__: Any) -> AsyncIterator[LlmResponse]:
        self.turn += 1
        parts = [
            types.Part(function_call=types.FunctionCall(id=call_id, name=tool, args=arguments))
            for call_id, tool, arguments in script.calls_of(self.turn)
        ]
        yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text=script.ANSWER)]))


async def converse(agent: LlmAgent) -> str:
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    message = types.Content(role="user", parts=[types.Part(text="read things")])
    said = ""
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=message):
        said = next((part.text for part in event.content.parts if part.text), said) if event.content else said
    return said


def run(provider: TracerProvider, _variant: str) -> str:
    trace.set_tracer_provider(provider)
    agent = LlmAgent(
        name="reader",
        model=StubModel(model="stub"),
        tools=[script.read_file, script.write_file],
        on_tool_error_callback=lambda tool, args, tool_context, error: {"error": str(error)},
    )
    return asyncio.run(converse(agent))
