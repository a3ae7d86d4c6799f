"""The gateway keeps every trace with a reason, however late the reason comes, and a share of the rest."""

import itertools

import pytest
from opentelemetry.trace import Status, StatusCode

from tests.collector.sending import ids, made, send
from tests.services.collector import start_chain
from tests.services.loopback import wait_until

pytestmark = pytest.mark.service

REASONS = [
    {"docsfab.stop.code": "execution-read-loop-withheld-reads-bound"},
    {"docsfab.conclude_now.trigger": "attempt-deadline"},
    {"docsfab.deadline_turn": "awaiting-first-byte"},
    {"error.type": "tool_error"},
    {"gen_ai.tool.status": "error"},
    {"haystack.tool.error": True},
]
SENT = "otelcol_exporter_sent_spans"


@pytest.fixture(scope="module")
def sampling(otelcol, tmp_path_factory):
    """A chain that keeps 1 % of what has no reason, and that waits shortly."""
    chain = start_chain(otelcol, tmp_path_factory.mktemp("sampling"), DECISION_WAIT="2s", ROOT_WAIT="1s")
    yield chain
    chain.end()


def trace_of(number, reason=None, **more):
    """An agent span and two tool calls, the agent span last, as they end; the reason stands on the agent span."""
    agent = made(reason or {}, trace=number, name="invoke_agent reader", **more)
    calls = [made({"docsfab.turn": turn}, trace=number, parent=agent.context.span_id) for turn in (1, 2)]
    return [*calls, agent]


def decided(chain):
    """Traces that the gateway has decided on and let go of, kept ones included."""
    return chain.gateway.own_metrics().get("otelcol_processor_tail_sampling_sampling_trace_removal_age_count", 0)


def kept(chain):
    return {span["traceId"] for span in chain.spans()}


def test_every_trace_with_a_reason_is_kept_whole_and_about_one_percent_of_the_rest(sampling):
    numbers = itertools.count(1 << 100, 7919)
    with_reason = [trace_of(next(numbers), reason) for reason in REASONS for _ in range(50)]
    with_reason += [trace_of(next(numbers), status=Status(StatusCode.ERROR)) for _ in range(50)]
    without = [trace_of(next(numbers)) for _ in range(3000)]
    everything = [span for trace in [*with_reason, *without] for span in trace]
    # All tool calls first, all agent spans later: reasons come in other batches than what they keep.
    everything.sort(key=lambda span: span.parent is None)
    send(sampling.agent.grpc, everything, at_once=1000)

    sampling.arrived(ids(span for trace in with_reason for span in trace))
    rest = {f"{trace[0].context.trace_id:032x}" for trace in without}
    wait_until("all are decided", lambda: decided(sampling) >= len(with_reason) + len(rest))
    wait_until("what is kept is stored", lambda: sampling.gateway.own_metrics().get(SENT) == len(sampling.spans()))
    share = len(kept(sampling) & rest) / len(rest)
    # Which ones is a hash of the trace id: the same in every run.
    assert 0.004 <= share <= 0.02


def test_a_stop_that_comes_after_the_wait_is_still_kept(sampling):
    *calls, agent = trace_of(0xA7E, {"docsfab.stop.code": "timeout"})
    before = decided(sampling)
    send(sampling.agent.grpc, calls)
    wait_until("its calls are given up", lambda: decided(sampling) > before)
    assert f"{0xA7E:032x}" not in kept(sampling)

    send(sampling.agent.grpc, [agent])
    assert len(sampling.arrived(ids([agent]))) == 1


def test_what_follows_a_stop_is_kept_as_well(sampling):
    *calls, agent = trace_of(0xF01, {"docsfab.stop.code": "timeout"})
    send(sampling.agent.grpc, [agent])
    sampling.arrived(ids([agent]))
    send(sampling.agent.grpc, calls)
    assert len(sampling.arrived(ids(calls))) == 2
