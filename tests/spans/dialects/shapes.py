"""A span of every runtime's shape, made of arguments and a result: the captures with the content exchanged."""

import json
from typing import Any

from otel_docsfab.spans.view import EventView, RecordedSpan

GENAI = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}
OI = {"openinference.span.kind": "TOOL", "tool.name": "read"}
MIME = {"input.mime_type": "application/json", "output.mime_type": "application/json"}
OI_SCOPE = "openinference.instrumentation."


def _genai(scope: str):
    def make(arguments: dict[str, Any], result: str, _call: str) -> RecordedSpan:
        told = {"gen_ai.tool.call.arguments": json.dumps(arguments), "gen_ai.tool.call.result": result}
        return RecordedSpan("execute_tool read", scope, GENAI | told)

    return make


def _openinference(scope: str):
    def make(arguments: dict[str, Any], result: str, _call: str) -> RecordedSpan:
        return RecordedSpan("read", scope, OI | {"input.value": json.dumps(arguments), "output.value": result})

    return make


def pydantic_ai_2(arguments, result, _call):
    told = {"tool_arguments": json.dumps(arguments), "tool_response": result}
    return RecordedSpan("running tool", "pydantic-ai", GENAI | told)


def langchain(arguments, result, call):
    message = {"type": "tool", "data": {"content": result, "tool_call_id": call, "status": "success", "artifact": None}}
    told = {"input.value": json.dumps(arguments), "output.value": json.dumps(message)}
    return RecordedSpan("read", OI_SCOPE + "langchain", OI | MIME | told)


def langchain_traceloop(arguments, result, call):
    given = {
        "input_str": str(arguments),
        "tags": ["seq:step:1"],
        "metadata": {"langgraph_step": len(call), "checkpoint_ns": f"tools:{call}"},
        "inputs": arguments,
        "kwargs": {"tool_call_id": call},
    }
    message = {"lc": 1, "id": ["ToolMessage"], "kwargs": {"content": result, "tool_call_id": call, "status": "success"}}
    told = {
        "gen_ai.tool.call.arguments": json.dumps(given),
        "gen_ai.tool.call.result": json.dumps({"output": message, "kwargs": {"name": "read", "color": call}}),
    }
    return RecordedSpan("execute_tool read", "opentelemetry.instrumentation.langchain", GENAI | told)


def langsmith(arguments, result, call):
    completion = {"output": {"content": result, "type": "tool", "tool_call_id": call, "status": "success"}}
    told = {"gen_ai.prompt": json.dumps(arguments), "gen_ai.completion": json.dumps(completion)}
    return RecordedSpan("read", "langsmith", GENAI | {"langsmith.span.kind": "tool"} | told)


def adk(arguments, result, _call):
    told = {
        "gen_ai.tool.call.arguments": json.dumps(arguments),
        "gen_ai.tool.call.result": json.dumps({"result": result}),
    }
    return RecordedSpan("execute_tool read", "gcp.vertex.agent", GENAI | told)


def adk_old(arguments, result, _call):
    told = {
        "gcp.vertex.agent.tool_call_args": json.dumps(arguments),
        "gcp.vertex.agent.tool_response": json.dumps({"result": result}),
    }
    return RecordedSpan("execute_tool read", "gcp.vertex.agent", GENAI | told)


def adk_openinference(arguments, result, call):
    response = {"id": call, "name": "read", "response": {"result": result}}
    told = {"input.value": json.dumps(arguments), "output.value": json.dumps(response)}
    return RecordedSpan("execute_tool read", OI_SCOPE + "google_adk", GENAI | OI | MIME | told)


def strands(arguments, result, call):
    events = (
        EventView("gen_ai.tool.message", {"content": json.dumps(arguments), "id": call}),
        EventView("gen_ai.choice", {"message": json.dumps([{"text": result}]), "id": call}),
    )
    return RecordedSpan("execute_tool read", "strands.telemetry.tracer", GENAI, events)


def strands_newer(arguments, result, _call):
    told = {
        "gen_ai.tool.call.arguments": json.dumps(arguments),
        "gen_ai.tool.call.result": json.dumps([{"text": result}]),
    }
    return RecordedSpan("execute_tool read", "strands.telemetry.tracer", GENAI | told)


