"""Every capture: what each span stands for, and that its reads are told apart exactly."""

from collections import Counter

import pytest

from otel_docsfab.core import Unjudged
from otel_docsfab.core.identity import arguments_digest, result_digest
from otel_docsfab.spans.dialects import observe, result_text, role_at_start, start_tool
from otel_docsfab.spans.observation import Observation, Role

from .captured import CAPTURES, capture

A, B = "alpha content line 1\nalpha line 2\n", "beta content\n"

# capture: reads of a.txt, reads of b.txt, good writes, failed calls, in the whole file
CONTENT = {
    "agent_framework": (5, 1, 1, 1),
    "claude_agent_sdk": (4, 1, 1, 1),
    "crewai": (4, 1, 1, 1),
    "crewai_event_listener": (6, 2, 2, 4),
    "google_adk_openinference": (4, 1, 1, 2),
    "google_adk_schema1": (4, 1, 1, 2),
    "haystack": (4, 1, 1, 1),
    "langgraph": (8, 2, 1, 2),
    "langgraph_genai": (8, 2, 1, 2),
    "langgraph_langsmith": (8, 2, 1, 2),
    "langgraph_traceloop": (8, 2, 1, 2),
    "llamaindex": (4, 1, 1, 1),
    "llamaindex_traceloop": (4, 1, 1, 1),
    "mcp_traceloop": (4, 1, 1, 1),
    "openai_agents": (4, 1, 1, 2),
    "openai_agents_logfire": (4, 1, 1, 2),
    "openai_agents_traceloop": (4, 1, 1, 2),
    "openai_agents_v2": (4, 1, 1, 2),
    "pydantic_ai": (4, 1, 1, 2),
    "pydantic_ai_2": (4, 1, 1, 2),
    "pydantic_ai_3": (4, 1, 1, 2),
    "pydantic_ai_4": (4, 1, 1, 2),
    "strands": (5, 1, 1, 1),
}
# capture: tool spans that succeeded, tool spans that failed
NO_CONTENT = {
    "agent_framework_default": (7, 1),
    "autogen": (6, 1),
    "fastmcp": (19, 2),
    "google_adk": (8, 2),
    "google_adk_nocontent": (8, 2),
    "haystack_native": (6, 1),
    "mcp": (6, 1),
    "pydantic_ai_nocontent": (6, 2),
    "semantic_kernel_default": (7, 1),
}
# capture: spans by role, at the end; and at the start where that differs
AGENT, MODEL, TURN, TOOL, ANSWER, IGNORED = Role.AGENT, Role.MODEL, Role.TURN, Role.TOOL, Role.ANSWER, Role.IGNORED
ROLES = {
    "agent_framework": {AGENT: 3, MODEL: 11, TOOL: 8},
    "agent_framework_default": {AGENT: 3, MODEL: 11, TOOL: 8},
    "autogen": {AGENT: 1, TOOL: 7},
    "autogen_openinference": {AGENT: 2, TOOL: 14},
    "claude_agent_sdk": {AGENT: 1, TOOL: 7},
    "claude_code_cli_otlp": {AGENT: 1, MODEL: 7, TOOL: 14},
    "crewai": {AGENT: 2, TOOL: 7},
    "crewai_event_listener": {AGENT: 2, TOOL: 14},
    "crewai_traceloop": {AGENT: 2},
    "fastmcp": {TOOL: 21},
    "google_adk": {AGENT: 3, MODEL: 11, TOOL: 10, IGNORED: 1},
    "google_adk_nocontent": {AGENT: 3, MODEL: 11, TOOL: 10, IGNORED: 1},
    "google_adk_openinference": {AGENT: 6, TOOL: 10, IGNORED: 1},
    "google_adk_schema1": {AGENT: 3, MODEL: 22, TOOL: 10, IGNORED: 1},
    "haystack": {AGENT: 1, MODEL: 7, TOOL: 7},
    "haystack_native": {AGENT: 1, MODEL: 7, TOOL: 7},
    "langgraph": {AGENT: 4, MODEL: 15, TOOL: 13},
    "langgraph_genai": {AGENT: 4, TOOL: 13},
    "langgraph_langsmith": {AGENT: 4, MODEL: 15, TOOL: 13},
    "langgraph_traceloop": {AGENT: 8, MODEL: 15, TOOL: 13},
    "llamaindex": {AGENT: 1, MODEL: 7, TOOL: 7},
    "llamaindex_traceloop": {AGENT: 1, TOOL: 7},
    "mcp": {TOOL: 7},
    "mcp_traceloop": {TOOL: 7},
    "openai_agents": {AGENT: 3, TURN: 11, TOOL: 10},
    "openai_agents_logfire": {AGENT: 3, TURN: 11, TOOL: 10},
    "openai_agents_traceloop": {AGENT: 3, TOOL: 10},
    "openai_agents_v2": {AGENT: 3, TOOL: 10},
    "pydantic_ai": {AGENT: 2, MODEL: 8, TOOL: 8},
    "pydantic_ai_2": {AGENT: 2, MODEL: 8, TOOL: 8},
    "pydantic_ai_3": {AGENT: 2, MODEL: 8, TOOL: 8},
    "pydantic_ai_4": {AGENT: 2, MODEL: 8, TOOL: 8},
    "pydantic_ai_nocontent": {AGENT: 2, MODEL: 8, TOOL: 8},
    "semantic_kernel_default": {AGENT: 3, TOOL: 8},
    "smolagents": {AGENT: 2, TURN: 13, TOOL: 14, ANSWER: 2},
    "smolagents_genai": {AGENT: 2},
    "strands": {AGENT: 2, MODEL: 10, TOOL: 8},
}
START_ROLES = {
    "langgraph": {AGENT: 4},
    "langgraph_langsmith": {AGENT: 4},
    "langgraph_traceloop": {AGENT: 4, MODEL: 15, TOOL: 13},
    "llamaindex_traceloop": {AGENT: 1},
}
# capture: (agent name, conversation) of each agent span, in the order of their ends
AGENTS = {
    "autogen_openinference": [("reader", None), ("reader", None)],
    "claude_agent_sdk": [("ClaudeAgentSDK", "4a6cb760-05d1-4709-a72a-7c2a6cc6ffa3")],
    "claude_code_cli_otlp": [(None, "4a6cb760-05d1-4709-a72a-7c2a6cc6ffa3")],
    "crewai": [("reader", None)] * 2,
    "crewai_event_listener": [("reader", None)] * 2,
    "crewai_traceloop": [("reader", None)] * 2,
    "google_adk": [(f"reader{n}", f"sess-reader{n}") for n in ("", 2, 3)],
    "google_adk_openinference": [(f"reader{n}", f"sess-reader{n}") for n in ("", "", 2, 2, 3, 3)],
    "haystack": [(None, None)],
    "langgraph": [("reader", "sess-1"), ("reader2", None), ("reader3", None), ("reader_async", None)],
    "langgraph_genai": [("reader", "thread-1"), ("reader2", None), ("reader3", None), ("reader_async", None)],
    "langgraph_langsmith": [("reader", "thread-1"), ("reader2", None), ("reader_async", None), ("reader3", None)],
    "llamaindex": [("FunctionAgent", None)],
    "openai_agents": [("reader", None), ("reader2", None), ("reader3", None)],
    "openai_agents_logfire": [("reader", None), ("reader2", None), ("reader3", None)],
    "openai_agents_traceloop": [("reader", None), ("reader2", None), ("reader3", None)],
    "openai_agents_v2": [("reader", None), ("reader2", None), ("reader3", None)],
    "smolagents": [("reader", None), ("coder", None)],
    "strands": [("reader", "sess-1"), ("reader3", None)],
}
# capture: responses that ask for tools, that do not, that do not say
RESPONSES = {
    "agent_framework": (9, 2, 0),
    "agent_framework_default": (0, 0, 11),
    "claude_code_cli_otlp": (6, 1, 0),
    "google_adk": (0, 0, 11),
    "google_adk_schema1": (9, 2, 11),
    "haystack": (6, 1, 0),
    "haystack_native": (0, 0, 7),
    "langgraph": (12, 3, 0),
    "langgraph_langsmith": (12, 3, 0),
    "langgraph_traceloop": (12, 3, 0),
    "llamaindex": (0, 0, 7),
    "pydantic_ai": (7, 1, 0),
    "pydantic_ai_2": (7, 1, 0),
    "pydantic_ai_nocontent": (7, 1, 0),
    "strands": (8, 2, 0),
}


