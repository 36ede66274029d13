"""Fixtures that give tests a running console."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from redshank_shared.settings.sections import Settings
from tests.fakes.valkey import Valkey
from tests.integration.console_world import (
    DEADLINE_SECONDS,
    NO_PAGE,
    RunningConsole,
    ServingThread,
    running,
    settings_for,
)


@pytest.fixture
async def both(tmp_path: Path, database_url: str, valkey: Valkey) -> AsyncIterator[RunningConsole]:
    """A console over SQLite, then one over PostgreSQL."""
    async with running(settings_for(tmp_path, database_url, valkey.url)) as world:
        yield world


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """A migrated SQLite database."""
    path = tmp_path / "console.db"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def console_settings(tmp_path: Path, sqlite_url: str, valkey: Valkey) -> Settings:
    """What a console over SQLite is told."""
    return settings_for(tmp_path, sqlite_url, valkey.url)


@pytest.fixture
async def console(console_settings: Settings) -> AsyncIterator[RunningConsole]:
    """A console over SQLite."""
    async with running(console_settings) as world:
        yield world


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, shared_valkey: Valkey
) -> Iterator[tuple[Settings, ServingThread]]:
    """A console over SQLite that serves a whole file."""
    folder = tmp_path_factory.mktemp("standing")
    shutil.copy(sqlite_template, folder / "console.db")
    settings = settings_for(folder, f"sqlite:///{folder}/console.db", shared_valkey.url)
    thread = ServingThread(settings, NO_PAGE)
    thread.start()
    assert thread.listens.wait(DEADLINE_SECONDS)
    yield settings, thread
    thread.end()


@pytest.fixture
async def standing(
    served: tuple[Settings, ServingThread],
) -> AsyncIterator[RunningConsole]:
    """The file's console, for requests that are refused: they change nothing in it."""
    world = RunningConsole(*served)
    yield world
    await world.close()
