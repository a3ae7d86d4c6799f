import pytest

from otel_docsfab.lease import MemoryLeaseStore, RedisLeaseStore, SqliteLeaseStore
from tests.services.redis import RedisServer


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.service)])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryLeaseStore()
    elif request.param == "sqlite":
        yield SqliteLeaseStore(tmp_path / "deep" / "leases.sqlite3")
    else:
        client = request.getfixturevalue("redis_server").client()
        client.flushall()
        yield RedisLeaseStore(client)
        client.close()
