"""The tracker with plain recorded spans: folding, turns without model spans, owners, late and lost ends."""

from __future__ import annotations

import itertools

import pytest

from otel_docsfab import Outcome, Supervisor
from otel_docsfab.spans.nodes import MAX_FOLDED
from otel_docsfab.spans.observation import Role
from otel_docsfab.spans.tracker import Tracker
from otel_docsfab.spans.view import EventView, RecordedSpan
from otel_docsfab.testing import ManualClock, MemorySink

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "reader"}
MODEL = {"gen_ai.operation.name": "chat"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}
CONTENT = {"gen_ai.tool.call.arguments": '{"path": "a.md"}', "gen_ai.tool.call.result": "same"}
OI_TOOL = {"openinference.span.kind": "TOOL", "tool.name": "read"}
OI_CONTENT = {"input.value": '{"path": "a.md"}', "output.value": "same"}
MCP = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "read"}


class Trace:
    """Spans by name, each started with some attributes and ended with more."""

    def __init__(self, *, live=True, max_open=200_000, **options):
        self.sink, self.clock = MemorySink(), ManualClock()
        options = {"mode": "observe", **options}
        self.supervisor = Supervisor(sinks=[self.sink], clock=self.clock, **options)
        self.tracker = Tracker(self.supervisor, live=live, max_open=max_open)
        self.numbers = itertools.count(1)
        self.open = {}

    def start(self, attributes, parent=None, *, name="span", scope="", at_ns=None):
        key = next(self.numbers)
        self.open[key] = (name, scope, dict(attributes))
        view = RecordedSpan(name, scope, attributes, is_root=parent is None)
        self.tracker.started(key, parent, view, at_ns=at_ns)
        return key

    def end(self, key, more=(), *, error=False, events=(), replaced=None, at_ns=None):
        name, scope, attributes = self.open.pop(key)
        attributes = replaced if replaced is not None else attributes | dict(more)
        view = RecordedSpan(name, scope, attributes, events=events, error=error)
        return self.tracker.ended(key, view, at_ns=at_ns)

    def whole(self, attributes, parent=None, **more):
        key = self.start(attributes, parent, **more)
        return self.end(key)

    @property
    def spans(self):
        counts = self.supervisor.tallies.read().items()
        return {labels[0]: count for (name, labels), count in counts if name == "docsfab.supervisor.spans"}

    @property
    def record(self):
        (record,) = self.sink.records
        return record

    def settled(self):
        """Nothing is left of what ended."""
        return len(self.tracker) == 0 and self.supervisor.live_attempts == 0


@pytest.fixture
def trace():
    return Trace()


# One call, told several times (mapping rule 8)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ((TOOL, CONTENT), (TOOL, CONTENT)),
        ((TOOL, CONTENT), (TOOL, {})),
        ((TOOL, {}), (TOOL, CONTENT)),
        ((OI_TOOL, OI_CONTENT), (TOOL, {})),
        ((OI_TOOL, {}), (TOOL, CONTENT)),
        (({}, OI_TOOL | OI_CONTENT), (TOOL, {})),  # nothing is known at the outer one's start
        (({}, OI_TOOL | OI_CONTENT), ({}, TOOL)),
        (({}, TOOL), ({}, OI_TOOL | OI_CONTENT)),
        ((TOOL, CONTENT), ({}, OI_TOOL | OI_CONTENT)),
        (({}, OI_TOOL | OI_CONTENT), (MCP, {})),
        ((TOOL, CONTENT), (MCP, {})),
    ],
)
def test_nested_spans_of_one_call_are_one_call(trace, outer, inner):
    agent = trace.start(AGENT)
    for _ in range(3):
        trace.whole(MODEL, agent)
        around = trace.start(outer[0], agent)
        below = trace.start(inner[0], around)
        trace.end(below, inner[1])
        trace.end(around, outer[1])
    trace.end(agent)
    assert trace.sink.verdicts == ["deliver", "deliver-with-notice", "deliver-with-notice"]
    assert trace.record.calls == 3
    assert trace.record.turns == 3
    assert trace.settled()


