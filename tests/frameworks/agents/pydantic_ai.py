"""Pydantic AI, which emits its spans itself."""

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent, InstrumentationSettings, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.frameworks import script


def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    calls = script.calls_of(sum(message.kind == "response" for message in messages))
    parts = [ToolCallPart(tool, arguments, tool_call_id=call_id) for call_id, tool, arguments in calls]
    return ModelResponse(parts=parts or [TextPart(script.ANSWER)])


def read_file(path: str) -> str:
    try:
        return script.read_file(path)
    except FileNotFoundError:
        raise ModelRetry(f"no such file: {path}") from None


def run(provider: TracerProvider, _variant: str) -> str:
    agent = Agent(FunctionModel(answer), name="reader", tools=[script.write_file], retries=2)
    agent.tool_plain(read_file)
    agent.instrument = InstrumentationSettings(tracer_provider=provider)
    return agent.run_sync("read things").output
