"""The mapping rules one by one, beyond what the captures show."""

import json
from collections.abc import Mapping

import pytest

from otel_docsfab.core import Unjudged
from otel_docsfab.core.identity import arguments_digest
from otel_docsfab.spans.dialects import compactions, observe, result_text, role_at_start, start_tool
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import EventView, RecordedSpan

from .shapes import GENAI, MIME, OI, OI_SCOPE, SHAPES

KNOWN = {"gen_ai.tool.call.arguments": '{"path": "a"}', "gen_ai.tool.call.result": "content"}


def span(scope="pydantic-ai", attributes: Mapping = {}, name="execute_tool read", **more):
    return RecordedSpan(name, scope, attributes, **more)


def genai(**attributes):
    return span(attributes=GENAI | KNOWN | {key.replace("__", "."): value for key, value in attributes.items()})


@pytest.mark.parametrize(
    ("scope", "name", "role"),
    [
        ("gcp.vertex.agent", "execute_tool read", Role.TOOL),
        ("gcp.vertex.agent", "execute_tool (merged)", Role.IGNORED),
        ("gcp.vertex.agent", "invoke_agent reader", Role.AGENT),
        ("gcp.vertex.agent", "call_llm", Role.MODEL),
        ("gcp.vertex.agent", "invocation", None),
        ("strands.telemetry.tracer", "execute_tool read", Role.TOOL),
        ("strands.telemetry.tracer", "chat", Role.MODEL),
        ("strands.telemetry.tracer", "execute_event_loop_cycle", None),
        ("agent_framework", "chat gpt", Role.MODEL),
        ("opentelemetry.instrumentation.langchain", "execute_tool read", Role.TOOL),
        ("opentelemetry.instrumentation.langchain", "ChatOpenAI.chat", Role.MODEL),
        (OI_SCOPE + "langchain", "LangGraph", Role.AGENT),
        (OI_SCOPE + "langchain", "read", None),
        (OI_SCOPE + "llama_index", "FunctionTool.acall", Role.TOOL),
        (OI_SCOPE + "llama_index", "AgentWorkflow.run", Role.AGENT),
        (OI_SCOPE + "dspy", "ReAct.forward", Role.AGENT),
        ("my_app", "haystack.agent.run", Role.AGENT),
        ("my_app", "execute_tool read", None),  # never by name alone where nobody vouches for the name
        ("my_app", "docsfab.compaction", Role.COMPACTION),
        ("opentelemetry.instrumentation.requests", "GET", None),
    ],
)
def test_rule_01_a_start_without_attributes_is_known_by_scope_and_name(scope, name, role):
    assert role_at_start(span(scope, {}, name)) is role


@pytest.mark.parametrize(
    ("attributes", "role"),
    [
        ({"gen_ai.operation.name": "execute_tool"}, Role.TOOL),
        ({"gen_ai.operation.name": "text_completion"}, Role.MODEL),
        ({"gen_ai.operation.name": "create_agent"}, None),
        ({"openinference.span.kind": "TOOL"}, Role.TOOL),
        ({"openinference.span.kind": "RETRIEVER"}, None),
        ({"traceloop.span.kind": "tool"}, Role.TOOL),
        ({"traceloop.span.kind": "workflow"}, None),
        ({"llm.request.type": "chat"}, Role.MODEL),
        ({"langsmith.span.kind": "tool"}, Role.TOOL),
        ({"mcp.method.name": "tools/call"}, Role.TOOL),
        ({"mcp.method.name": "tools/list"}, None),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}, Role.IGNORED),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "final_answer"}, Role.ANSWER),
        ({"openinference.span.kind": "TOOL", "tool.name": "finish"}, Role.ANSWER),
        ({"http.method": "GET"}, None),
    ],
)
def test_rule_01_any_kind_attribute_of_any_scope_counts(attributes, role):
    seen = observe(span("my_app", attributes, "whatever"))
    assert (seen.role if seen else None) is role


