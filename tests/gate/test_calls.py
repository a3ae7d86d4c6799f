"""Which calls are the same, which fail, and whatever a host may put behind a gate."""

from __future__ import annotations

import asyncio
import functools
import inspect
from pathlib import PurePath

import pytest

from otel_docsfab import AttemptStopped
from otel_docsfab.core import Denial, wording


def read_file(path, limit=10, **options):
    """Read a file."""
    return f"{path}"


NEW, TOLD = "deliver", "deliver-with-notice"


@pytest.mark.parametrize(
    ("function", "first", "second", "verdict"),
    [
        (read_file, (("a",), {}), ((), {"path": "a"}), TOLD),
        (read_file, (("a", 5), {}), (("a",), {"limit": 5}), TOLD),
        (read_file, (("a",), {"x": 1, "limit": 2}), ((), {"limit": 2, "x": 1, "path": "a"}), TOLD),
        (read_file, (("a",), {}), (("a", 10), {}), NEW),  # what was not said is not known to be the same
        (lambda *paths: "x", (("a", "b"), {}), (("a", "b"), {}), TOLD),
        (lambda *paths: "x", (("a", "b"), {}), (("b", "a"), {}), NEW),
        (lambda **found: "x", ((), {"a": 1}), ((), {"a": 1.0}), TOLD),
        (lambda **found: "x", ((), {"a": 1}), ((), {"a": True}), NEW),
        (dict, ((), {"a": 1}), ((), {"a": 1}), TOLD),  # it has no signature
        (dict, (([("a", 1)],), {}), (([("a", 1)],), {}), TOLD),
    ],
)
def test_r01_positional_and_keyword_arguments_are_one_call(stage, function, first, second, verdict):
    assert stage.calls(function, first, second) == [NEW, verdict]


def test_arguments_that_do_not_fit_are_the_tool_s_own_error(stage):
    with pytest.raises(TypeError):
        stage.calls(read_file, (("a", 1, 2, 3), {}))
    assert stage.faults == {}
    assert stage.attempt.record().calls == 1


def test_r29_arguments_that_are_no_json_make_a_read_unjudged(stage):
    assert stage.calls(read_file, *[((PurePath("a"),), {})] * 2) == ["unjudged"] * 2


class Reader:
    def __init__(self, root="docs"):
        self.root = root

    def read(self, path):
        return f"{self.root}/{path}"

    @classmethod
    def stat(cls, path):
        return path

    @staticmethod
    def find(path):
        return path

    def __call__(self, path):
        return self.read(path)


class AsyncReader:
    async def __call__(self, path):
        await asyncio.sleep(0)
        return path


@pytest.mark.parametrize(
    "function",
    [Reader().read, Reader.stat, Reader.find, Reader(), functools.partial(Reader().read), functools.partial(read_file)],
)
def test_methods_partials_and_callable_objects_are_gated(stage, function):
    first, second, third = stage.thrice(function, path="a.md")
    assert first == function(path="a.md")
    assert second == f"{first}\n\n{third}"
    assert third == wording.notice("read", "a.md", 1)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (read_file, "read_file"),
        (Reader().read, "read"),
        (Reader(), "Reader"),
        (functools.partial(functools.partial(read_file, limit=1), path="a"), "read_file"),
    ],
)
def test_a_tool_is_called_as_its_callable_is(stage, function, name):
    stage.attempt.gate(function)
    assert stage.attempt.gated == {name}


def test_the_gated_callable_looks_like_the_tool(stage):
    gated = stage.attempt.gate(read_file)
    assert gated.__name__ == "read_file"
    assert gated.__doc__ == "Read a file."
    assert inspect.signature(gated) == inspect.signature(read_file)
    assert not inspect.iscoroutinefunction(gated)


@pytest.mark.parametrize("function", [AsyncReader(), AsyncReader().__call__, functools.partial(AsyncReader().__call__)])
async def test_async_callables_stay_async(stage, function):
    gated = stage.attempt.gate(function, tool="read")
    assert inspect.iscoroutinefunction(gated)
    assert [await gated(path="a.md") for _ in range(3)] == [
        "a.md",
        f"a.md\n\n{wording.notice('read', 'a.md', 1)}",
        wording.notice("read", "a.md", 1),
    ]


