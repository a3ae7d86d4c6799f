"""``instrument()`` before and after the provider is set, again, anew and undone."""

import logging
import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import otel_docsfab as docsfab
from otel_docsfab.gate import hooks
from otel_docsfab.supervisor import Site
from otel_docsfab.testing import MemorySink

SPANS = "docsfab.supervisor.spans"


@pytest.fixture(autouse=True)
def off_again():
    yield
    docsfab.uninstrument()


@pytest.fixture
def provider():
    return TracerProvider(shutdown_on_exit=False)


def read(provider, times=1, path="a.md"):
    """An agent that reads one file again and again, a turn each."""
    tracer = provider.get_tracer("some.runtime")
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}) as agent:
        for _ in range(times):
            with tracer.start_as_current_span("chat", attributes={"gen_ai.operation.name": "chat"}):
                pass
            call = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "read",
                "gen_ai.tool.call.arguments": f'{{"path": "{path}"}}',
                "gen_ai.tool.call.result": "same",
            }
            with tracer.start_as_current_span("execute_tool read", attributes=call):
                pass
    return agent


def spans(supervisor):
    """Agent and tool spans that were looked at."""
    return sum(count for (metric, _), count in supervisor.tallies.read().items() if metric == SPANS)


def in_process(program, **environment):
    """Run a program of its own: the global provider can be set once a process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_an_app_is_watched_with_one_call(provider):
    decisions, sink = [], MemorySink()
    docsfab.instrument(decisions.append, sinks=[sink], tracer_provider=provider)
    agent = read(provider, 19)  # the stop comes when the 18th turn ends: with the next request
    assert [decision.action for decision in decisions] == ["stop"]
    assert not decisions[0].enforced
    assert agent.attributes["docsfab.stop.code"] == "execution-read-loop-withheld-reads-bound"
    assert sink.records[0].read_evidence.unchanged_re_reads == 17


def test_the_same_call_or_a_bare_one_changes_nothing(provider):
    decisions = []
    first = docsfab.instrument(decisions.append, tracer_provider=provider)
    assert docsfab.instrument(decisions.append, tracer_provider=provider) is first
    assert docsfab.instrument() is first
    read(provider, 18)
    assert len(decisions) == 1


def test_other_arguments_start_anew(provider):
    before, after = [], []
    first = docsfab.instrument(before.append, tracer_provider=provider)
    second = docsfab.instrument(after.append, tracer_provider=provider, limits={"execution.readLoopWithheldReads": 0})
    assert second is not first
    read(provider, 18)
    assert not before
    assert [decision.limit for decision in after] == [0]


def test_uninstrument_leaves_an_empty_slot_that_is_filled_again(provider):
    first = docsfab.instrument(tracer_provider=provider)
    docsfab.uninstrument()
    docsfab.uninstrument()
    read(provider)
    assert spans(first) == 0
    for _ in range(3):
        docsfab.uninstrument()
        again = docsfab.instrument(tracer_provider=provider)
    read(provider)
    assert spans(again) == 2
    assert len(provider._active_span_processor._span_processors) == 1


def test_open_attempts_are_given_up(provider):
    sink = MemorySink()
    docsfab.instrument(sinks=[sink], tracer_provider=provider)
    tracer = provider.get_tracer("some.runtime")
    agent, chat = ({"gen_ai.operation.name": name} for name in ("invoke_agent", "chat"))
    with tracer.start_as_current_span("agent", attributes=agent), tracer.start_as_current_span("chat", attributes=chat):
        docsfab.uninstrument()
    assert [record.outcome for record in sink.records] == ["abandoned"]


def test_a_supervisor_of_ones_own_stays_open(provider):
    sink = MemorySink()
    supervisor = docsfab.Supervisor(sinks=[sink])
    assert docsfab.instrument(supervisor=supervisor, tracer_provider=provider, mode=None) is supervisor
    docsfab.uninstrument()
    assert supervisor.sinks == (sink,)
    with pytest.raises(docsfab.ConfigError, match="toolset"):
        docsfab.instrument(supervisor=supervisor, toolset="generic")


def test_off_installs_nothing(provider, monkeypatch):
    monkeypatch.setenv("OTEL_DOCSFAB_MODE", "off")
    docsfab.instrument(mode="enforce", tracer_provider=provider)
    assert provider._active_span_processor._span_processors == ()


def test_it_observes_unless_somebody_says_otherwise(provider, monkeypatch):
    assert docsfab.instrument(tracer_provider=provider).settings.mode == "observe"
    docsfab.uninstrument()
    monkeypatch.setenv("OTEL_DOCSFAB_MODE", "enforce")
    assert docsfab.instrument(tracer_provider=provider).settings.mode == "enforce"


def test_enforce_installs_the_hooks_and_observe_does_not(provider, monkeypatch):
    told = []
    monkeypatch.setattr(hooks, "install", told.append, raising=False)
    monkeypatch.setattr(hooks, "uninstall", lambda: told.append("undone"), raising=False)
    docsfab.instrument(mode="observe", tracer_provider=provider)
    assert not told
    supervisor = docsfab.instrument(mode="enforce", tracer_provider=provider)
    docsfab.uninstrument()
    assert told == [supervisor, "undone"]


def test_hooks_that_fail_leave_the_watching(provider, monkeypatch):
    monkeypatch.setattr(hooks, "install", lambda _: 1 / 0, raising=False)
    monkeypatch.setattr(hooks, "uninstall", lambda: 1 / 0, raising=False)
    supervisor = docsfab.instrument(mode="enforce", tracer_provider=provider)
    read(provider)
    docsfab.uninstrument()
    assert supervisor.faults.counts()[Site.HOOK] == 2
    assert spans(supervisor) == 2


def test_a_wrong_setting_raises_and_changes_nothing(provider, monkeypatch):
    first = docsfab.instrument(tracer_provider=provider)
    with pytest.raises(docsfab.LimitError, match="readLoopRepeatStreak"):
        docsfab.instrument(limits={"execution.readLoopRepeatStreak": -1})
    monkeypatch.setenv("OTEL_DOCSFAB_INTERRUPT", "maybe")
    with pytest.raises(docsfab.ConfigError, match="OTEL_DOCSFAB_INTERRUPT"):
        docsfab.instrument(mode="observe")
    assert docsfab.instrument() is first


@pytest.mark.parametrize("how", ["variable", "code"])
def test_interrupt_comes_from_code_or_the_environment(provider, monkeypatch, how):
    monkeypatch.setenv("OTEL_DOCSFAB_INTERRUPT", "true" if how == "variable" else "false")
    docsfab.instrument(tracer_provider=provider, interrupt=None if how == "variable" else True)
    (slot,) = provider._active_span_processor._span_processors
    assert slot.processor.interrupt


def test_a_provider_without_processors_is_named_once(caplog):
    with caplog.at_level(logging.WARNING):
        docsfab.instrument(tracer_provider=trace.NoOpTracerProvider())
    assert "NoOpTracerProvider takes no span processors" in caplog.text


BEFORE = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import set_tracer_provider, {names}
import otel_docsfab as docsfab
setter = trace._set_tracer_provider
early = trace.get_tracer("early")
supervisor = docsfab.instrument()
assert docsfab.instrument() is supervisor
{between}
with early.start_as_current_span("agent", attributes={{"gen_ai.operation.name": "invoke_agent"}}): pass
seen = sum(n for (metric, _), n in supervisor.tallies.read().items() if metric == "docsfab.supervisor.spans")
print(seen, trace._set_tracer_provider is setter)
"""


