"""Keepers on a real Redis server: never two holders, whatever pauses, whatever clocks say, whoever restarts."""

import time
from dataclasses import dataclass
from itertools import pairwise

import pytest
import redis
from hypothesis import example, given, settings
from hypothesis import strategies as st

import otel_docsfab as docsfab
from otel_docsfab.lease import LeaseHeld, LeaseKeeper, RedisLeaseStore
from tests.services.redis import RedisServer

TTL_S, INTERVAL_S = 0.25, 0.08
KEEPERS = 2
HOUR_MS = 3_600_000

pytestmark = pytest.mark.service


class SkewedClock:
    """The clocks of another machine: another beginning, a rate a little off, a wall clock that jumps."""

    def __init__(self, number):
        self._offset_ms = number * HOUR_MS * 1_000
        self._rate = 1 + (number * 2 - 1) / 200
        self.jump_ms = 0

    def monotonic_ms(self):
        return self._offset_ms + int(time.monotonic_ns() * self._rate) // 1_000_000

    def unix_ms(self):
        return time.time_ns() // 1_000_000 + self.jump_ms


class Resource:
    """What the lease protects: refuses a token smaller than one it has seen."""

    def __init__(self):
        self.newest = 0

    def write(self, token):
        accepted = token >= self.newest
        self.newest = max(self.newest, token)
        return accepted


@dataclass
class Worker:
    """One keeper on a machine of its own."""

    number: int
    client: redis.Redis
    resource: Resource
    lease: object = None
    stalled: int | None = None
    reads: int = 0

    def __post_init__(self):
        self.clock = SkewedClock(self.number)
        store = RedisLeaseStore(self.client)
        self.keeper = LeaseKeeper(store, TTL_S, INTERVAL_S, background=False, clock=self.clock)
        self.supervisor = docsfab.Supervisor(sinks=[self.keeper], clock=self.clock)
        self.attempt = self.supervisor.attempt("step", run_id=f"run-{self.number}")
        self.read = self.attempt.gate(lambda path: path, tool="read")

    def hold(self, granted):
        if not self.holds:
            try:
                self.lease = self.keeper.hold(self.attempt, "one")
            except (LeaseHeld, redis.RedisError):
                return
            granted.append(self.lease.token)

    def progress(self, _):
        self.reads += 1
        self.read(path=f"{self.reads}.md")

    def loop(self, _):
        self.read(path="same.md")

    def renew(self, _):
        self.keeper.renew_due()

    def jump(self, _):
        self.clock.jump_ms += HOUR_MS

    def write(self, granted):
        if self.holds:
            assert self.resource.write(self.lease.token)
            assert self.lease.token == granted[-1]

    def stall(self, _):
        """Checked that it holds the lease, and is paused just before it writes."""
        self.stalled = self.lease.token if self.holds else None

    def wake(self, _):
        if self.stalled is not None:
            newer = self.resource.newest > self.stalled
            assert self.resource.write(self.stalled) != newer
            self.stalled = None

    def release(self, _):
        if self.lease is not None:
            self.lease.release()

    @property
    def holds(self):
        return self.lease is not None and self.lease.held


WORK = st.sampled_from(
    ["hold", "hold", "progress", "renew", "renew", "loop", "jump", "write", "stall", "wake", "release"]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(WORK, st.integers(0, KEEPERS - 1)),
        st.tuples(WORK, st.integers(0, KEEPERS - 1)),
        st.tuples(st.just("pause"), st.sampled_from([20, 90, 200, 300])),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    min_size=6,
    max_size=20,
)


@pytest.fixture(scope="module", params=[True, False], ids=["durable", "forgetful"])
def server(request, tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"), durable=request.param)
    server.start()
    yield server
    server.stop()


@settings(max_examples=10)
@given(steps=STEPS)
@example(steps=[("pause", 1_000), ("hold", 0), ("restart", 0), ("hold", 1), ("write", 1)])
@example(steps=[("pause", 1_000), ("hold", 0), ("stall", 0), ("pause", 300), ("hold", 1), ("write", 1), ("wake", 0)])
def test_never_two_holders(server, steps):
    client = server.client()
    client.delete("docsfab:lease:{one}")
    resource, granted = Resource(), []
    workers = [Worker(number, client, resource) for number in range(KEEPERS)]
    for what, value in steps:
        if what == "pause":
            time.sleep(value / 1_000)
        elif what == "restart":
            server.stop()
            server.start()
        else:
            getattr(workers[value], what)(granted)
        assert sum(worker.holds for worker in workers) <= 1
    assert all(earlier < later for earlier, later in pairwise(granted))
    client.close()


@pytest.mark.parametrize("who", ["looping", "progressing"])
def test_r28_a_looping_agents_lease_runs_out_a_progressing_ones_does_not(redis_server, who):
    client = redis_server.client()
    client.flushall()
    lost = []
    keeper = LeaseKeeper(RedisLeaseStore(client), 1.0, 0.1, on_lost=lost.append)
    supervisor = docsfab.Supervisor(sinks=[keeper])
    with supervisor.attempt("step") as attempt:
        read = attempt.gate(lambda path: path, tool="read")
        lease = _held(keeper, attempt)
        end = time.monotonic() + 2.5
        number = 0
        while time.monotonic() < end and not lost:
            number += 1
            read(path="same.md" if who == "looping" else f"{number}.md")
            time.sleep(0.02)
        assert lease.held == (who == "progressing")
        assert [one.reason for one in lost] == (["no-progress"] if who == "looping" else [])
    supervisor.shutdown()
    client.close()


def _held(keeper, attempt):
    """The lease, once a server that has just started gives it."""
    while True:
        try:
            return keeper.hold(attempt)
        except LeaseHeld:
            time.sleep(0.05)