@pytest.mark.parametrize(
    ("scope", "name", "attributes", "tool"),
    [
        ("x", "n", GENAI | {"tool.name": "other", "traceloop.entity.name": "third"}, "read"),
        ("x", "n", {"openinference.span.kind": "TOOL", "tool.name": "read"}, "read"),
        ("x", "execute_tool read", {"gen_ai.operation.name": "execute_tool"}, "read"),
        (OI_SCOPE + "crewai", "read.run", {"openinference.span.kind": "TOOL"}, "read"),
        (OI_SCOPE + "dspy", "read.__call__", {"openinference.span.kind": "TOOL"}, "read"),
        ("x", "read.tool", {"traceloop.span.kind": "tool"}, "read"),
        ("mcp-python-sdk", "MCP send tools/call read", {"mcp.method.name": "tools/call"}, "read"),
        ("my_app", "haystack.agent.step.tool", {"haystack.tool.name": "read"}, "read"),
        (OI_SCOPE + "llama_index", "FunctionTool.acall", {"openinference.span.kind": "TOOL"}, ""),
    ],
)
def test_rule_02_names_come_from_the_first_key_else_from_the_span(scope, name, attributes, tool):
    seen = observe(span(scope, attributes, name))
    assert seen.tool == tool
    assert start_tool(span(scope, attributes, name))[0] == (tool or None)


def test_rules_03_and_04_native_keys_come_before_openinference():
    both = GENAI | OI | KNOWN | {"input.value": '{"path": "other"}', "output.value": "other"}
    for scope in ("x", OI_SCOPE + "agno"):
        seen = observe(span(scope, both))
        assert (seen.arguments, seen.result) == ({"path": "a"}, "content")


def test_rules_03_and_04_a_hidden_native_value_yields_to_a_whole_one():
    both = GENAI | OI | {"gen_ai.tool.call.result": "__REDACTED__", "output.value": "content"}
    assert observe(span("x", both)).result == "content"


def test_rule_03_other_representations_of_the_same_arguments_are_the_same():
    values = ['{"path": "a", "n": 1}', '{"n":1.0,"path":"a"}', {"n": 1, "path": "a"}, b'{"path": "a", "n": 1}']
    digests = {arguments_digest(observe(genai(gen_ai__tool__call__arguments=value)).arguments) for value in values}
    assert len(digests) == 1


def test_rule_03_text_that_is_no_json_and_no_cut_json_is_itself():
    assert observe(genai(gen_ai__tool__call__arguments="docs ")).arguments == "docs "
    assert observe(genai(gen_ai__tool__call__arguments="{'path': 1}")).arguments == "{'path': 1}"
    assert observe(genai(gen_ai__tool__call__arguments='"abc"')).arguments == '"abc"'


def test_rule_04_a_generic_status_is_never_the_result():
    told = GENAI | {
        "langsmith.span.kind": "tool",
        "gen_ai.prompt": "{}",
        "status": "success",
        "gen_ai.task.status": "success",
    }
    assert observe(span("langsmith", told)).result_reason is Unjudged.RESULT_NOT_CAPTURED


def test_rule_04_raw_results_are_never_opened_whatever_they_look_like():
    envelopes = [
        '{"result": "x", "is_error": false}',
        '{"type": "tool", "data": {"content": "x", "tool_call_id": "1"}}',
        '[{"text": "x"}]',
        '{"raw_output": "x"}',
        '"x"',
    ]
    for name in (
        "pydantic_ai",
        "crewai",
        "openai_agents",
        "smolagents",
        "haystack",
        "logfire",
        "unknown_openinference",
    ):
        for text in envelopes:
            assert observe(SHAPES[name]({"path": "a"}, text, "c")).result == text


def test_rule_04_content_blocks_are_their_text_and_several_stay_several():
    def strands(blocks):
        return observe(span("strands.telemetry.tracer", GENAI | {"gen_ai.tool.call.result": json.dumps(blocks)})).result

    assert strands([{"text": "a"}]) == "a"
    assert strands([{"type": "text", "text": "a", "id": "lc_1", "annotations": None}]) == "a"
    assert strands([{"text": "a"}, {"text": "b"}]) == ["a", "b"] != strands([{"text": "ab"}])
    assert strands([{"json": {"a": 1}}]) == [{"json": {"a": 1}}]
    assert strands([{"text": "a", "cache": 1}]) != "a"
    assert strands([]) == []