def test_three_spans_of_one_call_are_one_call(trace):
    agent = trace.start(AGENT)
    keys = [trace.start(MCP, agent)]
    keys += [trace.start(MCP, keys[-1])]
    keys += [trace.start(MCP, keys[-1])]
    for key in reversed(keys):
        trace.end(key, CONTENT if key == keys[-1] else {})
    trace.end(agent)
    assert trace.sink.verdicts == ["deliver"]
    assert trace.spans == {"folded": 2, "judged": 1, "ignored": 1}


def test_a_call_fails_when_any_of_its_spans_does(trace):
    agent = trace.start(AGENT)
    around = trace.start(OI_TOOL, agent)
    trace.end(trace.start(TOOL, around), error=True)
    trace.end(around, OI_CONTENT)
    trace.end(agent)
    assert trace.record.verdicts == {}
    assert trace.record.unjudged == {}


def test_a_call_id_makes_two_names_one_call(trace):
    agent = trace.start(AGENT)
    around = trace.start(TOOL | {"gen_ai.tool.name": "fs-read", "gen_ai.tool.call.id": "c1"}, agent)
    trace.whole(TOOL | CONTENT | {"gen_ai.tool.call.id": "c1"}, around)
    trace.end(around)
    trace.end(agent)
    assert trace.record.calls == 1


def test_a_tool_that_calls_another_is_two_calls(trace):
    agent = trace.start(AGENT)
    around = trace.start(TOOL | {"gen_ai.tool.name": "edit"}, agent)
    trace.whole(TOOL | CONTENT, around)
    trace.end(around, CONTENT)
    trace.end(agent)
    assert [effect.tool for _, effect, _ in trace.sink.judgements] == ["read", "edit"]
    assert trace.record.turns == 1
    assert trace.settled()


def test_a_span_that_gets_its_name_late_may_turn_out_to_be_another_call(trace):
    agent = trace.start(AGENT)
    around = trace.start(TOOL | {"gen_ai.tool.name": "edit"}, agent)
    below = trace.start(
        {"openinference.span.kind": "TOOL"},
        around,
        scope="openinference.instrumentation.llama_index",
        name="FunctionTool.acall",
    )
    trace.end(below, OI_TOOL | OI_CONTENT)
    trace.end(around, CONTENT)
    trace.end(agent)
    assert sorted(effect.tool for _, effect, _ in trace.sink.judgements) == ["edit", "read"]
    assert trace.settled()


def test_a_call_without_content_below_no_tool_at_all_is_judged_as_it_is(trace):
    agent = trace.start(AGENT)
    chain = trace.start({}, agent)
    inner = trace.start({}, chain)
    trace.end(trace.start({}, inner), TOOL)
    trace.end(inner)
    assert trace.sink.judgements == []
    trace.end(chain)
    assert trace.sink.verdicts == ["unjudged"]
    trace.end(agent)
    assert trace.record.unjudged == {"arguments-not-captured": 1}
    assert trace.spans == {"unjudged": 1, "ignored": 3}
    assert trace.settled()


def test_a_call_that_has_begun_waits_for_the_content_too_and_for_one_span_only(trace):
    """A chain around several calls without content holds the first; the others are judged at once."""
    agent = trace.start(AGENT)
    trace.whole(MODEL, agent)
    chain = trace.start({}, agent)
    for _ in range(3):
        trace.whole(MCP, chain)
    assert trace.sink.verdicts == ["unjudged"] * 2
    trace.end(chain)
    assert trace.sink.verdicts == ["unjudged"] * 3
    trace.whole(MODEL, agent)
    trace.end(agent)
    assert (trace.record.calls, trace.record.turns, trace.record.outcome) == (3, 2, Outcome.ANSWERED)
    assert trace.settled()


def test_what_an_unknown_span_holds_is_bounded(trace):
    chain = trace.start({})
    for _ in range(50):
        trace.end(trace.start({}, chain), TOOL)
    assert trace.sink.verdicts == ["unjudged"] * (50 - MAX_FOLDED)
    trace.end(chain)
    assert trace.sink.verdicts == ["unjudged"] * 50


