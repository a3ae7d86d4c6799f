"""The machine as such: refused events, time, endings, calls that are described late."""

from __future__ import annotations

import pytest

from otel_docsfab.core import (
    AnswerReturned,
    AttemptEnded,
    AttemptMachine,
    CallDescribed,
    CallStarted,
    CloseAttempt,
    Code,
    Compacted,
    Evicted,
    Outcome,
    OutputStarted,
    Progress,
    RequestEnded,
    RequestSent,
    ResultReturned,
    Step,
    StepKind,
    TimePassed,
    ToolClass,
    TurnBegan,
    TurnEnded,
    Unjudged,
)
from otel_docsfab.core.identity import arguments_digest
from otel_docsfab.errors import RefusedEvent
from tests.core.attempts import WITH_NOTICE, Attempt, whole_state

EVENTS = [
    TurnBegan(),
    TurnEnded(),
    CallStarted("new", "read", ToolClass.READ, b"x"),
    CallDescribed("running", ToolClass.READ, b"x"),
    ResultReturned("running", b"x"),
    AnswerReturned(),
    Compacted(),
    Evicted(("1",)),
    RequestSent(),
    OutputStarted(),
    RequestEnded(),
    TimePassed(),
    AttemptEnded(),
]


def busy() -> Attempt:
    """An attempt with something of everything, and one running call."""
    attempt = Attempt(Step("plan", StepKind.READ_ONLY), timer_ms=100_000)
    attempt.reads("a", "b", "a")
    attempt.evict("1")
    attempt.edit()
    attempt.compact()
    attempt.read("a", ok=False)
    attempt.start("read", {"path": "a"}, call="running")
    return attempt


def refuse(attempt, event, at_ms):
    before = whole_state(attempt.machine)
    with pytest.raises(RefusedEvent):
        attempt.machine.apply(event, at_ms)
    assert whole_state(attempt.machine) == before


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_a_closed_attempt_refuses_everything(event):
    attempt = busy()
    attempt.end()
    refuse(attempt, event, 200_000)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_no_event_comes_before_the_attempt_began(event):
    refuse(busy(), event, -1)


@pytest.mark.parametrize(
    "event",
    [
        CallStarted("running", "read", ToolClass.READ, b"x"),
        CallDescribed("nobody", ToolClass.READ, b"x"),
        ResultReturned("nobody", b"x"),
        "no event",
        None,
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing_not_even_the_time(event):
    refuse(busy(), event, 99_999)


def test_a_refused_event_does_not_fire_the_timer():
    attempt = busy()
    refuse(attempt, ResultReturned("nobody", b"x"), 100_000)
    assert attempt.machine.next_wakeup_ms() == 45_000


def test_a_denied_call_has_no_result():
    attempt = Attempt(limits={"ceiling": 1})
    attempt.read()
    attempt.start("read", {"path": "b"}, call="denied")
    refuse(attempt, ResultReturned("denied", b"x"), 0)
    attempt.start("read", {"path": "b"}, call="denied")


def test_a_time_before_the_newest_counts_as_the_newest():
    attempt = busy()
    attempt.wait_until(50_000)
    attempt.at_ms = 10
    attempt.turn()
    assert attempt.record["durationMs"] == 50_000


def test_an_attempt_ends_once_and_says_how():
    for ending, outcome in ((AttemptEnded(), Outcome.CANCELLED), (AttemptEnded(Outcome.ABANDONED), Outcome.ABANDONED)):
        attempt = Attempt()
        attempt.start("read", {"path": "a"})
        assert attempt.machine.running == 1
        assert attempt.tell(ending) == (CloseAttempt(outcome, None),)
        assert attempt.machine.closed
        assert attempt.machine.running == 0
    attempt = Attempt()
    attempt.turn()
    attempt.answer()
    assert attempt.end() == (CloseAttempt(Outcome.ANSWERED, None),)


def test_an_attempt_that_ends_on_a_crossed_bound_has_failed():
    attempt = Attempt(limits={"repeat_streak": 0, "withheld": 0})
    attempt.read()
    attempt.read()
    stop, close = attempt.end()
    assert stop.code == Code.WITHHELD_READS
    assert close == CloseAttempt(Outcome.FAILED, Code.WITHHELD_READS)
    assert attempt.machine.stop == stop


def test_a_call_may_be_described_after_it_began():
    attempt = Attempt()
    attempt.read("a", call_id="1")
    call = attempt.start("read", None)
    digest = arguments_digest({"path": "a"})
    attempt.tell(CallDescribed(call, ToolClass.READ, digest, "a", "2"))
    effect = attempt.finish(call)
    assert (effect.verdict, effect.subject, effect.tool_class) == (WITH_NOTICE, "a", ToolClass.READ)
    attempt.evict("1", "2")
    assert attempt.read("a").repeats is None


def test_a_call_may_be_described_as_unknown():
    attempt = Attempt()
    call = attempt.start("read", {"path": "a"})
    attempt.tell(CallDescribed(call, ToolClass.READ, None, arguments_reason=Unjudged.ARGUMENTS_CUT))
    assert attempt.finish(call).unjudged is Unjudged.ARGUMENTS_CUT


def test_results_past_the_table_are_unjudged_and_known_ones_still_judged():
    attempt = Attempt(max_results=2)
    attempt.reads("a", "b")
    past = attempt.read("c")
    assert (past.unjudged, past.progress, past.verdict) == (Unjudged.TOO_MANY_RESULTS, None, "deliver")
    assert attempt.read("a").repeats == 1
    assert attempt.record["tools"]["unjudged"] == {"too-many-results": 1}


def test_attempts_share_nothing():
    one, other = Attempt(), Attempt()
    one.reads(*["a"] * 18)
    one.turn()
    assert one.stops == 1
    assert other.read("a").progress is Progress.NEW_CONTENT
    assert whole_state(Attempt().machine) == whole_state(AttemptMachine(Step("plan", StepKind.READ_ONLY)))


def test_a_driver_can_see_where_the_attempt_is():
    attempt = Attempt()
    assert not attempt.machine.turn_called_tools
    attempt.turn()
    attempt.start("read", {"path": "a"})
    assert attempt.machine.turn_called_tools
    assert (attempt.machine.turn, attempt.machine.running, attempt.machine.mark) == (1, 1, 0)
    attempt.turn()
    assert not attempt.machine.turn_called_tools