def tools(name: str) -> list[Observation]:
    seen = [observe(captured.end) for captured in capture(name)]
    return [one for one in seen if one is not None and one.role is Role.TOOL]


def identity(seen: Observation) -> tuple[str, bytes | None, bytes | None]:
    text = result_text(seen.result)
    assert text is not None
    return seen.tool, arguments_digest(seen.arguments), result_digest(text)


def test_every_capture_is_in_a_table():
    assert {path.stem for path in CAPTURES.glob("*.jsonl")} == set(ROLES)
    told_elsewhere = {
        "autogen_openinference",
        "claude_code_cli_otlp",
        "crewai_traceloop",
        "smolagents",
        "smolagents_genai",
    }
    assert set(CONTENT) | set(NO_CONTENT) | told_elsewhere == set(ROLES)


@pytest.mark.parametrize("name", CONTENT)
def test_content_is_known_and_reads_of_one_file_are_one_result(name):
    reads_of_a, reads_of_b, writes, failures = CONTENT[name]
    good = [seen for seen in tools(name) if seen.ok]
    assert all(seen.arguments_reason is seen.result_reason is None for seen in good)
    read = Counter(identity(seen) for seen in good if seen.result in (A, B))
    assert {key[1] for key in read if key[2] == result_digest(A)}.isdisjoint(
        {key[1] for key in read if key[2] == result_digest(B)}
    )
    assert sorted(read.values()) == sorted([reads_of_a, reads_of_b])
    assert len([seen for seen in good if seen.tool.lower().startswith("write")]) == writes
    assert len([seen for seen in tools(name) if not seen.ok]) == failures