def test_a_late_tool_span_keeps_other_calls_below_it_apart(trace):
    """A tool that delegates, known for one only at its end, above late reads without content."""
    agent = trace.start(AGENT)
    around = trace.start({}, agent)
    trace.end(trace.start({}, around), TOOL)
    trace.end(around, TOOL | CONTENT | {"gen_ai.tool.name": "research"})
    trace.end(agent)
    assert [effect.tool for _, effect, _ in trace.sink.judgements] == ["read", "research"]
    assert trace.sink.verdicts == ["unjudged", "deliver"]
    assert trace.settled()


def test_a_call_that_is_judged_by_its_status_waits_for_nobody(trace):
    chain = trace.start({})
    trace.end(trace.start(MODEL, chain))
    trace.end(trace.start({}, chain), TOOL | CONTENT)
    trace.end(trace.start({}, chain), TOOL | {"gen_ai.tool.name": "edit"})
    assert [effect.tool for _, effect, _ in trace.sink.judgements] == ["read", "edit"]


def test_a_span_that_was_unknown_does_not_tell_the_call_of_the_one_below_again(trace):
    agent = trace.start(AGENT)
    around = trace.start({}, agent)
    trace.whole(TOOL | CONTENT, around)
    trace.end(around, OI_TOOL | {"output.value": "something else"})
    trace.end(agent)
    assert trace.sink.verdicts == ["deliver"]
    assert trace.spans == {"judged": 1, "folded": 1, "ignored": 1}


# Turns


def test_r14_without_model_spans_a_tool_that_starts_while_none_is_open_begins_a_turn(trace):
    agent = trace.start(AGENT)
    first, second = trace.start(TOOL, agent), trace.start(TOOL, agent)
    trace.end(first, CONTENT)
    third = trace.start(TOOL, agent)
    trace.end(second, CONTENT)
    trace.end(third, CONTENT)
    trace.whole(TOOL | CONTENT, agent)
    trace.end(agent)
    assert trace.record.turns == 2


def test_r14_the_same_for_tools_that_show_themselves_at_their_end(trace):
    agent = trace.start(AGENT)
    first, second = trace.start({}, agent), trace.start({}, agent)
    trace.end(first, TOOL | CONTENT)
    trace.end(second, TOOL | CONTENT)
    trace.end(trace.start({}, agent), TOOL | CONTENT)
    trace.end(agent)
    assert trace.record.turns == 2
    assert [effect.turn for _, effect, _ in trace.sink.judgements] == [1, 1, 2]


def test_a_failed_request_and_a_nested_model_span_begin_no_turn(trace):
    agent = trace.start(AGENT)
    trace.end(trace.start(MODEL, agent), error=True)
    outer = trace.start(MODEL, agent)
    trace.whole(MODEL, outer)
    trace.end(outer)
    trace.whole(TOOL | CONTENT, agent)
    trace.end(agent)
    assert trace.record.turns == 1


def test_a_model_span_that_starts_while_a_tool_is_open_ends_no_turn(trace):
    agent = trace.start(AGENT)
    trace.whole(MODEL, agent)
    tool = trace.start(TOOL, agent)
    trace.whole(MODEL, agent)
    trace.end(tool, CONTENT)
    trace.whole(MODEL, agent)
    trace.end(agent)
    assert trace.record.turns == 2


def test_a_model_span_below_a_tool_is_the_tool_s_own_business(trace):
    agent = trace.start(AGENT)
    trace.whole(MODEL, agent)
    tool = trace.start(TOOL, agent)
    trace.whole(MODEL, tool)
    trace.end(trace.start({}, tool), MODEL)
    trace.end(tool, CONTENT)
    trace.end(agent)
    assert trace.record.turns == 1


def test_a_model_span_that_shows_itself_at_its_end_begins_a_turn_all_the_same(trace):
    agent = trace.start(AGENT)
    for _ in range(3):
        trace.end(trace.start({}, agent), MODEL)
        trace.whole(TOOL | CONTENT, agent)
    trace.end(agent)
    assert trace.record.turns == 3


def test_a_tool_that_starts_before_its_response_ends_belongs_to_it(trace):
    """Streaming runtimes start a call while the rest of the response still comes in."""
    agent = trace.start(AGENT)
    for _ in range(2):
        model = trace.start(MODEL, agent)
        tool = trace.start(TOOL, agent)
        trace.end(model)
        trace.end(tool, CONTENT)
    trace.end(agent)
    assert trace.record.turns == 2


