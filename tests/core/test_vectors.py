"""Every conformance vector through the bare machine."""

import pytest

from otel_docsfab.core import (
    AnswerReturned,
    AttemptMachine,
    CallStarted,
    Compacted,
    Evicted,
    Output,
    OutputStarted,
    ResultReturned,
    TimePassed,
    TurnBegan,
    TurnEnded,
)
from otel_docsfab.core.identity import arguments_digest, result_digest, subject_of
from tests.vectors import cases


def drive(case: cases.Case) -> cases.Observed:  # noqa: C901 - one arm an event
    given = case.settings
    machine = AttemptMachine(given.step, given.core_limits, None, given.number, given.retry_of, timer_ms=given.timer_ms)
    observed = cases.Observed()

    def apply(event, at_ms):
        for effect in machine.apply(event, at_ms):
            observed.take(getattr(effect, "call", -1), effect)

    for _, event, at_ms in case.timeline():
        match event:
            case cases.Turn(calls, answers):
                apply(TurnBegan(), at_ms)
                if answers:
                    apply(OutputStarted(Output.ANSWER), at_ms)
                for call in calls:
                    apply(started(machine, call), at_ms)
            case cases.Tool(position, _, _, result, ok):
                if position not in observed.verdicts:  # it was not denied
                    digest = None if result is None else result_digest(result)
                    apply(ResultReturned(position, digest, ok), at_ms)
            case cases.Compaction():
                apply(Compacted(), at_ms)
            case cases.Evicted(positions):
                apply(Evicted(tuple(map(str, positions))), at_ms)
            case cases.Ask():
                apply(TimePassed(), at_ms)
            case cases.Answer():
                apply(AnswerReturned(), at_ms)
    apply(TurnEnded(), case.end_ms)
    return observed.finish(machine.record())


def started(machine: AttemptMachine, call: cases.Tool) -> CallStarted:
    return CallStarted(
        call.position,
        call.tool,
        machine.toolset.classify(call.tool, call.arguments).tool_class,
        None if call.arguments is None else arguments_digest(call.arguments),
        subject_of(call.arguments),
        str(call.position),
    )


@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_vector(case):
    assert cases.compare(case, drive(case)) == []


def test_the_file_is_whole():
    loaded = cases.load_cases()
    assert len(loaded) == 147
    assert len({case.name for case in loaded}) == 147
    assert sum(len(case.calls) for case in loaded) == 5_295


def test_a_wrong_verdict_is_seen():
    case = cases.load_cases()[0]
    observed = drive(case)
    observed.denied(3)
    observed.outcome = "answered"
    assert len(cases.compare(case, observed)) == 2
    assert cases.compare(case, observed, {"verdicts", "outcome"}) == []
