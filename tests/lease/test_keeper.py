"""A lease lives on progress alone, and its loss is told once (R28)."""

import asyncio
import os
import threading

import pytest

import otel_docsfab as docsfab
from otel_docsfab.catalogue.words import LeaseResult
from otel_docsfab.core import Outcome
from otel_docsfab.errors import ConfigError
from otel_docsfab.lease import LeaseHeld, LeaseKeeper, LossReason, MemoryLeaseStore
from otel_docsfab.supervisor import Site
from otel_docsfab.testing import ManualClock
from tests.services.loopback import wait_until

TTL_S, INTERVAL_S = 60.0, 20.0


class Kit:
    """A supervisor, a keeper without a thread, and a clock that stands still."""

    def __init__(self, store=None, **options):
        self.clock = ManualClock()
        self.store = store or MemoryLeaseStore(self.clock)
        self.lost = []
        self.keeper = LeaseKeeper(
            self.store, TTL_S, INTERVAL_S, on_lost=self.lost.append, background=False, clock=self.clock, **options
        )
        self.supervisor = docsfab.Supervisor(sinks=[self.keeper], clock=self.clock)

    def attempt(self, step="review-documentation", **options):
        return self.supervisor.attempt(step, run_id="run-1", **options)

    def wait(self, seconds):
        """Let time pass, looking after the leases each second."""
        for _ in range(seconds):
            self.clock.advance(1_000)
            self.keeper.renew_due()

    @property
    def results(self):
        """Renewals by result."""
        counts = self.supervisor.tallies.read()
        found = {result: counts.get(("docsfab.lease.renewals", (result.value,)), 0) for result in LeaseResult}
        return {result.value: count for result, count in found.items() if count}


def reader(attempt):
    read = attempt.gate(lambda path: f"content of {path}", tool="read")

    def turn(path):
        with attempt.turn():
            read(path=path)

    return turn


def test_r28_a_progressing_agent_keeps_its_lease():
    kit = Kit()
    with kit.attempt() as attempt, kit.keeper.hold(attempt) as lease:
        read = reader(attempt)
        for number in range(15):
            read(f"{number}.md")
            kit.wait(10)
        assert lease.held
    assert kit.lost == []
    assert set(kit.results) == {"renewed"}
    assert not lease.held


def test_r28_a_looping_agents_lease_runs_out_and_another_can_take_it():
    kit = Kit()
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        read = reader(attempt)
        for _ in range(12):
            read("same.md")
            kit.wait(10)
        assert not lease.held
        (lost,) = kit.lost
        assert (lost.reason, lost.token, lost.name) == (LossReason.NO_PROGRESS, lease.token, lease.name)
        assert lost.attempt == attempt.ref
        assert kit.results == {"renewed": 1, "refused": 2}  # the first read was new content
        with kit.attempt(number=2) as other:
            assert kit.keeper.hold(other).token > lease.token


@pytest.mark.parametrize("what", ["failed call", "repeated edit", "unchanged re-read"])
def test_r28_what_is_no_progress_renews_nothing(what):
    kit = Kit()
    with kit.attempt(kind="write") as attempt:
        edit = attempt.gate(lambda path: "done", tool="edit")
        fail = attempt.gate(lambda path: "", tool="read", ok=lambda result: False)
        read = attempt.gate(lambda path: "x", tool="read")
        edit(path="a")
        read(path="a")
        kit.keeper.hold(attempt)
        act = {"failed call": fail, "repeated edit": edit, "unchanged re-read": read}[what]
        for _ in range(7):
            act(path="a")
            kit.wait(10)
    assert [lost.reason for lost in kit.lost] == [LossReason.NO_PROGRESS]
    assert kit.results == {"refused": 2}


def test_progress_after_a_refusal_renews_at_once():
    kit = Kit()
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        read = reader(attempt)
        kit.wait(41)  # two looks without progress, the lease has 18 s left
        read("new.md")
        kit.keeper.renew_due()
        assert kit.results == {"refused": 2, "renewed": 1}
        kit.wait(50)
        assert lease.held


def test_progress_of_other_attempts_renews_nothing():
    kit = Kit()
    with kit.attempt() as attempt, kit.attempt(step="plan-documentation") as other:
        kit.keeper.hold(attempt)
        for number in range(7):
            reader(other)(f"{number}.md")
            kit.wait(10)
    assert [lost.reason for lost in kit.lost] == [LossReason.NO_PROGRESS]


def test_two_attempts_of_a_step_exclude_each_other():
    kit = Kit()
    with kit.attempt() as attempt, kit.attempt(number=2) as other:
        with kit.keeper.hold(attempt), pytest.raises(LeaseHeld, match="run-1/review-documentation"):
            kit.keeper.hold(other)
        kit.keeper.hold(other)
        kit.keeper.hold(attempt, "a lease of its own")