# Owners (mapping rules 9 to 11)


def test_a_nested_agent_of_the_same_name_is_the_same_attempt(trace):
    outer = trace.start(AGENT)
    inner = trace.start(AGENT, outer)
    trace.whole(TOOL | CONTENT, inner)
    trace.end(inner)
    trace.whole(TOOL | CONTENT, outer)
    assert trace.sink.records == []
    trace.end(outer)
    assert trace.record.read_evidence.unchanged_re_reads == 1


@pytest.mark.parametrize("name", ["reader", "helper"])
def test_an_agent_below_a_tool_is_an_attempt_of_its_own_whatever_its_name(trace, name):
    agent = trace.start(AGENT)
    trace.whole(MODEL, agent)
    trace.whole(TOOL | CONTENT, agent)
    trace.whole(MODEL, agent)
    ask = trace.start(TOOL | {"gen_ai.tool.name": "ask"}, agent)
    sub = trace.start(AGENT | {"gen_ai.agent.name": name}, ask)
    trace.whole(MODEL, sub)
    trace.whole(TOOL | CONTENT, sub)
    trace.end(sub)
    trace.end(ask, CONTENT)
    trace.end(agent)
    below, main = trace.sink.records
    assert (below.agent_name, below.calls, below.turns) == (name, 1, 1)
    assert (main.agent_name, main.calls, main.turns) == ("reader", 2, 2)
    assert below.read_evidence is main.read_evidence is None


def test_an_agent_of_another_name_below_is_an_attempt_of_its_own(trace):
    outer = trace.start(AGENT)
    inner = trace.start(AGENT | {"gen_ai.agent.name": "helper"}, outer)
    trace.whole(TOOL | CONTENT, inner)
    trace.end(inner)
    trace.whole(TOOL | CONTENT, outer)
    trace.end(outer)
    assert [record.agent_name for record in trace.sink.records] == ["helper", "reader"]


def test_without_an_agent_the_topmost_span_is_the_attempt(trace):
    top = trace.start({}, name="POST /chat")
    step = trace.start({}, top)
    trace.whole(TOOL | CONTENT, step)
    trace.whole(TOOL | CONTENT, trace.start({}, top))
    trace.end(step)
    trace.end(top, error=True)
    assert trace.record.read_evidence.unchanged_re_reads == 1
    assert trace.record.outcome is Outcome.CANCELLED


def test_a_tool_alone_is_an_attempt_alone(trace):
    trace.whole(TOOL | CONTENT)
    trace.whole(TOOL | CONTENT)
    assert [record.calls for record in trace.sink.records] == [1, 1]
    assert trace.settled()


def test_the_conversation_names_the_run_when_nothing_else_does(trace):
    agent = trace.start(AGENT | {"gen_ai.conversation.id": "chat-1"})
    trace.whole(TOOL | CONTENT, agent)
    trace.end(agent)
    assert trace.record.run_id == "chat-1"


def test_an_answer_tool_is_an_answer(trace):
    agent = trace.start(AGENT)
    trace.whole(MODEL, agent)
    trace.whole(TOOL | CONTENT, agent)
    trace.whole(MODEL, agent)
    trace.whole(TOOL | {"gen_ai.tool.name": "final_answer"} | CONTENT, agent)
    trace.end(agent, error=True)
    assert (trace.record.outcome, trace.record.calls) == (Outcome.ANSWERED, 1)
    assert trace.settled()


def test_a_failed_answer_tool_is_none(trace):
    agent = trace.start(AGENT)
    trace.whole(MODEL, agent)
    trace.end(trace.start(TOOL | {"gen_ai.tool.name": "final_answer"}, agent), error=True)
    trace.end(agent, error=True)
    assert trace.record.outcome is Outcome.CANCELLED


def test_a_pseudo_tool_is_no_call(trace):
    agent = trace.start(AGENT)
    trace.whole(TOOL | CONTENT, agent)
    trace.whole(TOOL | {"gen_ai.tool.name": "(merged tools)"}, agent)
    trace.end(agent)
    assert trace.record.calls == 1
    assert trace.settled()


# Ends that come late, differently or never


