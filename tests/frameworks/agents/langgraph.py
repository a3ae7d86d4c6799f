"""LangGraph's agent (LangChain) under OpenInference and under OpenTelemetry's own instrumentation."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from opentelemetry.sdk.trace import TracerProvider

from tests.frameworks import script

INSTRUMENTATIONS = {
    "openinference": "openinference.instrumentation.langchain",
    "genai": "opentelemetry.instrumentation.genai.langchain",
}


class StubModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "stub"

    def bind_tools(self, *_: Any, **__: Any) -> "StubModel":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        calls = script.calls_of(sum(isinstance(message, AIMessage) for message in messages))
        asked = [{"name": name, "args": arguments, "id": call_id} for call_id, name, arguments in calls]
        message = AIMessage("" if asked else script.ANSWER, tool_calls=asked)
        return ChatResult(generations=[ChatGeneration(message=message)])


@wrap_tool_call
def tell_the_model(request: Any, handler: Callable[[Any], Any]) -> Any:
    try:
        return handler(request)
    except FileNotFoundError as error:
        call = request.tool_call
        return ToolMessage(f"error: {error}", tool_call_id=call["id"], name=call["name"], status="error")


def run(provider: TracerProvider, variant: str) -> str:
    import_module(INSTRUMENTATIONS[variant]).LangChainInstrumentor().instrument(tracer_provider=provider)
    tools = [tool(script.read_file), tool(script.write_file)]
    agent = create_agent(StubModel(), tools, middleware=[tell_the_model], name="reader")
    return str(agent.invoke({"messages": [("user", "read things")]})["messages"][-1].content)
