"""Fixtures that give tests one console with a server of each test's own that is logged in to."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from redshank_shared.settings.sections import Settings
from tests.fakes.authorization_server import ProtectedServer
from tests.fakes.valkey import Valkey
from tests.integration.console_world import DEADLINE_SECONDS, NO_PAGE, ServingThread
from tests.integration.mcp_login_world import World, opened, settings_with

pytest_plugins = ("tests.integration.oauth_fixtures",)

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def serving(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, shared_valkey: Valkey
) -> Iterator[tuple[Settings, ServingThread]]:
    """One console for all tests: each has servers of its own."""
    folder = tmp_path_factory.mktemp("console")
    settings = settings_with(folder, sqlite_template, shared_valkey.url)
    thread = ServingThread(settings, NO_PAGE)
    thread.start()
    thread.listens.wait(DEADLINE_SECONDS)
    yield settings, thread
    thread.end()


@pytest.fixture
async def world(
    serving: tuple[Settings, ServingThread], server: ProtectedServer
) -> AsyncIterator[World]:
    async with opened(*serving) as console:
        made = World(console, f"acme-{next(_numbers)}")
        await made.add(server.url)
        yield made