def test_a_tool_span_that_can_no_longer_be_read_is_judged_by_its_status(trace):
    """Past 128 attributes the oldest go, the kind of the span among them."""
    agent = trace.start(AGENT)
    for tool in ("read", "edit"):
        trace.end(trace.start(TOOL | {"gen_ai.tool.name": tool}, agent), replaced={"other": 1})
    trace.end(trace.start(TOOL, agent), replaced={"other": 1}, error=True)
    attempt = trace.supervisor._attempts.all()[0]
    assert attempt.machine.running == 0
    trace.end(agent)
    assert trace.record.unjudged == {"arguments-not-captured": 1}
    assert trace.record.outcome is Outcome.ANSWERED
    assert trace.settled()


def test_a_tool_that_gets_another_name_at_its_end_is_judged_by_that(trace):
    agent = trace.start(AGENT)
    trace.end(trace.start(TOOL | {"gen_ai.tool.name": "generic"}, agent), TOOL | CONTENT)
    trace.end(trace.start(TOOL | {"gen_ai.tool.name": "generic"}, agent), TOOL | CONTENT)
    trace.end(agent)
    assert trace.sink.verdicts == ["deliver", "deliver-with-notice"]
    assert trace.settled()


def test_open_spans_are_bounded_and_a_forgotten_call_is_cancelled():
    trace = Trace(max_open=3)
    agent = trace.start(AGENT)
    first = trace.start(TOOL, agent)
    attempt = trace.supervisor._attempts.all()[0]
    trace.start({}, agent)
    trace.start({}, agent)  # the agent is forgotten
    assert attempt.machine.running == 1
    trace.start({}, agent)  # and now the call
    assert len(trace.tracker) == 3
    assert attempt.machine.running == 0
    assert trace.end(first, CONTENT) is None
    assert attempt.record().verdicts == {}
    assert trace.sink.verdicts == ["deliver"]  # a failed call is delivered as it is (R8)
    trace.tracker.forget("never heard of")


def test_forgetting_a_span_that_is_no_call_is_nothing(trace):
    agent = trace.start(AGENT)
    trace.tracker.forget(agent)
    assert trace.settled()


def test_the_calls_of_a_closed_attempt_are_let_through(trace):
    agent = trace.start(AGENT)
    tool, late = trace.start(TOOL, agent), trace.start({}, agent)
    (attempt,) = trace.supervisor._attempts.all()
    attempt.close(Outcome.ABANDONED)
    trace.end(tool, CONTENT)
    trace.end(late, TOOL | CONTENT)
    trace.end(agent)
    assert trace.record.outcome is Outcome.ABANDONED
    assert trace.spans == {"ignored": 3}
    assert len(trace.tracker) == 0


def test_r20_a_call_that_started_before_the_ask_is_not_later_than_it():
    """It shows itself only at its end, when the ask has been made: it still gets its ordinary verdict."""
    trace = Trace()
    facts = {"docsfab.step.kind": "read-only", "docsfab.attempt.number": 2, "docsfab.attempt.retry_of": "no-progress"}
    agent = trace.start(AGENT | facts)
    for _ in range(9):
        trace.whole(MODEL, agent)
        trace.whole(TOOL | CONTENT, agent)
    trace.whole(MODEL, agent)
    early = trace.start({}, agent)
    trace.whole(TOOL | CONTENT, agent)  # the tenth read: notice-only
    trace.whole(MODEL, agent)  # the ask
    later = trace.start({}, agent)
    trace.end(early, TOOL | CONTENT)
    trace.end(later, TOOL | CONTENT)
    assert trace.sink.decisions[0].action == "conclude"
    assert trace.sink.verdicts[-3:] == ["notice-only", "notice-only", "denied"]


# Replay: times come with the spans


