"""What each capture comes to, read by eye against its scenario; see ``test_captures``."""

PROFILES = {"claude_agent_sdk": "claude-code"}
"""Toolset profile by capture; ``generic`` for the others."""
PARENTS_FIRST = {"langgraph_langsmith"}
"""Captures whose spans are told afterwards, parents first: for reports only."""

EXPECTED = {
    "agent_framework": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader3", "answered", "d2"),
        ("reader4", "cancelled", ""),
    ],
    "agent_framework_default": [
        ("reader", "answered", "u1 u2 u3 u3 u4 -5 x6"),
        ("reader3", "answered", "u2"),
        ("reader4", "answered", ""),
    ],
    "autogen": [
        ("reader", "answered", "u1 u2 u3 u4 u5 -6 x7"),
    ],
    "autogen_openinference": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
    ],
    "claude_agent_sdk": [
        ("ClaudeAgentSDK", "answered", "d1 N2 d3 N3 N4 w5 x6"),
    ],
    "crewai": [
        ("reader", "answered", "d1 N2 d3 N4 N5 w6 x7"),
    ],
    "crewai_event_listener": [
        ("reader", "answered", "d1 N2 d3 N3 N4 w5 x6"),
        ("reader", "answered", "d1 d2 N3 w4 x5 x6 x7"),
    ],
    "crewai_traceloop": [],
    "fastmcp": [
        (None, "answered", "u1"),
        (None, "answered", "u1"),
        (None, "answered", "u1"),
        (None, "answered", "u1"),
        (None, "answered", "u1"),
        (None, "answered", "-1"),
        (None, "cancelled", "x1"),
    ],
    "google_adk": [
        ("reader", "answered", "u1 u2 u3 u3 u4 -5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "u1 u2"),
    ],
    "google_adk_nocontent": [
        ("reader", "answered", "u1 u2 u3 u3 u4 -5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "u1 u2"),
    ],
    "google_adk_openinference": [
        ("reader", "answered", "d1 N2 N3 d4 N5 w6 x7"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "d1 d2"),
    ],
    "google_adk_schema1": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "d1 d2"),
    ],
    "haystack": [
        (None, "answered", "d1 N2 N3 d3 N4 w5 x6"),
    ],
    "haystack_native": [
        (None, "answered", "u1 u2 u3 u3 u4 -5 x6"),
    ],
    "langgraph": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "d2"),
        ("reader_async", "answered", "d1 N2 d3 N3"),
    ],
    "langgraph_genai": [
        ("reader", "answered", "d1 N2 N3 d4 N5 w6 x7"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "d1"),
        ("reader_async", "answered", "d1 N2 d3 N3"),
    ],
    "langgraph_langsmith": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader_async", "answered", "d1 N2 N3 d3"),
        ("reader3", "answered", "d2"),
    ],
    "langgraph_traceloop": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "d2"),
        ("reader_async", "answered", "d1 N2 N3 d3"),
    ],
    "llamaindex": [
        ("FunctionAgent", "answered", "d1 N2 N3 d3 N4 w5 x6"),
    ],
    "llamaindex_traceloop": [
        ("FunctionAgent", "answered", "d1 N2 d3 N3 N4 w5 x6"),
    ],
    "mcp": [
        (None, "answered", "u2 u3 u3 u4 -5 x6 u6"),
    ],
    "mcp_traceloop": [
        (None, "answered", "d1"),
        (None, "answered", "d1"),
        (None, "answered", "d1"),
        (None, "answered", "d1"),
        (None, "answered", "d1"),
        (None, "answered", "w1"),
        (None, "cancelled", "x1"),
    ],
    "openai_agents": [
        ("reader", "answered", "d1 N2 d3 N3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "-1 -2"),
    ],
    "openai_agents_logfire": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "-1 -2"),
    ],
    "openai_agents_traceloop": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "-1 -2"),
    ],
    "openai_agents_v2": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
        ("reader3", "answered", "-1 -2"),
    ],
    "pydantic_ai": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
    ],
    "pydantic_ai_2": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
    ],
    "pydantic_ai_3": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
    ],
    "pydantic_ai_4": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader2", "cancelled", "x1"),
    ],
    "pydantic_ai_nocontent": [
        ("reader", "answered", "u1 u2 u3 u3 u4 -5 x6"),
        ("reader2", "cancelled", "x1"),
    ],
    "semantic_kernel_default": [
        ("reader", "answered", "u2 u3 u4 u5 -6 x7 u7"),
        ("reader3", "answered", "u1"),
    ],
    "smolagents": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("coder", "answered", "d1 d2 N2 d2 N3 w4 x5"),
    ],
    "smolagents_genai": [],
    "strands": [
        ("reader", "answered", "d1 N2 N3 d3 N4 w5 x6"),
        ("reader3", "answered", "d2"),
    ],
}