def test_rule_04_langchain_content_without_ids_artifacts_and_steps():
    def langchain(output, mime="application/json"):
        told = OI | {"input.value": "a.txt", "output.value": output, "output.mime_type": mime}
        return observe(span(OI_SCOPE + "langchain", told, "read"))

    message = {
        "type": "tool",
        "data": {"content": [{"type": "text", "text": "x"}], "tool_call_id": "c1", "artifact": {"a": 1}},
    }
    seen = langchain(json.dumps(message))
    assert (seen.result, seen.call_id, seen.ok) == ("x", "c1", True)
    message["data"]["status"] = "error"
    assert not langchain(json.dumps(message)).ok
    assert langchain("plain text", "text/plain").result == "plain text"
    assert langchain('{"a": [1', "application/json").result_reason is Unjudged.RESULT_CUT
    assert langchain(json.dumps({"a": 1.0, "b": 2})).result == {"a": 1.0, "b": 2}


def test_rule_04_objects_stay_objects_in_their_own_order():
    def adk(response):
        return observe(span("gcp.vertex.agent", GENAI | {"gen_ai.tool.call.result": json.dumps(response)})).result

    assert adk({"result": "x"}) == "x"
    assert adk({"result": "x", "more": 1}) == {"result": "x", "more": 1}
    assert adk({"result": {"a": 1}}) == {"result": {"a": 1}}
    texts = [result_text(adk(response)) for response in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1.0, "b": 2})]
    assert len(set(texts)) == 3


def test_rule_04_claude_durations_are_not_content_and_stubs_are_none():
    def claude(response):
        told = OI | MIME | {"input.value": "{}", "output.value": json.dumps(response)}
        return observe(span(OI_SCOPE + "claude_agent_sdk", told, "Glob"))

    assert claude({"filenames": ["a"], "durationMs": 3}).result == claude({"filenames": ["a"], "durationMs": 4}).result
    assert claude({"type": "file_unchanged", "file": {}}).result_reason is Unjudged.RESULT_PLACEHOLDER
    assert claude({"stdout": "x", "persistedOutputPath": "p"}).result_reason is Unjudged.RESULT_OFFLOADED


@pytest.mark.parametrize(
    ("value", "arguments", "result"),
    [
        (None, Unjudged.ARGUMENTS_NOT_CAPTURED, Unjudged.RESULT_NOT_CAPTURED),
        ("null", Unjudged.ARGUMENTS_PLACEHOLDER, Unjudged.RESULT_PLACEHOLDER),
        ("N/A", Unjudged.ARGUMENTS_PLACEHOLDER, Unjudged.RESULT_PLACEHOLDER),
        ("<not specified>", Unjudged.ARGUMENTS_PLACEHOLDER, Unjudged.RESULT_PLACEHOLDER),
        ('{"a": "<not serializable>"}', Unjudged.ARGUMENTS_PLACEHOLDER, Unjudged.RESULT_PLACEHOLDER),
        ('[{"image": "<replaced>"}]', Unjudged.ARGUMENTS_PLACEHOLDER, Unjudged.RESULT_PLACEHOLDER),
        ("__REDACTED__", Unjudged.ARGUMENTS_REDACTED, Unjudged.RESULT_REDACTED),
        ('{"key": "__REDACTED__"}', Unjudged.ARGUMENTS_REDACTED, Unjudged.RESULT_REDACTED),
        ({"key": "__REDACTED__"}, Unjudged.ARGUMENTS_REDACTED, Unjudged.RESULT_REDACTED),
        ("[Scrubbed due to 'password']", Unjudged.ARGUMENTS_REDACTED, Unjudged.RESULT_REDACTED),
        ("***", Unjudged.ARGUMENTS_REDACTED, Unjudged.RESULT_REDACTED),
        (object(), Unjudged.ARGUMENTS_NOT_JSON, Unjudged.RESULT_NOT_TEXT),
        ({1: "a"}, Unjudged.ARGUMENTS_NOT_JSON, Unjudged.RESULT_NOT_TEXT),
        ({"a": b"x"}, Unjudged.ARGUMENTS_NOT_JSON, Unjudged.RESULT_NOT_TEXT),
    ],
)
def test_rule_05_what_is_not_content_is_unknown_with_its_reason(value, arguments, result):
    seen = observe(genai(gen_ai__tool__call__arguments=value, gen_ai__tool__call__result=value))
    assert (seen.arguments, seen.arguments_reason) == (None, arguments)
    assert (seen.result, seen.result_reason) == (None, result)
    assert seen.ok


def test_rule_05_a_result_that_the_host_moved_to_a_file_was_not_delivered():
    text = "<persisted-output>\nOutput too large. Full output saved to: f"
    assert observe(genai(gen_ai__tool__call__result=text)).result_reason is Unjudged.RESULT_OFFLOADED


