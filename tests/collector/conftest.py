"""One chain of collectors for the whole directory; tests tell their spans apart by trace id."""

import pytest

from tests.services.collector import collector_binary, start_chain


@pytest.fixture(scope="session")
def otelcol():
    return collector_binary()


@pytest.fixture(scope="session")
def chain(otelcol, tmp_path_factory):
    """Agent, gateway (which keeps everything) and trace store."""
    chain = start_chain(otelcol, tmp_path_factory.mktemp("chain"), SAMPLE_PERCENT="100")
    yield chain
    chain.end()
