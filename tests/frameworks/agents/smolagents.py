"""smolagents under OpenInference."""

from typing import Any

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from smolagents import Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.monitoring import TokenUsage

from tests.frameworks import script


class StubModel(Model):
    turn = -1

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        self.turn += 1
        calls = script.calls_of(self.turn) or [("answer", "final_answer", {"answer": script.ANSWER})]
        asked = [
            ChatMessageToolCall(
                id=call_id, type="function", function=ChatMessageToolCallFunction(name=name, arguments=arguments)
            )
            for call_id, name, arguments in calls
        ]
        usage = TokenUsage(input_tokens=1, output_tokens=1)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=asked, token_usage=usage)


def run(provider: TracerProvider, _variant: str) -> str:
    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    tools = [tool(script.read_file), tool(script.write_file)]
    agent = ToolCallingAgent(tools, StubModel(model_id="stub"), name="reader", description="reads", verbosity_level=0)
    return str(agent.run("read things"))