def test_in_replay_times_and_events_are_told():
    trace = Trace(live=False)
    start = 1_700_000_000_000_000_000
    facts = {"docsfab.step.kind": "read-only", "docsfab.attempt.timeout_ms": 60_000}
    agent = trace.start(AGENT | facts, at_ns=start)
    tool = trace.start(TOOL, agent, at_ns=start + 1_000_000)
    trace.end(tool, CONTENT, at_ns=start + 2_500_000)
    trace.tracker.event(agent, EventView("docsfab.compaction", {}, start + 3_000_000))
    trace.tracker.event(agent, EventView("foreign", {}, start + 3_000_000))
    trace.tracker.event("unknown", EventView("docsfab.compaction", {}, start + 3_000_000))
    tool = trace.start(TOOL, agent, at_ns=start + 4_000_000)
    trace.end(tool, CONTENT, events=[EventView("docsfab.compaction", {})], at_ns=start + 5_000_000)
    trace.tracker.event(agent, EventView("docsfab.request_sent", {}, start + 6_000_000))
    model = trace.start(MODEL, agent, at_ns=start + 60_000_000_000)
    trace.end(model, at_ns=start + 60_000_000_000)
    trace.end(agent, at_ns=start + 61_000_000_000)
    record = trace.record
    assert trace.sink.verdicts == ["deliver", "deliver"]  # the compaction made the second free
    assert record.duration_ms == 61_000
    assert record.started_unix_ms == start // 1_000_000
    assert (record.stop.code, record.deadline_turn) == ("attempt-deadline-awaiting-provider", "awaiting-first-byte")


def test_a_span_that_starts_before_its_attempt_is_at_its_beginning():
    trace = Trace(live=False)
    agent = trace.start(AGENT, at_ns=2_000_000_000)
    tool = trace.start(TOOL, agent, at_ns=1_000_000_000)
    trace.end(tool, CONTENT, at_ns=1_500_000_000)
    trace.end(agent, at_ns=2_000_000_000)
    assert trace.record.duration_ms == 0


def test_a_fork_leaves_no_open_span(trace):
    agent = trace.start(AGENT)
    trace.whole(TOOL | CONTENT, agent)
    trace.tracker.forked()
    assert len(trace.tracker) == 0
    assert trace.end(agent) is None


def test_a_turn_span_begins_a_turn_where_it_starts(trace):
    """Some runtimes show a span for each turn; the model span inside it begins none of its own."""
    scope = "openinference.instrumentation.openai_agents"
    agent = trace.start({"openinference.span.kind": "AGENT"}, scope=scope, name="reader")
    roles = set()
    for _ in range(2):
        turn = trace.start({"openinference.span.kind": "CHAIN"}, agent, scope=scope, name="turn")
        roles.add(trace.tracker._nodes[turn].role)
        trace.whole({"openinference.span.kind": "LLM"}, turn, scope=scope)
        for _ in range(2):
            trace.whole(OI_TOOL | OI_CONTENT, turn, scope=scope)
        trace.end(turn)
    trace.end(agent)
    assert roles == {Role.TURN}
    assert trace.record.turns == 2
    assert trace.record.calls == 4


def test_a_call_is_not_held_back_across_a_host_s_attempt(trace):
    around = trace.start({}, name="POST /chat")
    with trace.supervisor.attempt() as attempt:
        step = trace.start({}, around)
        trace.end(trace.start({}, step), TOOL)
        trace.end(step)
        assert trace.sink.verdicts == ["unjudged"]
    assert attempt.record().calls == 1
    trace.end(around)
    assert trace.settled()


def test_an_agent_in_a_host_s_attempt_is_not_that_of_the_agent_around_it(trace):
    """The same name twice, but the host says that here another attempt begins."""
    outer = trace.start(AGENT)
    trace.whole(TOOL | CONTENT, outer)
    with trace.supervisor.attempt(run_id="mine"):
        inner = trace.start(AGENT, outer)
        trace.whole(TOOL | CONTENT, inner)
        trace.end(inner)
    trace.end(outer)
    mine, around = trace.sink.records
    assert (mine.run_id, mine.calls, around.calls) == ("mine", 1, 1)
    assert mine.read_evidence is around.read_evidence is None


def test_the_gate_s_tool_that_ends_after_being_forgotten_is_nothing():
    trace = Trace(max_open=2)
    with trace.supervisor.attempt() as attempt:
        attempt.gated.add("read")
        agent = trace.start(AGENT)
        tool = trace.start(TOOL, agent)
        trace.start({}, agent)
        trace.start({}, agent)
        assert attempt.span_owner.open_tools == 0
        assert attempt.open_tool_spans == set()
        assert trace.end(tool) is None
    assert trace.sink.judgements == []
