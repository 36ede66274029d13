"""Fixtures for tests of tools that keep bytes."""

import pathlib
import shutil
from collections.abc import Iterator

import pytest

from redshank_shared.stores.database import Database
from tests.contract.artifact_world import ArtifactWorld


@pytest.fixture
def world(tmp_path: pathlib.Path, sqlite_template: pathlib.Path) -> Iterator[ArtifactWorld]:
    """A world over SQLite."""
    shutil.copy(sqlite_template, tmp_path / "redshank.db")
    database = Database(f"sqlite:///{tmp_path}/redshank.db", synchronous="NORMAL")
    folder = tmp_path / "workspace"
    folder.mkdir()
    yield ArtifactWorld(database, folder)
    database.close()