@pytest.mark.parametrize("name", sorted(set(CONTENT) - {"mcp_traceloop"}))
def test_the_first_run_is_the_scenario(name):
    ends = [captured.end for captured in capture(name)]
    first = next(end.trace_id for end in ends if (seen := observe(end)) and seen.role is Role.TOOL)
    seen = [one for end in ends if end.trace_id == first and (one := observe(end)) and one.role is Role.TOOL]
    results = [
        (A if one.result == A else B if one.result == B else one.tool.lower()[:5]) if one.ok else "failed"
        for one in seen
    ]
    assert Counter(results) == {A: 4, B: 1, "write": 1, "failed": 1}
    failed = next(one for one in seen if not one.ok)
    assert "missing.txt" in str(failed.arguments)
    assert failed.arguments_reason is None


@pytest.mark.parametrize("name", NO_CONTENT)
def test_without_content_arguments_and_results_are_unknown(name):
    seen = tools(name)
    succeeded, failed = NO_CONTENT[name]
    assert Counter(one.ok for one in seen) == {True: succeeded, False: failed}
    for one in seen:
        assert one.tool.removeprefix("fs-") in {"read_file", "write_file"}
        assert (one.arguments, one.arguments_reason) == (None, Unjudged.ARGUMENTS_NOT_CAPTURED)
        assert (one.result, one.result_reason) == (None, Unjudged.RESULT_NOT_CAPTURED)


def test_smolagents_keyword_and_positional_calls_are_told_apart_from_each_other_only():
    counts = Counter(identity(seen) for seen in tools("smolagents") if seen.ok and seen.result == A)
    assert sorted(counts.values()) == [3, 5]
    assert Counter(seen.ok for seen in tools("smolagents")) == {True: 12, False: 2}


def test_autogen_outer_spans_have_the_content_and_inner_ones_the_failure():
    seen = tools("autogen_openinference")
    outer = [one for one in seen if one.arguments is not None]
    assert Counter(one.result for one in outer)[A] == 4
    assert all(one.ok for one in outer)
    inner = [one for one in seen if one.arguments is None]
    assert Counter(one.ok for one in inner) == {True: 6, False: 1}
    assert all(one.call_id for one in inner)


def test_claude_code_tells_the_content_on_the_tool_and_the_failure_on_its_execution():
    seen = tools("claude_code_cli_otlp")
    told = [one for one in seen if one.tool]
    executions = {one.call_id: one for one in seen if not one.tool}
    assert {one.call_id for one in told} == set(executions)
    reads = [one for one in told if one.tool == "Read" and executions[one.call_id].ok]
    assert Counter(identity(one) for one in reads).most_common(1)[0][1] == 4
    assert Counter(one.result for one in reads) == {A: 4, B: 1}
    (write,) = [one for one in told if one.tool == "Write"]
    assert write.arguments_reason is Unjudged.ARGUMENTS_NOT_CAPTURED  # the path alone does not tell two edits apart
    assert all(one.ok for one in told)
    assert [one.ok for one in executions.values()].count(False) == 1


@pytest.mark.parametrize("name", ROLES)
def test_roles_at_the_end(name):
    seen = [observe(captured.end) for captured in capture(name)]
    assert Counter(one.role for one in seen if one is not None) == ROLES[name]


@pytest.mark.parametrize("name", ROLES)
def test_roles_at_the_start(name):
    roles = Counter(role_at_start(captured.start) for captured in capture(name))
    del roles[None]
    assert roles == START_ROLES.get(name, ROLES[name])


@pytest.mark.parametrize("name", ROLES)
def test_what_the_start_of_a_tool_names_is_what_the_end_names(name):
    for start, end in capture(name):
        if role_at_start(start) is not Role.TOOL:
            continue
        seen = observe(end)
        assert seen is not None
        tool, call_id = start_tool(start)
        assert tool in {seen.tool or None, None}
        assert call_id in {seen.call_id, None}


@pytest.mark.parametrize("name", AGENTS)
def test_agents_are_named_and_their_conversation_known(name):
    seen = [observe(captured.end) for captured in capture(name)]
    agents = [(one.agent_name, one.conversation) for one in seen if one is not None and one.role is Role.AGENT]
    assert agents == AGENTS[name]


@pytest.mark.parametrize("name", RESPONSES)
def test_whether_responses_ask_for_tools(name):
    seen = [observe(captured.end) for captured in capture(name)]
    told = Counter(one.called_tools for one in seen if one is not None and one.role is Role.MODEL)
    assert (told[True], told[False], told[None]) == RESPONSES[name]