def test_a_lease_that_was_taken_is_told_once_and_can_stop_the_attempt():
    kit = Kit(then="stop")
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        kit.store._held.clear()
        kit.store.acquire(lease.name, "somebody", 1_000_000)
        reader(attempt)("new.md")
        kit.wait(100)
        assert not lease.held
        assert [lost.reason for lost in kit.lost] == [LossReason.TAKEN]
        assert kit.results == {"lost": 1}
        assert attempt.record().outcome is Outcome.CANCELLED


class Unreachable(MemoryLeaseStore):
    """A store that does not answer for a while."""

    down = False

    def renew(self, *facts):
        if self.down:
            raise ConnectionError("no store")
        return super().renew(*facts)

    release = renew


def test_a_store_that_comes_back_in_time_costs_nothing():
    clock = ManualClock()
    kit = Kit(Unreachable(clock))
    clock.now_ms = 0
    kit.clock = kit.keeper.clock = clock
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        reader(attempt)("new.md")
        kit.store.down = True
        kit.wait(40)
        kit.store.down = False
        kit.wait(10)
        assert lease.held
    assert kit.lost == []
    assert kit.results["renewed"] == 1
    assert kit.results["error"] > 1
    assert kit.supervisor.faults.counts()[Site.LEASE] == kit.results["error"]


def test_a_store_that_stays_away_loses_the_lease():
    clock = ManualClock()
    kit = Kit(Unreachable(clock))
    kit.clock = kit.keeper.clock = clock
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        reader(attempt)("new.md")
        kit.store.down = True
        kit.wait(70)
        lease.release()
    assert [lost.reason for lost in kit.lost] == [LossReason.UNREACHABLE]


def test_a_holder_gives_up_before_the_store_does():
    kit = Kit()
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        while lease.held:
            kit.clock.advance(1)
        assert kit.store.acquire(lease.name, "somebody", 1) is None
        assert kit.clock.monotonic_ms() < TTL_S * 1_000


def test_a_callback_that_raises_is_counted():
    kit = Kit()
    kit.keeper._on_lost = lambda lost: 1 / 0
    with kit.attempt() as attempt:
        kit.keeper.hold(attempt)
        kit.wait(70)
    assert kit.supervisor.faults.counts()[Site.CALLBACK] == 1


def test_a_lease_ends_with_its_attempt():
    kit = Kit()
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
    kit.keeper.renew_due()
    assert lease.ended
    assert kit.store.acquire(lease.name, "somebody", 1) is not None
    kit.wait(100)
    assert kit.lost == []


@pytest.mark.parametrize("options", [{"ttl_s": 1, "interval_s": 1}, {"ttl_s": 1, "interval_s": 0}, {"then": "shout"}])
def test_settings_that_do_not_fit_are_refused(options):
    with pytest.raises(ConfigError, match="LeaseKeeper"):
        LeaseKeeper(**{"store": MemoryLeaseStore(), "ttl_s": 2, "interval_s": 1, **options})


def test_the_thread_starts_with_the_first_lease_and_ends_with_the_supervisor():
    lost = threading.Event()
    told = []

    def on_lost(event):
        told.append(event)
        lost.set()

    keeper = LeaseKeeper(MemoryLeaseStore(), 0.2, 0.05, on_lost=on_lost)
    supervisor = docsfab.Supervisor(sinks=[keeper])
    with supervisor.attempt("s") as attempt:
        assert keeper._thread is None
        lease = keeper.hold(attempt)
        assert keeper._thread.is_alive()
        assert lost.wait(60)
        assert not lease.held
    with supervisor.attempt("s", 2) as attempt:
        kept = keeper.hold(attempt)
    wait_until("it is given back when the attempt ended", lambda: kept.ended)
    thread = keeper._thread
    supervisor.shutdown()
    assert not thread.is_alive()
    assert len(told) == 1


async def test_on_an_event_loop():
    keeper = LeaseKeeper(MemoryLeaseStore(), 60, 20)
    supervisor = docsfab.Supervisor(sinks=[keeper])
    async with supervisor.attempt("s") as attempt, await asyncio.to_thread(keeper.hold, attempt) as lease:
        assert lease.held
    assert lease.ended
    supervisor.shutdown()


def test_a_forked_child_has_no_leases():
    kit = Kit()
    with kit.attempt() as attempt:
        lease = kit.keeper.hold(attempt)
        child = os.fork()
        if child == 0:
            os._exit(0 if not lease.held and not kit.keeper._leases else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert lease.held