async def test_a_coroutine_handed_out_by_a_plain_function_is_judged_when_it_is_done(stage):
    async def work(path):
        await asyncio.sleep(0)
        return path

    def hand_out(path):
        return work(path)

    gated = stage.attempt.gate(hand_out, tool="read")
    pending = gated(path="a.md")
    assert stage.sink.judgements == []
    assert await pending == "a.md"
    assert (await gated(path="a.md")).startswith("a.md\n\n[docsfab]")
    assert stage.sink.verdicts == [NEW, TOLD]

    async def fail():
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - the tool's own
        await stage.attempt.gate(lambda path: fail(), tool="grep")(path="a")
    assert stage.attempt.machine.running == 0


def test_r08_a_tool_that_raises_failed_and_its_error_goes_through(stage):
    def fail(path):
        raise FileNotFoundError(path)

    for _ in range(30):
        with pytest.raises(FileNotFoundError):
            stage.attempt.gate(fail, tool="read")(path="a.md")
    record = stage.attempt.record()
    assert record.read_evidence is None
    assert record.verdicts == {}
    assert record.stall.max_repeated_failed_reads == 29
    assert stage.attempt.machine.running == 0


async def test_r08_a_cancelled_call_failed(stage):
    async def hang(path):
        await asyncio.Event().wait()

    task = asyncio.create_task(stage.attempt.gate(hang, tool="read")(path="a.md"))
    await asyncio.sleep(0)
    assert stage.attempt.machine.running == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.attempt.machine.running == 0
    assert stage.attempt.record().read_evidence is None


def test_r08_ok_says_which_results_are_failures(stage):
    verdicts = stage.calls(
        lambda path: "error: not found", *[((), {"path": "a"})] * 5, ok=lambda result: not result.startswith("error")
    )
    assert verdicts == [NEW] * 5
    assert stage.attempt.record().read_evidence is None


def test_an_ok_that_raises_makes_the_call_a_failed_one_and_is_counted(stage):
    read = stage.attempt.gate(lambda path: "same", tool="read", ok=lambda _: 1 / 0)
    assert [read(path="a") for _ in range(5)] == ["same"] * 5
    assert stage.faults == {"gate": 5}
    assert stage.attempt.machine.running == 0  # or no turn would ever end
    assert stage.attempt.machine.turn == 5


@pytest.mark.parametrize(
    "evicted", [["c1"], [("read", {"path": "a"})], [("read", '{ "path": "a" }')], ["c1", ("read", {"path": "b"})]]
)
def test_r12a_an_evicted_result_is_free_once_more(stage, evicted):
    ids = iter(["c1", "c2", "c3"])
    read = stage.attempt.gate(lambda path: "same", tool="read", call_id=lambda path: next(ids))
    read(path="a")
    stage.attempt.evicted(evicted)
    assert read(path="a") == "same"
    assert read(path="a") != "same"
    assert stage.sink.verdicts == [NEW, NEW, TOLD]


def test_r12a_evicting_another_call_frees_nothing(stage):
    ids = iter(["c1", "c2"])
    read = stage.attempt.gate(lambda path: "same", tool="read", call_id=lambda path: next(ids))
    read(path="a")
    stage.attempt.evicted(["c9", ("read", {"path": "b"}), ("read", object())])
    read(path="a")
    assert stage.sink.verdicts == [NEW, TOLD]


def test_a_call_id_that_raises_costs_the_id_alone(stage):
    read = stage.attempt.gate(lambda path: "same", tool="read", call_id=lambda path: path.no_such_thing)
    assert read(path="a") == "same"
    assert read(path="a") != "same"
    assert stage.faults == {"gate": 2}


class BrokenTools:
    def classify(self, tool, arguments=None):
        raise RuntimeError("secret " + str(arguments))


def test_a_toolset_that_raises_lets_every_result_through_unjudged(stage_of):
    stage = stage_of()
    stage.attempt.machine.toolset = BrokenTools()
    assert stage.thrice(lambda path: "same", path="a") == ["same"] * 3
    stage.attempt.evicted([("read", {"path": "a"})])
    assert stage.sink.verdicts == ["unjudged"] * 3
    assert stage.faults == {"attempt": 4}


def test_a_fault_of_the_supervisor_itself_keeps_no_tool_from_running(stage, monkeypatch):
    monkeypatch.setattr(stage.attempt, "start_call", lambda *_, **__: 1 / 0)
    assert stage.thrice(lambda path: "same", path="a") == ["same"] * 3
    monkeypatch.undo()
    monkeypatch.setattr(stage.attempt, "finish_call", lambda *_, **__: 1 / 0)
    assert stage.thrice(lambda path: "same", path="a") == ["same"] * 3
    assert stage.faults == {"gate": 6}


