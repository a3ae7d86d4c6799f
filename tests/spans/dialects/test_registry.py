"""Extending the registry, and keeping plug-ins from doing harm."""

import logging
from importlib.metadata import EntryPoint

import pytest

from otel_docsfab.spans import dialects
from otel_docsfab.spans.dialects import Family, Registry, Source, observe, role_at_start, start_tool
from otel_docsfab.spans.dialects.families import FAMILIES
from otel_docsfab.spans.dialects.registry import ENTRY_POINT_GROUP
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.view import RecordedSpan

from .shapes import GENAI


class Mine(Family):
    name = "mine"
    scopes = frozenset({"my.runtime"})
    marking_keys = frozenset({"mine.kind"})
    tool_keys = ("mine.tool",)
    arguments = (Source("mine.input"),)
    results = (Source("mine.output"),)

    def role(self, view):
        return Role.TOOL if view.attributes.get("mine.kind") == "tool" else None


class Broken:
    name = "broken"
    scopes = frozenset({"broken.runtime"})

    def matches(self, view):
        raise RuntimeError("secret content")

    role_at_start = start_tool = observe = matches


SPAN = RecordedSpan(
    "x", "my.runtime", {"mine.kind": "tool", "mine.tool": "read", "mine.input": "{}", "mine.output": "c"}
)


@pytest.fixture
def registry(monkeypatch):
    made = Registry()
    monkeypatch.setattr(dialects, "REGISTRY", made)
    return made


def test_a_dialect_of_ones_own_is_found_by_scope_and_by_its_marks(registry):
    assert observe(SPAN) is None
    dialects.register_dialect(Mine())
    for scope in ("my.runtime", "another"):
        seen = observe(SPAN._replace(scope=scope))
        assert (seen.role, seen.dialect, seen.tool, seen.arguments, seen.result) == (Role.TOOL, "mine", "read", {}, "c")
    assert observe(RecordedSpan("GET", "another", {"http.method": "GET"})) is None


def test_a_scope_that_is_taken_goes_to_the_dialect_that_is_asked_first(registry):
    class Adk(Mine):
        scopes = frozenset({"gcp.vertex.agent"})

    span = SPAN._replace(scope="gcp.vertex.agent", name="execute_tool read")
    registry.register(Adk())
    assert observe(span).dialect == "adk"
    registry.register(Adk(), before="adk")
    assert observe(span).dialect == "mine"
    with pytest.raises(ValueError, match="nosuch"):
        registry.register(Adk(), before="nosuch")


def test_one_name_one_dialect(registry):
    registry.register(Mine())
    registry.register(Mine())
    assert [dialect.name for dialect in registry.dialects].count("mine") == 1
    names = [dialect.name for dialect in FAMILIES]
    assert len(names) == len(set(names))


def test_scopes_of_the_families_do_not_overlap():
    scopes = [scope for dialect in FAMILIES for scope in dialect.scopes]
    assert len(scopes) == len(set(scopes))


def test_a_dialect_that_raises_is_reported_once_without_its_words_and_hurts_nobody(registry, caplog):
    registry.register(Broken())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            span = RecordedSpan("x", "broken.runtime")
            assert observe(span) is None
            assert role_at_start(span) is None
            assert start_tool(span) == (None, None)
    assert registry.problems == ["dialect broken: RuntimeError"]
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text
    assert observe(RecordedSpan("execute_tool read", "pydantic-ai", GENAI)).tool == "read"


def test_entry_points_are_loaded_once_and_a_broken_one_is_skipped(registry, monkeypatch):
    loads = []

    def entry_points(*, group):
        loads.append(group)
        return [EntryPoint(name, f"{__name__}:{name}", group) for name in ("NoSuchDialect", "Mine", "make_mine")]

    monkeypatch.setattr("otel_docsfab.spans.dialects.registry.entry_points", entry_points)
    assert observe(SPAN).dialect == "mine"
    assert observe(SPAN).tool == "read"
    assert loads == [ENTRY_POINT_GROUP]
    assert registry.problems == ["dialect NoSuchDialect: AttributeError"]


def make_mine():
    return Mine()
