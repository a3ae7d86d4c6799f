"""Any span, any attribute of any type: never an exception, never two contents taken for one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_docsfab.core.identity import arguments_digest, result_digest
from otel_docsfab.spans.dialects import REGISTRY, compactions, observe, result_text, role_at_start, start_tool
from otel_docsfab.spans.dialects.sources import Source
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.view import EventView, RecordedSpan

from .shapes import SHAPES


class Hostile:
    """Raises whatever is asked of it."""

    def _raise(self, *_arguments):
        raise RuntimeError("secret content")

    __str__ = __eq__ = __hash__ = __len__ = __iter__ = __bool__ = __getitem__ = __contains__ = _raise


class HostileText(str):
    __slots__ = ()

    def _raise(self, *_arguments):
        raise RuntimeError("secret content")

    __str__ = __eq__ = __len__ = __contains__ = startswith = _raise
    __hash__ = str.__hash__


class HostileMapping(dict):
    def _raise(self, *_arguments):
        raise RuntimeError("secret content")

    __getitem__ = __iter__ = keys = items = _raise


KEYS = sorted(
    {source.key for dialect in REGISTRY.dialects for source in (*dialect.arguments, *dialect.results)}
    | {key for dialect in REGISTRY.dialects for key in (*dialect.tool_keys, *dialect.call_id_keys, *dialect.agent_keys)}
    | {key for dialect in REGISTRY.dialects for key in (*dialect.marking_keys, *dialect.conversation_keys)}
    | {"input.mime_type", "output.mime_type", "error.type", "gen_ai.tool.status", "haystack.tool.error", "metadata"}
    | {"gen_ai.output.messages", "gen_ai.response.finish_reasons", "docsfab.result.digest", "docsfab.arguments.digest"}
    | {"success", "file_path", "docsfab.evicted.call_ids"}
)
SCOPES = sorted({scope for dialect in REGISTRY.dialects for scope in dialect.scopes} | {"", "my_app"})
WORDS = ["execute_tool", "invoke_agent", "chat", "TOOL", "AGENT", "LLM", "CHAIN", "tool", "agent", "llm", "tools/call"]
NAMES = [
    "execute_tool read",
    "haystack.agent.step.tool",
    "Function: {name}",
    "claude_code.tool",
    "reader",
    "docsfab.compaction",
]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=20)
HOSTILE = [
    Hostile,
    lambda: HostileText("x"),
    lambda: HostileText('{"a": 1}'),
    lambda: HostileMapping(a=1),
    lambda: object,
]
hostile = st.sampled_from(HOSTILE).map(lambda make: make())
nested = st.recursive(
    scalars | hostile,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers() | st.binary(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
json_texts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["output", "kwargs", "content", "data", "args", "inputs", "input_str", "tool_call_id", "result"]
            )
            | st.sampled_from(
                ["response", "blocks", "text", "raw_output", "is_error", "tool_output", "file", "type", "arguments"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
).map(json.dumps)
DEEP = ["[" * 5_000, "[" * 300 + "]" * 300, '{"a":' * 2_000 + "1" + "}" * 2_000, "1" * 10_000, "x" * 300_000]
deep = st.integers(0, len(DEEP) - 1).map(lambda index: DEEP[index])
values = (
    nested
    | json_texts
    | deep
    | st.sampled_from(WORDS)
    | st.sampled_from(["application/json", "null", "sha256:" + "0" * 64])
)
attribute_maps = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5) | st.integers(), values, max_size=8)
event_names = ["gen_ai.tool.message", "gen_ai.choice", "tool.output", "exception", "docsfab.compaction"]
events = st.lists(
    st.tuples(st.sampled_from(event_names) | hostile, attribute_maps, st.integers(0, 9)).map(
        lambda parts: EventView(*parts)
    ),
    max_size=3,
)
spans = st.tuples(
    st.sampled_from(NAMES) | st.text(max_size=8),
    st.sampled_from(SCOPES),
    attribute_maps,
    events,
    st.booleans(),
    st.booleans(),
).map(lambda parts: RecordedSpan(*parts[:5], is_root=parts[5], value_length_limit=7 if parts[4] else None))
few = settings(max_examples=settings.default.max_examples // 2)


@given(spans)
def test_any_span_is_read_without_an_exception_and_without_a_dialect_failing(span):
    before = list(REGISTRY.problems)
    assert role_at_start(span) is None or isinstance(role_at_start(span), Role)
    tool, call_id = start_tool(span)
    assert tool is None or type(tool) is str
    assert call_id is None or type(call_id) is str
    seen = observe(span)
    assert isinstance(compactions(span), tuple)
    assert REGISTRY.problems == before
    if seen is None:
        return
    assert isinstance(seen, Observation)
    if seen.role in (Role.TOOL, Role.ANSWER):
        known = seen.arguments_digest is not None
        assert (seen.arguments_reason is None) == (seen.arguments is not None or known) or known
        if seen.arguments is not None:
            assert arguments_digest(seen.arguments) is not None
        if seen.result is not None:
            assert result_text(seen.result) is not None
        if seen.result_reason is None and seen.result_digest is None:
            assert seen.result is not None


def test_reports_hold_no_content():
    assert "secret" not in " ".join(REGISTRY.problems)


texts = (
    st.text(max_size=30)
    | json_texts
    | st.sampled_from(["", "null", "N/A", "__REDACTED__", '"a"', "a", "5", "5.0", "[]"])
)
arguments = st.dictionaries(
    st.sampled_from(["path", "offset", "kwargs", "args"]),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    max_size=3,
)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@few
@given(first=texts, second=texts)
def test_two_different_results_of_one_shape_are_never_equal(shape, first, second):
    seen = [observe(shape({"path": "a"}, result, call)) for result, call in ((first, "c1"), (second, "c2"))]
    digests = [one.result_reason or result_digest(result_text(one.result)) for one in seen]
    known = all(one.result_reason is None for one in seen)
    assert (known and digests[0] == digests[1]) == (known and first == second)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@few
@given(first=arguments, second=arguments)
def test_two_different_arguments_of_one_shape_are_never_equal(shape, first, second):
    seen = [observe(shape(given, "content", call)) for given, call in ((first, "c1"), (second, "c2"))]
    if any(one.arguments_reason is not None for one in seen):
        return
    same = arguments_digest(first) == arguments_digest(second)
    assert (arguments_digest(seen[0].arguments) == arguments_digest(seen[1].arguments)) == same


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_shape_is_known_and_its_call_id_step_and_order_of_keys_do_not_matter(shape):
    first = observe(shape({"path": "a", "offset": 1}, "content\n", "c1"))
    again = observe(shape({"offset": 1, "path": "a"}, "content\n", "call_2"))
    assert first.ok
    assert first.role is Role.TOOL
    assert first.result == again.result == "content\n"
    assert first.tool == again.tool == "read"
    assert (
        arguments_digest(first.arguments)
        == arguments_digest(again.arguments)
        == arguments_digest({"path": "a", "offset": 1})
    )


@given(st.text(max_size=10), st.text(max_size=10))
def test_bare_texts_of_langchain_are_exact(first, second):
    def bare(text):
        return observe(
            RecordedSpan(
                "read",
                "openinference.instrumentation.langchain",
                {
                    "openinference.span.kind": "TOOL",
                    "tool.name": "read",
                    "input.value": text,
                    "output.value": "content",
                },
            )
        )

    one, other = bare(first), bare(second)
    if one.arguments_reason is None and other.arguments_reason is None:
        assert (arguments_digest(one.arguments) == arguments_digest(other.arguments)) == (first == second)


def test_sources_are_named_once_per_family():
    for dialect in REGISTRY.dialects:
        for sources in (dialect.arguments, dialect.results):
            places = [(source.key, source.event) for source in sources if isinstance(source, Source)]
            assert len(places) == len(set(places))