def stopped(stage):
    read = stage.attempt.gate(lambda path: "same", tool="read")
    with stage.attempt.turn():
        for _ in range(4):
            read(path="a")
    assert stage.attempt.decision.action == "stop"
    return stage.attempt


def test_r16_after_a_stop_no_tool_runs_and_the_denial_is_the_result(stage):
    attempt = stopped(stage)
    ran = []
    search = attempt.gate(lambda **_: ran.append(1), tool="web_search")
    assert search(query="x") == wording.denial("web_search", Denial.STOPPED)
    assert ran == []
    assert attempt.record().calls_after_stop == 1


async def test_r16_an_async_tool_does_not_run_after_a_stop(stage):
    attempt = stopped(stage)
    search = attempt.gate(AsyncReader(), tool="web_search")
    assert await search(path="x") == wording.denial("web_search", Denial.STOPPED)


def test_on_stop_raise_ends_the_run_from_the_next_gated_call(stage_of):
    attempt = stopped(stage_of(on_stop="raise"))
    ran = []
    with pytest.raises(AttemptStopped) as stop:
        attempt.gate(lambda **_: ran.append(1), tool="web_search")(query="x")
    assert ran == []
    assert stop.value.code == "execution-read-loop-withheld-reads-bound"
    assert stop.value.message == f"{stop.value.code}: 2 exceeds execution.readLoopWithheldReads = 1 count."
    assert "a" not in stop.value.message.split()[-1]  # no path
    assert not isinstance(stop.value, Exception)


async def test_on_stop_raise_ends_an_async_run_too(stage_of):
    attempt = stopped(stage_of(on_stop="raise"))
    with pytest.raises(AttemptStopped):
        await attempt.gate(AsyncReader(), tool="web_search")(path="x")


def test_an_ask_denies_and_never_raises(stage_of):
    """Only a stop ends the run; a model that was asked gets the denial and may still answer."""
    stage = stage_of(step="plan", kind="read-only", number=2, retry_of="no-progress", on_stop="raise")
    read = stage.attempt.gate(lambda path: "same", tool="read")
    for _ in range(3):
        with stage.attempt.turn():
            read(path="a")
    assert stage.attempt.decision.action == "conclude"
    assert stage.attempt.conclude_request == wording.CONCLUDE_REQUEST
    assert read(path="b") == wording.denial("read", Denial.READ_LOOP)


def test_r30_observe_changes_nothing(stage_of):
    stage = stage_of(mode="observe", step="plan", kind="read-only", number=2, retry_of="no-progress", on_stop="raise")
    read = stage.attempt.gate(lambda path: "same", tool="read")
    delivered = []
    for _ in range(20):
        with stage.attempt.turn():
            delivered.append(read(path="a"))
    assert delivered == ["same"] * 20
    assert stage.attempt.decision.action == "stop"
    assert not stage.attempt.decision.enforced
    assert stage.attempt.conclude_request is None
    assert set(stage.sink.verdicts) == {"deliver", "deliver-with-notice", "notice-only", "denied"}
    assert not any(enforced for _, _, enforced in stage.sink.judgements)


async def test_mode_off_judges_nothing(stage_of):
    stage = stage_of(mode="off")
    assert stage.thrice(lambda path: "same", path="a") == ["same"] * 3
    assert await stage.attempt.gate(AsyncReader(), tool="read")(path="a") == "a"
    assert stage.sink.opened_attempts == stage.sink.judgements == []
    assert stage.attempt.record().calls == 0


def test_calls_after_the_end_of_an_attempt_run_and_count_nowhere(stage):
    with stage.attempt as attempt:
        read = attempt.gate(lambda path: "same", tool="read")
        read(path="a")
    assert [read(path="a") for _ in range(20)] == ["same"] * 20
    assert attempt.record().calls == 1


def test_a_call_that_outlives_its_attempt_keeps_its_result(stage):
    def read_and_close(path):
        stage.attempt.close()
        return "same"

    assert stage.attempt.gate(read_and_close, tool="read")(path="a") == "same"
    assert stage.faults == {}


def test_without_marks_a_call_that_starts_alone_begins_a_turn(stage):
    read = stage.attempt.gate(lambda path: "same", tool="read")
    for _ in range(3):
        read(path="a")
    assert stage.attempt.machine.turn == 3

    def reads_itself(path):
        return read(path=path)  # in flight inside another call: the same turn

    stage.attempt.gate(reads_itself, tool="web_search")(path="b")
    assert stage.attempt.machine.turn == 4
