"""Every store keeps the one promise: a lease has one holder, and tokens only grow."""

import multiprocessing
import sqlite3
import time

import pytest

from otel_docsfab.lease import LeaseStore, RedisLeaseStore, SqliteLeaseStore
from tests.services.loopback import wait_until
from tests.services.redis import RedisServer

SOON_MS = 60
LONG_MS = 60_000


def acquired(store, name, owner, ttl_ms):
    """The token, once the store gives it: a server that has just started waits for the leases of before."""
    tokens = []

    def given():
        token = store.acquire(name, owner, ttl_ms)
        tokens.append(token)
        return token is not None

    wait_until("the lease is given", given)
    return tokens[-1]


def test_it_is_a_store(store):
    assert isinstance(store, LeaseStore)


def test_a_lease_has_one_holder_until_it_is_given_back(store):
    first = acquired(store, "step", "a", SOON_MS * 20)
    assert store.acquire("step", "b", SOON_MS) is None
    assert store.acquire("other", "b", SOON_MS) is not None
    store.release("step", "b", first)
    store.release("step", "a", first + 1)
    assert store.acquire("step", "b", SOON_MS) is None
    store.release("step", "a", first)
    second = store.acquire("step", "b", SOON_MS)
    assert second > first


def test_a_lease_runs_out_and_the_old_holder_can_neither_renew_nor_release_it(store):
    first = acquired(store, "step", "a", SOON_MS)
    second = acquired(store, "step", "b", 1_000)
    assert second > first
    assert not store.renew("step", "a", first, LONG_MS)
    store.release("step", "a", first)
    assert store.renew("step", "b", second, SOON_MS)


def test_a_lease_that_ran_out_is_not_renewed_even_when_nobody_took_it(store):
    token = acquired(store, "step", "a", SOON_MS)
    wait_until("it runs out", lambda: store.acquire("step", "probe", 1) is not None)
    assert not store.renew("step", "a", token, LONG_MS)


def test_renewing_lets_it_last(store):
    token = acquired(store, "step", "a", 500)
    assert store.renew("step", "a", token, LONG_MS)
    time.sleep(0.6)
    assert store.acquire("step", "b", SOON_MS) is None
    assert store.renew("step", "a", token, SOON_MS)
    assert not store.renew("step", "a", token + 1, SOON_MS)


def test_taking_ones_own_lease_again_gives_a_new_token(store):
    first = acquired(store, "step", "a", 1_000)
    second = store.acquire("step", "a", 1_000)
    assert second > first
    assert not store.renew("step", "a", first, SOON_MS)
    assert store.renew("step", "a", second, SOON_MS)


def contend(path, rounds, found):
    store = SqliteLeaseStore(path)
    tokens = []
    while len(tokens) < rounds:
        owner = multiprocessing.current_process().name
        token = store.acquire("step", owner, LONG_MS)
        if token is not None:
            tokens.append(token)
            store.release("step", owner, token)
    found.put(tokens)


def test_sqlite_tokens_are_unique_over_processes(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    found = spawn.Queue()
    workers = [spawn.Process(target=contend, args=(tmp_path / "leases", 25, found)) for _ in range(3)]
    for worker in workers:
        worker.start()
    lists = [found.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert all(tokens == sorted(tokens) for tokens in lists)
    assert len({token for tokens in lists for token in tokens}) == 75


def test_sqlite_leases_of_before_a_reboot_have_run_out(tmp_path):
    store = SqliteLeaseStore(tmp_path / "leases")
    first = store.acquire("step", "a", LONG_MS)
    store._boot = "another boot"
    assert not store.renew("step", "a", first, LONG_MS)
    assert store.acquire("step", "b", LONG_MS) > first


def test_sqlite_tokens_grow_when_the_file_was_deleted(tmp_path):
    store = SqliteLeaseStore(tmp_path / "leases")
    first = store.acquire("step", "a", LONG_MS)
    (tmp_path / "leases").unlink()
    assert store.acquire("step", "b", LONG_MS) > first


def test_sqlite_says_when_it_cannot_be_asked(tmp_path):
    (tmp_path / "leases").write_bytes(b"no database at all, but long enough to be taken for one" * 20)
    with pytest.raises(sqlite3.DatabaseError):
        SqliteLeaseStore(tmp_path / "leases").acquire("step", "a", LONG_MS)


@pytest.mark.service
def test_redis_that_lost_its_data_gives_no_lease_while_a_forgotten_one_may_last(tmp_path):
    server = RedisServer(tmp_path, durable=False)
    server.start()
    try:
        client = server.client()
        store = RedisLeaseStore(client)
        first = acquired(store, "step", "a", SOON_MS)
        server.stop()
        server.start()
        assert store.acquire("step", "b", LONG_MS) is None
        assert not store.renew("step", "a", first, LONG_MS)
        assert acquired(store, "step", "b", SOON_MS) > first
        client.close()
    finally:
        server.stop()


@pytest.mark.service
def test_redis_tokens_grow_when_the_servers_clock_goes_back(redis_server):
    client = redis_server.client()
    client.flushall()
    store = RedisLeaseStore(client)
    first = acquired(store, "step", "a", 1_000)
    store.release("step", "a", first)
    later = first + 3_600_000_000  # as if the token had been given by a clock that ran an hour ahead
    client.set("docsfab:lease:{step}:token", later)
    assert store.acquire("step", "b", 1_000) == later + 1
    client.close()


@pytest.mark.service
def test_redis_by_url(redis_server):
    store = RedisLeaseStore.from_url(f"redis://127.0.0.1:{redis_server.port}/1", prefix="mine")
    token = acquired(store, "step", "a", 1_000)
    assert store.renew("step", "a", token, 1_000)
    store.release("step", "a", token)
    store._acquire.registered_client.close()