@pytest.mark.parametrize(
    "setting",
    ["set_tracer_provider(TracerProvider())", "trace.set_tracer_provider(TracerProvider())"],
    ids=["imported by name", "by the module"],
)
def test_the_provider_may_come_later_and_the_api_is_left_as_it_was(setting):
    assert in_process(BEFORE.format(names="get_tracer", between=setting)) == ["1", "True"]


def test_the_provider_may_come_from_the_environment():
    program = BEFORE.format(names="get_tracer", between="trace.get_tracer_provider()")
    assert in_process(program, OTEL_PYTHON_TRACER_PROVIDER="sdk_tracer_provider") == ["1", "True"]


def test_the_provider_may_be_there_already():
    program = BEFORE.format(names="get_tracer", between="").replace(
        "supervisor = docs", "set_tracer_provider(TracerProvider())\nsupervisor = docs"
    )
    assert in_process(program) == ["1", "True"]


def test_without_a_provider_nothing_happens_and_undoing_leaves_the_api_as_it_was():
    assert in_process(BEFORE.format(names="get_tracer", between="docsfab.uninstrument()")) == ["0", "True"]


def test_undone_before_the_provider_came_it_stays_undone():
    undone = "docsfab.uninstrument(); set_tracer_provider(TracerProvider())"
    assert in_process(BEFORE.format(names="get_tracer", between=undone)) == ["0", "True"]