def smolagents(arguments, result, _call):
    given = {"args": [], "sanitize_inputs_outputs": True, "kwargs": arguments}
    told = {"input.value": json.dumps(given), "output.value": result}
    return RecordedSpan("SimpleTool", OI_SCOPE + "smolagents", OI | told)


def llamaindex(arguments, result, _call):
    output = {
        "blocks": [{"text": result}],
        "raw_output": result,
        "tool_name": "read",
        "raw_input": {},
        "is_error": False,
    }
    told = {"input.value": json.dumps({"kwargs": arguments}), "output.value": json.dumps(output)}
    return RecordedSpan("FunctionTool.acall", OI_SCOPE + "llama_index", OI | MIME | told)


def llamaindex_traceloop(arguments, result, call):
    output = {"blocks": [{"block_type": "text", "text": result}], "raw_output": result, "is_error": False}
    told = {
        "tool.name": "read",
        "tool.arguments": json.dumps(arguments),
        "traceloop.entity.output": json.dumps({"tool_name": "read", "tool_id": call, "tool_output": output}),
    }
    return RecordedSpan("BaseWorkflowAgent.task", "opentelemetry.instrumentation.llamaindex", told)


def haystack(arguments, result, _call):
    told = {
        "haystack.tool.name": "read",
        "haystack.agent.step.tool.input": json.dumps(arguments),
        "haystack.agent.step.tool.output": result,
    }
    return RecordedSpan("haystack.agent.step.tool", "my_app", told)


def dspy(arguments, result, _call):
    told = {"input.value": json.dumps({"kwargs": arguments}), "output.value": json.dumps(result)}
    return RecordedSpan("read.__call__", OI_SCOPE + "dspy", {"openinference.span.kind": "TOOL"} | MIME | told)


def mcp_traceloop(arguments, result, _call):
    told = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "read",
        "traceloop.entity.input": json.dumps({"tool_name": "read", "arguments": arguments}),
        "traceloop.entity.output": json.dumps({"result": result}),
    }
    return RecordedSpan("read.tool", "opentelemetry.instrumentation.mcp.instrumentation", told)


def logfire(arguments, result, _call):
    told = {"name": "read", "input": json.dumps(arguments), "output": result}
    return RecordedSpan("Function: {name}", "logfire.openai_agents", told)


def claude(arguments, result, _call):
    response = {"type": "text", "file": {"filePath": "f", "content": result, "numLines": 1, "startLine": 1}}
    told = {"input.value": json.dumps(arguments), "output.value": json.dumps(response)}
    return RecordedSpan("Read", OI_SCOPE + "claude_agent_sdk", OI | MIME | told)


SHAPES = {
    "pydantic_ai": _genai("pydantic-ai"),
    "pydantic_ai_2": pydantic_ai_2,
    "openai_agents_genai": _genai("opentelemetry.instrumentation.genai.openai_agents"),
    "openai_agents_traceloop": _genai("opentelemetry.instrumentation.openai_agents"),
    "openai_agents": _openinference(OI_SCOPE + "openai_agents"),
    "logfire": logfire,
    "langgraph_genai": _genai("opentelemetry.instrumentation.genai.langchain"),
    "langchain": langchain,
    "langchain_traceloop": langchain_traceloop,
    "langsmith": langsmith,
    "adk": adk,
    "adk_old": adk_old,
    "adk_openinference": adk_openinference,
    "strands": strands,
    "strands_newer": strands_newer,
    "smolagents": smolagents,
    "crewai": _openinference(OI_SCOPE + "crewai"),
    "llamaindex": llamaindex,
    "llamaindex_genai": _genai("opentelemetry.instrumentation.genai.llama_index"),
    "llamaindex_traceloop": llamaindex_traceloop,
    "agent_framework": _genai("agent_framework"),
    "semantic_kernel": _genai("semantic_kernel.functions.kernel_function"),
    "autogen": _openinference(OI_SCOPE + "autogen_agentchat"),
    "agno": _openinference(OI_SCOPE + "agno"),
    "haystack": haystack,
    "dspy": dspy,
    "mcp": _genai("mcp-python-sdk"),
    "mcp_traceloop": mcp_traceloop,
    "claude": claude,
    "unknown_genai": _genai("somebody.elses.tracer"),
    "unknown_openinference": _openinference("somebody.elses.tracer"),
}