def test_rule_05_empty_results_are_content_and_empty_argument_texts_are_not_known():
    seen = observe(genai(gen_ai__tool__call__arguments="", gen_ai__tool__call__result=""))
    assert (seen.result, seen.result_reason) == ("", None)
    assert seen.arguments_reason is Unjudged.ARGUMENTS_NOT_CAPTURED
    assert observe(genai(gen_ai__tool__call__arguments="{}")).arguments == {}


def test_rule_05_nothing_that_adk_writes_when_content_is_off_is_content():
    def adk(arguments, result):
        told = {"gcp.vertex.agent.tool_call_args": arguments, "gcp.vertex.agent.tool_response": result}
        return observe(span("gcp.vertex.agent", GENAI | told))

    off = adk("{}", "{}")
    assert (off.arguments_reason, off.result_reason) == (Unjudged.ARGUMENTS_PLACEHOLDER, Unjudged.RESULT_PLACEHOLDER)
    assert adk("{}", '{"result": "x"}').arguments == {}
    assert adk('{"a": 1}', "{}").result == {}


def test_rule_05_langsmith_writes_an_empty_object_for_what_it_hides():
    told = GENAI | {"langsmith.span.kind": "tool", "gen_ai.prompt": "{}", "gen_ai.completion": "{}"}
    seen = observe(span("langsmith", told))
    assert (seen.arguments_reason, seen.result_reason) == (
        Unjudged.ARGUMENTS_NOT_CAPTURED,
        Unjudged.RESULT_NOT_CAPTURED,
    )


def test_rule_05_what_a_collector_masked_is_unknown():
    named = observe(genai(redaction__masked__keys="gen_ai.tool.call.result,other"))
    assert (named.result_reason, named.arguments_reason) == (Unjudged.RESULT_REDACTED, None)
    counted = observe(genai(redaction__masked__count=1))
    assert (counted.result_reason, counted.arguments_reason) == (Unjudged.RESULT_REDACTED, Unjudged.ARGUMENTS_REDACTED)


@pytest.mark.parametrize(
    "signal",
    [
        {"error": True},
        {"attributes": {"error.type": "_OTHER"}},
        {"events": (EventView("exception", {}),)},
        {"attributes": {"gen_ai.tool.status": "error"}},
        {"attributes": {"gen_ai.task.status": "failure"}},
        {"attributes": {"haystack.tool.error": True}},
    ],
)
def test_rule_06_any_failure_signal_is_enough_though_there_is_a_result(signal):
    attributes = GENAI | KNOWN | signal.get("attributes", {})
    seen = observe(span("x", **(signal | {"attributes": attributes})))
    assert not seen.ok
    assert seen.result == "content"
    assert observe(span("x", GENAI | KNOWN)).ok


@pytest.mark.parametrize(
    ("shape", "key", "value"),
    [
        (
            "langchain",
            "output.value",
            {"type": "tool", "data": {"content": "x", "tool_call_id": "1", "status": "error"}},
        ),
        ("llamaindex", "output.value", {"raw_output": "x", "is_error": True}),
        ("llamaindex_traceloop", "traceloop.entity.output", {"tool_output": {"raw_output": "x", "is_error": True}}),
        ("mcp_traceloop", "traceloop.entity.output", {"result": "x", "is_error": True}),
        ("mcp_traceloop", "traceloop.entity.output", {"result": "x", "isError": True}),
        ("adk", "gen_ai.tool.call.result", {"error": "x"}),
    ],
)
def test_rule_06_an_envelope_tells_a_failure(shape, key, value):
    good = SHAPES[shape]({"path": "a"}, "x", "c")
    assert observe(good).ok
    assert not observe(good._replace(attributes={**good.attributes, key: json.dumps(value)})).ok


@pytest.mark.parametrize("scope", [OI_SCOPE + "openai_agents", "opentelemetry.instrumentation.genai.openai_agents"])
def test_rule_06_a_cancelled_openai_tool_did_not_succeed(scope):
    cancelled = GENAI | {"gen_ai.tool.call.arguments": "{}"}
    assert not observe(span(scope, cancelled)).ok
    assert observe(span(scope, cancelled, explicit_ok=True)).ok  # a tool that returns nothing
    assert observe(span(scope, GENAI)).ok  # content is off: nothing is known of it
    assert observe(span("pydantic-ai", cancelled)).ok


