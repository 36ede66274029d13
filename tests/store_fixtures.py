"""Databases for tests: SQLite files, a real PostgreSQL, a fresh one for each test."""

import functools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from redshank_shared.domain.events import MessagePosted, WorkstreamCreated
from redshank_shared.domain.projection import Projection
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.migrations.schema import migrate
from tests.fakes.postgres import PostgresServer

BRANDS = ("sqlite", "postgresql")
AT = "2026-11-30T08:15:00.250Z"


def projected(pending: bool = True, **fields: Any) -> Projection:
    """A projection in which only the named fields matter."""
    given = {"name": "reed", "owner": "ana", "state": "running", "pending": pending, **fields}
    return Projection(**given)


def begin(database: Database, workstream_id: str = "ws_1", **fields: Any) -> int:
    """A workstream with one fact in its log; its version."""
    facts = [WorkstreamCreated(name="reed", owner="ana")]
    at = fields.pop("at", AT)
    return EventLog(database).create(workstream_id, facts, at, projected(**fields))


def appending(
    expected: int, *texts: str, workstream_id: str = "ws_1", pending: bool = True, **fields: Any
) -> Append:
    """An append of messages with these texts."""
    return Append(
        workstream_id=workstream_id,
        expected_version=expected,
        facts=tuple(MessagePosted(text=text) for text in texts),
        at=AT,
        projection=fields.pop("projection", projected(pending)),
        **fields,
    )


class PostgresTemplate:
    """A server with one migrated database that others are copied from."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._migrated = ""
        self._shape = ""
        self._emptied: list[str] = []

    def migrated(self) -> str:
        """The template's name."""
        if not self._migrated:
            self._migrated = self.server.create_database()
            _migrate(self.server.url(self._migrated))
            self._shape = self.server.shape(self._migrated)
        return self._migrated

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The address of a migrated database in which nothing stands: a copy of the template, or
        one that was emptied.
        """
        template = self.migrated()
        name = self._emptied.pop() if self._emptied else self.server.create_database(template)
        yield self.server.url(name)
        if self.server.empty_database(name, self._shape):
            self._emptied.append(name)
        else:
            self.server.drop_database(name)


@contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[PostgresServer]:
    """A server of one's own, stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = PostgresServer(folder, durable=durable)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresTemplate]:
    """The session's server."""
    with running_postgres() as server:
        yield PostgresTemplate(server)


@functools.cache
def migrated_file() -> bytes:
    """A migrated SQLite database in which nothing stands."""
    with tempfile.TemporaryDirectory(prefix="template-") as folder:
        path = Path(folder) / "redshank.db"
        _migrate(f"sqlite:///{path}")
        return path.read_bytes()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file that others are copied from."""
    path = tmp_path_factory.mktemp("template") / "redshank.db"
    path.write_bytes(migrated_file())
    return path


@pytest.fixture
def postgres_url(postgres: PostgresTemplate) -> Iterator[str]:
    """An empty PostgreSQL database."""
    name = postgres.server.create_database("template0")
    yield postgres.server.url(name)
    postgres.server.drop_database(name)


@pytest.fixture
def migrated_postgres_url(postgres: PostgresTemplate) -> Iterator[str]:
    """A migrated PostgreSQL database that nobody has after this test."""
    name = postgres.server.create_database(postgres.migrated())
    yield postgres.server.url(name)
    postgres.server.drop_database(name)


@pytest.fixture(params=BRANDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each brand."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/redshank.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(params=BRANDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database of each brand."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            path = tmp_path / "redshank.db"
            shutil.copy(request.getfixturevalue("sqlite_template"), path)
            yield f"sqlite:///{path}"
        else:
            template: PostgresTemplate = request.getfixturevalue("postgres")
            yield stack.enter_context(template.lent())


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A migrated database of each brand, open."""
    opened = Database(database_url, synchronous="NORMAL")
    yield opened
    opened.close()


def _migrate(url: str) -> None:
    opened = Database(url)
    migrate(opened)
    opened.close()
