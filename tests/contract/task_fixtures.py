"""Fixtures for tests of background tasks."""

import pathlib
import shutil
from collections.abc import Iterator

import pytest

from redshank_shared.stores.database import Database
from tests.contract.task_world import TaskWorld


@pytest.fixture
def task_world(tmp_path: pathlib.Path, sqlite_template: pathlib.Path) -> Iterator[TaskWorld]:
    """A world over SQLite."""
    shutil.copy(sqlite_template, tmp_path / "redshank.db")
    database = Database(f"sqlite:///{tmp_path}/redshank.db", synchronous="NORMAL")
    folder = tmp_path / "workspace"
    folder.mkdir()
    yield TaskWorld(database, folder)
    database.close()