def test_rule_06_logfire_keeps_null_when_a_tool_is_cancelled():
    told = {"name": "read", "input": '{"path": "a"}', "output": "null"}
    assert not observe(span("logfire.openai_agents", told, "Function: {name}")).ok


def test_rule_07_call_ids_are_optional_and_constants_are_none():
    assert observe(genai()).call_id is None
    assert observe(genai(gen_ai__tool__call__id="<not specified>")).call_id is None
    assert observe(genai(gen_ai__tool__call__id="c1")).call_id == "c1"
    assert observe(span("x", OI | {"tool.id": "c2"})).call_id == "c2"
    assert observe(span("mcp-python-sdk", {"mcp.method.name": "tools/call", "jsonrpc.request.id": "2"})).call_id is None


def test_rule_09_workflows_around_agents_are_none():
    assert observe(span(OI_SCOPE + "openai_agents", {"openinference.span.kind": "AGENT"}, "wf")) is None
    named = {"openinference.span.kind": "AGENT", "agent.name": "reader"}
    assert observe(span(OI_SCOPE + "openai_agents", named, "reader")).agent_name == "reader"
    crew = "opentelemetry.instrumentation.crewai.instrumentation"
    assert observe(span(crew, {"gen_ai.operation.name": "invoke_agent"}, "crewai.workflow")) is None
    task = {"gen_ai.operation.name": "invoke_agent", "traceloop.span.kind": "task"}
    assert observe(span(crew, task, "x.task")) is None


def test_rule_09_a_nested_langchain_agent_is_known_by_its_name_in_the_metadata():
    metadata = json.dumps({"lc_agent_name": "sub", "thread_id": "t"})
    told = {"openinference.span.kind": "CHAIN", "metadata": metadata}
    seen = observe(span(OI_SCOPE + "langchain", told, "sub"))
    assert (seen.role, seen.agent_name, seen.conversation) == (Role.AGENT, "sub", "t")
    assert observe(span(OI_SCOPE + "langchain", told, "tools")) is None
    mine = {"langsmith.span.kind": "chain", "langsmith.metadata.lc_agent_name": "sub"}
    assert observe(span("langsmith", mine, "sub")).role is Role.AGENT
    assert observe(span("langsmith", mine, "model")) is None


def test_rule_09_an_mcp_session_is_no_conversation():
    told = {"gen_ai.operation.name": "invoke_agent", "mcp.session.id": "s"}
    assert observe(span("x", told)).conversation is None
    assert observe(span("x", told | {"session.id": "s", "gen_ai.conversation.id": "c"})).conversation == "c"


@pytest.mark.parametrize("length", [9, 10, 11])
def test_rule_13_a_value_as_long_as_the_limit_is_unknown(length):
    for value in ("x" * length, b"x" * length, {"a": "x" * length}, ["x" * length]):
        told = GENAI | {"gen_ai.tool.call.arguments": value, "gen_ai.tool.call.result": value}
        seen = observe(span("x", told, value_length_limit=10))
        cut = length >= 10
        assert seen.result_reason is (Unjudged.RESULT_CUT if cut else None)
        assert seen.arguments_reason is (Unjudged.ARGUMENTS_CUT if cut else None)


def test_rule_13_what_lost_its_end_elsewhere_is_unknown():
    assert observe(genai(gen_ai__tool__call__arguments='{"path": "a lon')).arguments_reason is Unjudged.ARGUMENTS_CUT
    langchain = SHAPES["langchain_traceloop"]({"path": "a"}, "content", "c")
    cut = {key: value[:-9] if value[:1] == "{" else value for key, value in langchain.attributes.items()}
    seen = observe(langchain._replace(attributes=cut))
    assert (seen.arguments_reason, seen.result_reason) == (Unjudged.ARGUMENTS_NOT_JSON, Unjudged.RESULT_CUT)
    shortened = OI | {
        "input.value": '{"kwargs": {}}',
        "output.value": "Thing(a=1, b=...",
        "output.mime_type": "text/plain",
    }
    seen = observe(span(OI_SCOPE + "llama_index", shortened | {"output.value": "Thing(a=1..."}, "FunctionTool.acall"))
    assert seen.result_reason is Unjudged.RESULT_CUT
    event = EventView("tool.output", {"content": "x", "content_truncated": True})
    assert (
        observe(span("com.anthropic.claude_code.tracing", GENAI, events=(event,))).result_reason is Unjudged.RESULT_CUT
    )


