"""Strands, which emits its spans itself, through the global provider, in two modes."""

import json
from collections.abc import AsyncIterator
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from strands import Agent, tool
from strands.models import Model

from tests.frameworks import script


class StubModel(Model):
    turn = -1

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, str]:
        return {"model_id": "stub"}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}

    async def stream(self, *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:
        self.turn += 1
        calls = script.calls_of(self.turn)
        yield {"messageStart": {"role": "assistant"}}
        for call_id, name, arguments in calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": call_id, "name": name}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
            yield {"contentBlockStop": {}}
        if not calls:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": script.ANSWER}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


def run(provider: TracerProvider, _variant: str) -> str:
    trace.set_tracer_provider(provider)
    tools = [tool(script.read_file), tool(script.write_file)]
    agent = Agent(name="reader", model=StubModel(), tools=tools, callback_handler=None)
    return str(agent("read things")).strip()
