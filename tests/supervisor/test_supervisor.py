"""The supervisor's own word: what an attempt is set up with, what is counted, what a host may ask."""

from __future__ import annotations

import asyncio
import contextvars
import re

import pytest

from otel_docsfab import AnswerPath, Outcome, RetryOf, Step, StepKind, Supervisor, Trigger
from otel_docsfab.catalogue.metrics import BY_NAME
from otel_docsfab.core import Classified, TimePassed, ToolClass
from otel_docsfab.errors import RefusedEvent
from otel_docsfab.supervisor import UNWATCHED, Sink, SystemClock, current_attempt
from otel_docsfab.testing import ManualClock, MemorySink


def supervised(**options):
    sink, clock = MemorySink(), ManualClock()
    return Supervisor(sinks=[sink], clock=clock, **{"mode": "enforce", **options}), sink, clock


def reads(attempt, *paths, tool="read"):
    """One read a turn."""
    read = attempt.gate(lambda path: f"content of {path}", tool=tool)
    for path in paths:
        with attempt.turn():
            read(path=path)


# Steps and their timers


@pytest.mark.parametrize(
    ("step", "at_ms", "trigger"),
    [
        ("review-documentation", 181_250, Trigger.ATTEMPT_DEADLINE),
        ("evaluate-document-quality", 102_500, Trigger.ATTEMPT_DEADLINE),
    ],
)
def test_r20_the_source_s_ask_times(step, at_ms, trigger):
    supervisor, sink, clock = supervised()
    with supervisor.attempt(step) as attempt:
        assert attempt.machine.next_wakeup_ms() == at_ms
        reads(attempt, "a.md")
        clock.now_ms = at_ms - 1
        attempt.tell(TimePassed())
        assert attempt.conclude_request is None
        clock.now_ms = at_ms
        attempt.tell(TimePassed())
        assert attempt.conclude_request is not None
    assert [(decision.action, decision.trigger) for decision in sink.decisions] == [("conclude", trigger)]
    assert sink.records[0].duration_ms == at_ms


