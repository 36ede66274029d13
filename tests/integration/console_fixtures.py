"""Fixtures that give tests a running console."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_shared.settings.sections import Settings
from tests.fakes.valkey import Valkey
from tests.integration.console_world import RunningConsole, running, settings_for


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