def test_a_digest_makes_a_span_judgeable_and_keyed_digests_differ_from_plain_ones():
    plain = observe(
        span("x", GENAI | {f"docsfab.{side}.digest": "sha256:" + "ab" * 32 for side in ("result", "arguments")})
    )
    assert plain.result_digest == plain.arguments_digest == b"\xab" * 32
    assert plain.result_reason is plain.arguments_reason is None
    keyed = observe(genai(docsfab__result__digest="hmac-sha256:" + "ab" * 32))
    assert keyed.result_digest == b"h" + b"\xab" * 32


@pytest.mark.parametrize(
    "digest", ["", "sha256:", "sha256:" + "zz" * 32, "md5:" + "ab" * 32, "sha256:" + "a " * 32, "ab" * 32, 7]
)
def test_a_digest_that_is_none_is_not_taken_for_one(digest):
    seen = observe(span("x", GENAI | {"docsfab.result.digest": digest}))
    assert (seen.result_digest, seen.result_reason) == (None, Unjudged.RESULT_NOT_CAPTURED)


def test_compactions_are_spans_or_events_and_may_name_calls():
    whole = observe(span("my_app", {}, "docsfab.compaction"))
    assert (whole.role, whole.evicted) == (Role.COMPACTION, ())
    some = observe(span("my_app", {"docsfab.evicted.call_ids": ("c1", "c2", 3)}, "docsfab.compaction"))
    assert some.evicted == ("c1", "c2")
    events = (
        EventView("docsfab.compaction", {}, 5),
        EventView("other", {}, 6),
        EventView("docsfab.compaction", {"docsfab.evicted.call_ids": "c1"}, 7),
    )
    assert compactions(span(events=events)) == ((5, ()), (7, ("c1",)))


@pytest.mark.parametrize(
    ("attributes", "called", "limited"),
    [
        ({"gen_ai.response.finish_reasons": ("tool_calls",)}, True, False),
        ({"gen_ai.response.finish_reasons": '["tool_use"]'}, True, False),
        ({"gen_ai.response.finish_reasons": ["stop"]}, None, False),
        ({"gen_ai.response.finish_reasons": ["end_turn"]}, False, False),
        ({"gen_ai.response.finish_reasons": ["length"]}, None, True),
        ({"gen_ai.response.finish_reasons": ["MAX_TOKENS"]}, None, True),
        (
            {"gen_ai.output.messages": '[{"parts": [{"type": "text"}], "finish_reason": "length"}]'},
            False,
            True,
        ),
        ({"gen_ai.output.messages": '[{"parts": [{"type": "tool_call", "name": "x"}]}]'}, True, False),
        ({"gen_ai.output.messages": "[]"}, None, False),
        ({"gen_ai.output.messages": "[cut"}, None, False),
        ({"llm.output_messages.0.message.tool_calls.0.tool_call.id": "1"}, True, False),
        ({"llm.output_messages.0.message.content": "hi"}, False, False),
        (
            {"gen_ai.completion.0.tool_calls.0.name": "x", "gen_ai.completion.0.finish_reason": "tool_calls"},
            True,
            False,
        ),
        ({"gen_ai.completion.0.content": "hi", "gen_ai.completion.0.finish_reason": "max_tokens"}, False, True),
        ({}, None, False),
    ],
)
def test_what_a_response_tells(attributes, called, limited):
    seen = observe(span("x", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"} | attributes))
    assert (seen.role, seen.model, seen.called_tools, seen.output_limited) == (Role.MODEL, "m", called, limited)


def test_a_response_told_in_events():
    choice = EventView("gen_ai.choice", {"finish_reason": "tool_use", "message": '[{"toolUse": {"name": "x"}}]'})
    details = EventView(
        "gen_ai.client.inference.operation.details", {"gen_ai.output.messages": [{"parts": [{"type": "text"}]}]}
    )
    chat = {"gen_ai.operation.name": "chat"}
    assert observe(span("strands.telemetry.tracer", chat, "chat", events=(choice,))).called_tools is True
    assert observe(span("x", chat, "chat", events=(details,))).called_tools is False