def test_r21_the_reading_share_of_a_long_timer_comes_first():
    supervisor, sink, clock = supervised()
    attempt = supervisor.attempt("review-documentation", timeout_ms=1_800_000 * 10_000 // 7_000)
    reads(attempt, "a.md")
    clock.now_ms = 1_800_000
    attempt.tell(TimePassed())
    assert sink.decisions[0].trigger is Trigger.READING_BUDGET


def test_r23_the_timer_ends_the_attempt_in_its_tool_loop():
    supervisor, sink, clock = supervised(limits={"compositionExecution.timeoutMs": 1_000})
    with supervisor.attempt("edit-page", kind="write") as attempt:
        attempt.request_sent()
        attempt.output_started("tool-call")
        attempt.request_ended()
        reads(attempt, "a.md")
        clock.now_ms = 1_000
        attempt.tell(TimePassed())
    (record,) = sink.records
    assert (record.code, record.deadline_turn) == ("attempt-deadline-in-tool-loop", "between-requests")
    assert not sink.decisions[0].retry_granted


def test_r20_a_step_that_nobody_declared_has_no_timer_unless_somebody_set_one():
    supervisor, _, _ = supervised()
    assert supervisor.attempt("plan").machine.timer_ms is None
    assert supervisor.attempt().machine.timer_ms is None
    assert supervisor.attempt("plan", kind="write").machine.timer_ms == 300_000
    assert supervisor.attempt("plan", timeout_ms=5).machine.timer_ms == 5
    assert supervisor.attempt("review-documentation", timer=False).machine.timer_ms is None
    supervisor, _, _ = supervised(limits={"compositionExecution.timeoutMs": 7})
    assert supervisor.attempt("plan").machine.timer_ms == 7


def test_what_is_declared_here_and_now_lies_over_the_known_step():
    supervisor, sink, _ = supervised(steps={"plan": Step("plan", StepKind.WRITE)})
    supervisor.attempt("plan")
    supervisor.attempt("plan", kind="read-only", judgment=True, answer_path="tool-call")
    supervisor.attempt(Step("other", StepKind.READ_ONLY))
    assert [step for _, step in sink.opened_attempts] == [
        Step("plan", StepKind.WRITE),
        Step("plan", StepKind.READ_ONLY, judgment=True, answer_path=AnswerPath.TOOL_CALL),
        Step("other", StepKind.READ_ONLY),
    ]


@pytest.mark.parametrize("wrong", [{"kind": "readonly"}, {"retry_of": "boredom"}, {"answer_path": "mail"}])
def test_a_word_that_is_not_in_the_list_is_refused(wrong):
    supervisor, sink, _ = supervised()
    with pytest.raises(ValueError, match=next(iter(wrong.values()))):
        supervisor.attempt("plan", **wrong)
    assert sink.opened_attempts == []


# Records


def test_a_record_says_which_attempt_of_which_run():
    supervisor, sink, clock = supervised()
    clock.now_ms = 5
    with supervisor.attempt("plan", 2, retry_of="no-progress", agent_name="reader", model="m-1") as attempt:
        clock.advance(30)
        reads(attempt, "a.md", "a.md")
        assert attempt.record().outcome is Outcome.OPEN
        attempt.answered(valid=True)
    (record,) = sink.records
    assert re.fullmatch(r"run-[0-9a-f]{16}", record.run_id)
    assert (record.step_id, record.attempt, record.retry_of) == ("plan", 2, RetryOf.NO_PROGRESS)
    assert (record.agent_name, record.model, record.enforced) == ("reader", "m-1", True)
    assert record.started_unix_ms == attempt.began_unix_ms == ManualClock._EPOCH_MS + 5
    assert (record.duration_ms, record.turns, record.calls) == (30, 2, 2)
    assert record.outcome is Outcome.ANSWERED
    assert record == attempt.record()


def test_two_attempts_have_two_runs_unless_told_otherwise():
    supervisor, _, _ = supervised()
    first, second = supervisor.attempt(), supervisor.attempt()
    assert first.ref.run_id != second.ref.run_id
    assert supervisor.attempt(run_id="mine").ref.run_id == "mine"


def test_r17_the_retry_prompt_says_why():
    supervisor, _, _ = supervised()
    assert supervisor.attempt().retry_prompt is None
    assert "re-reading" in supervisor.attempt(number=2, retry_of="no-progress").retry_prompt
    assert "every tool call" in supervisor.attempt(number=2, retry_of=RetryOf.TOOL_CALL_CEILING).retry_prompt


def test_r16_a_rejected_answer():
    supervisor, sink, _ = supervised()
    with supervisor.attempt() as attempt:
        attempt.answered(valid=False)
    assert (sink.records[0].outcome, sink.records[0].code) == (Outcome.REJECTED, "answer-rejected")


def test_what_a_with_block_raises_goes_through_and_the_attempt_is_cancelled():
    supervisor, sink, _ = supervised()
    with pytest.raises(KeyError), supervisor.attempt():
        raise KeyError
    assert sink.records[0].outcome is Outcome.CANCELLED


# Compactions through the host's words


def test_r12_compacted_makes_the_first_return_free():
    supervisor, sink, _ = supervised()
    with supervisor.attempt() as attempt:
        reads(attempt, "a", "a")
        attempt.compacted()
        reads(attempt, "a", "a")
    assert sink.verdicts == ["deliver", "deliver-with-notice", "deliver", "deliver-with-notice"]


# Modes


@pytest.mark.parametrize(
    ("mode", "asked_for", "enforced"),
    [("enforce", None, True), ("enforce", False, False), ("observe", None, False), ("observe", True, False)],
)
def test_r30_an_attempt_may_be_watched_only_and_never_more_than_the_mode_says(mode, asked_for, enforced):
    supervisor, sink, _ = supervised(mode=mode)
    with supervisor.attempt(enforced=asked_for) as attempt:
        reads(attempt, *["a"] * 18)
        assert attempt.decision.enforced is enforced
    assert {told for _, _, told in sink.judgements} == {enforced}
    assert sink.records[0].enforced is enforced


def test_mode_off_leaves_an_attempt_alone():
    supervisor, sink, _ = supervised(mode="off")
    with supervisor.attempt() as attempt:
        reads(attempt, "a", "a")
        attempt.compacted()
        attempt.answered()
        assert attempt.start_call("read", {"path": "a"}) is UNWATCHED
        assert attempt.finish_call(UNWATCHED, "same") is None
        assert attempt.description(UNWATCHED, {"path": "a"}) is None
    assert supervisor.live_attempts == 0
    assert supervisor.tallies.read() == {}
    assert (sink.opened_attempts, sink.records) == ([], [])
    assert not any(supervisor.faults.counts().values())


# What drivers use


def test_a_call_may_be_described_when_its_arguments_are_known_only_at_its_end():
    supervisor, sink, _ = supervised()
    attempt = supervisor.attempt()
    for _ in range(2):
        admission = attempt.start_call("read", None, own_turn=True)
        description = attempt.description(admission, '{"path": "a.md"}', call_id="c1")
        assert description.subject == "a.md"
        attempt.finish_call(admission, "same", description=description)
    assert sink.verdicts == ["deliver", "deliver-with-notice"]


def test_a_call_that_is_described_after_its_end_is_nobodys():
    supervisor, _, _ = supervised()
    attempt = supervisor.attempt()
    admission = attempt.start_call("read", None)
    attempt.close()
    description = attempt.description(admission, {"path": "a"})
    assert attempt.finish_call(admission, "same", description=description) is None
    assert attempt.start_call("read", None) is UNWATCHED


def test_a_refused_event_is_raised_to_those_who_feed_the_machine_themselves():
    supervisor, _, _ = supervised()
    attempt = supervisor.attempt()
    attempt.close()
    with pytest.raises(RefusedEvent):
        attempt.feed(TimePassed())


def test_argument_bytes_are_a_text():
    supervisor, sink, _ = supervised()
    attempt = supervisor.attempt()
    for arguments in (b'{"path": "a"}', {"path": "a"}, b"\xff", b"\xff"):
        attempt.finish_call(attempt.start_call("read", arguments), "same")
    assert sink.verdicts == ["deliver", "deliver-with-notice"] * 2


# Counts


def test_every_tally_is_one_of_the_catalogue_s_metrics():
    supervisor, _, _ = supervised(limits={"execution.toolCallCeiling": 30})
    attempt = supervisor.attempt("plan", 2, kind="read-only", retry_of="no-progress")
    reads(attempt, *["a"] * 12, "b")
    attempt.gate(object, tool="ls")()
    attempt.gate(lambda: 1, tool="bash")()
    attempt.gate(lambda: 1, tool="edit")()
    attempt.answered()
    attempt.close()
    other = supervisor.attempt()
    read = other.gate(lambda path: object() if path == "odd" else "x", tool="grep")
    for path in ["odd", *["a"] * 30]:
        with other.turn():
            read(path=path)
    counts = supervisor.tallies.read()
    assert {name for name, _ in counts} == {
        "docsfab.read.results",
        "docsfab.read.unjudged",
        "docsfab.read.bytes",
        "docsfab.tool_calls.denied",
        "docsfab.lease.progress",
    }
    for name, labels in counts:
        metric = BY_NAME[name]
        assert len(labels) == len(metric.labels)
        for label, value in zip(metric.labels, labels, strict=True):
            assert type(value) is str
            assert label.open or value in label.values


def test_bytes_of_reads_are_counted_by_what_became_of_them():
    supervisor, _, _ = supervised(limits={"execution.readLoopRepeatStreak": 1})
    attempt = supervisor.attempt()
    reads(attempt, *["ä"] * 4)
    counts = supervisor.tallies.read()
    size = len("content of ä".encode())
    assert counts["docsfab.read.bytes", ("deliver", "true")] == size
    assert counts["docsfab.read.bytes", ("deliver-with-notice", "true")] == size
    assert counts["docsfab.read.bytes", ("notice-only", "true")] == size * 2


class EveryToolReads:
    def classify(self, tool, arguments=None):
        return Classified(ToolClass.READ, arguments, "all of them")


def test_tool_names_without_end_cannot_fill_the_memory():
    supervisor, _, _ = supervised(toolset=EveryToolReads())
    attempt = supervisor.attempt()
    for number in range(300):
        attempt.finish_call(attempt.start_call(f"tool-{number}", {}), "x")
    attempt.finish_call(attempt.start_call("t" * 1_000, {}), "x")
    attempt.finish_call(attempt.start_call("tool-1", {"a": 1}), "x")
    counts = {labels: count for (name, labels), count in supervisor.tallies.read().items() if "results" in name}
    assert len(counts) == 65
    assert counts["other", "deliver", "true"] == 300 - 64 + 1
    assert counts["tool-1", "deliver", "true"] == 2


# The attempt of here and now


def test_the_innermost_with_block_names_the_current_attempt():
    supervisor, _, _ = supervised()
    with supervisor.attempt() as outer:
        assert current_attempt.get() is outer
        with supervisor.attempt() as inner:
            assert current_attempt.get() is inner
        assert current_attempt.get() is outer
    assert current_attempt.get() is None


async def test_tasks_have_their_own_current_attempts():
    supervisor, _, _ = supervised()

    async def run():
        async with supervisor.attempt() as attempt:
            await asyncio.sleep(0)
            return current_attempt.get() is attempt and attempt.loop is asyncio.get_running_loop()

    assert all(await asyncio.gather(*(run() for _ in range(20))))
    assert current_attempt.get() is None


def test_a_block_left_in_another_context_ends_the_attempt_all_the_same():
    supervisor, sink, _ = supervised()
    attempt = supervisor.attempt()
    contextvars.copy_context().run(attempt.__enter__)
    attempt.__exit__(None, None, None)
    assert current_attempt.get() is None
    assert len(sink.records) == 1
    supervisor.attempt().__exit__(None, None, None)  # never entered
    assert len(sink.records) == 2


async def test_turns_may_be_marked_in_async_code_too():
    supervisor, _, _ = supervised()
    async with supervisor.attempt() as attempt:
        assert not attempt.turns_marked
        async with attempt.turn():
            pass
        assert attempt.turns_marked
    assert attempt.record().turns == 1


# The end


def test_shutdown_gives_up_what_is_open_and_then_keeps_silent():
    supervisor, sink, _ = supervised()
    attempt = supervisor.attempt()
    reads(attempt, "a")
    supervisor.shutdown()
    supervisor.shutdown()
    assert [record.outcome for record in sink.records] == [Outcome.ABANDONED]
    assert sink.is_shut_down
    with supervisor.attempt() as late:
        reads(late, *["a"] * 18)
    assert late.record().stop is not None
    assert len(sink.opened_attempts) == len(sink.records) == 1
    assert supervisor.flush()


def test_the_kit_s_sink_is_a_sink():
    assert isinstance(MemorySink(), Sink)


def test_the_system_clock_measures_with_the_monotonic_one():
    clock = SystemClock()
    assert 0 <= clock.monotonic_ms() <= clock.monotonic_ms()
    assert clock.unix_ms() > ManualClock._EPOCH_MS
    supervisor = Supervisor(mode="enforce")
    with supervisor.attempt() as attempt:
        attempt.tell(TimePassed())
    assert attempt.record().duration_ms >= 0


# In a forked child, without a fork


def test_a_forked_supervisor_starts_over():
    supervisor, sink, _ = supervised()
    attempt = supervisor.attempt()
    reads(attempt, "a", "a")
    supervisor.faults.count("sink")
    supervisor.forked()
    assert supervisor.live_attempts == 0
    assert supervisor.tallies.read() == {("docsfab.supervisor.evictions", ("fork",)): 1}
    assert not any(supervisor.faults.counts().values())
    reads(attempt, *["a"] * 20)
    attempt.close()
    assert not attempt.watched
    assert len(sink.judgements) == 2
    assert sink.records == []
    with supervisor.attempt() as own:
        reads(own, "a")
    assert sink.verdicts[2:] == ["deliver"]


class ClosesItsAttempt:
    """A toolset at the worst moment: between the look at the attempt and the event."""

    attempt = None

    def classify(self, tool, arguments=None):
        self.attempt.close()
        return Classified(ToolClass.READ, arguments, "")


def test_a_call_that_starts_while_its_attempt_closes_runs_unwatched():
    tools = ClosesItsAttempt()
    supervisor, sink, _ = supervised(toolset=tools)
    tools.attempt = attempt = supervisor.attempt()
    assert attempt.gate(lambda path: "same", tool="read")(path="a") == "same"
    assert sink.judgements == []
    assert not any(supervisor.faults.counts().values())
