"""What doctor is told about switching content on."""

import pytest

from otel_docsfab.spans.dialects.families import FAMILIES
from otel_docsfab.spans.dialects.switches import UNKNOWN, is_captured, switch_for

from .captured import capture

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.mark.parametrize("scope", ["gcp.vertex.agent", "opentelemetry.instrumentation.genai.langchain"])
def test_the_boolean_form_alone_yields_nothing_and_the_advice_says_so(scope):
    switch = switch_for(scope)
    assert not is_captured(switch, {})
    assert not is_captured(switch, {CAPTURE: "true"})
    assert is_captured(switch, {CAPTURE: "SPAN_ONLY"})
    assert is_captured(switch, {CAPTURE: "span_and_event"})
    assert f"{CAPTURE}=SPAN_ONLY" in switch.advice
    assert f"{CAPTURE}=true alone" in switch.advice


@pytest.mark.parametrize(
    ("scope", "environment", "captured"),
    [
        ("pydantic-ai", {}, True),
        ("openinference.instrumentation.crewai", {}, True),
        ("openinference.instrumentation.crewai", {"OPENINFERENCE_HIDE_OUTPUTS": "true"}, False),
        ("opentelemetry.instrumentation.langchain", {"TRACELOOP_TRACE_CONTENT": "False"}, False),
        ("agent_framework", {}, False),
        ("agent_framework", {"ENABLE_SENSITIVE_DATA": "true"}, True),
        ("semantic_kernel.functions.kernel_function", {}, False),
        ("mcp-python-sdk", {CAPTURE: "SPAN_ONLY"}, False),
        ("autogen-core", {}, False),
        ("com.anthropic.claude_code.tracing", {"CLAUDE_CODE_ENABLE_TELEMETRY": "1"}, False),
    ],
)
def test_whether_the_environment_captures_content(scope, environment, captured):
    assert is_captured(switch_for(scope), environment) is captured


def test_haystack_is_known_by_its_dialect():
    switch = switch_for("my_app", "haystack")
    assert not is_captured(switch, {})
    assert is_captured(switch, {"HAYSTACK_CONTENT_TRACING_ENABLED": "true"})


def test_every_scope_that_a_family_claims_has_advice_of_its_own():
    general = {scope for family in FAMILIES for scope in family.scopes if switch_for(scope) is UNKNOWN}
    assert general == set()
    assert "docsfab.result.digest" in UNKNOWN.advice


@pytest.mark.parametrize(
    "name", ["agent_framework_default", "autogen", "fastmcp", "google_adk", "mcp", "semantic_kernel_default"]
)
def test_the_captures_without_content_are_what_the_table_says_of_an_empty_environment(name):
    tools = {captured.end.scope for captured in capture(name) if "gen_ai.tool.name" in captured.end.attributes}
    assert tools
    assert not any(is_captured(switch_for(scope), {}) for scope in tools)
