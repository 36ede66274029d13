"""Fixtures that give tests a real Valkey."""

import pathlib
from collections.abc import AsyncIterator, Iterator

import pytest
import redis.asyncio

from redshank_shared.queue.connection import connect
from tests.fakes.valkey import Valkey


@pytest.fixture(scope="session")
def shared_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    server = Valkey(tmp_path_factory.mktemp("valkey"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def valkey(shared_valkey: Valkey) -> Valkey:
    """A running server without data, shared by the whole run: do not stop it."""
    with shared_valkey.client() as client:
        client.flushall()
    return shared_valkey


@pytest.fixture
def own_valkey(tmp_path: pathlib.Path) -> Iterator[Valkey]:
    """A server of the test's own, to stop, freeze and restart; what was written survives."""
    server = Valkey(tmp_path, durable=True)
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def redis_client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    """Our client for short commands, on the shared server."""
    client = connect(valkey.url)
    yield client
    await client.aclose()
