"""OpenAI Agents SDK under OpenInference and under OpenTelemetry's own instrumentation."""

import json
from importlib import import_module
from typing import Any

from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_trace_processors
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from opentelemetry.sdk.trace import TracerProvider

from tests.frameworks import script

INSTRUMENTATIONS = {
    "openinference": "openinference.instrumentation.openai_agents",
    "genai": "opentelemetry.instrumentation.genai.openai_agents",
}


class StubModel(Model):
    turn = -1

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        self.turn += 1
        output: list[Any] = [
            ResponseFunctionToolCall(
                type="function_call", id=f"f{call_id}", call_id=call_id, name=tool, arguments=json.dumps(arguments)
            )
            for call_id, tool, arguments in script.calls_of(self.turn)
        ]
        text = ResponseOutputText(type="output_text", text=script.ANSWER, annotations=[])
        message = ResponseOutputMessage(
            id="message", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=output or [message], usage=Usage(), response_id=f"response_{self.turn}")

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def run(provider: TracerProvider, variant: str) -> str:
    set_trace_processors([])  # the default one would send traces to the vendor
    import_module(INSTRUMENTATIONS[variant]).OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    tools = [function_tool(script.read_file), function_tool(script.write_file)]
    agent = Agent(name="reader", model=StubModel(), tools=tools)
    return str(Runner.run_sync(agent, "read things", max_turns=20).final_output)
