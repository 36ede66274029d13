"""Databases that do not answer: the error is ours, the next call works."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from redshank_shared.domain.errors import Unavailable
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.migrations.schema import migrate
from redshank_shared.stores.workstreams import Workstreams
from tests.fakes.postgres import PostgresServer
from tests.store_fixtures import appending, begin, running_postgres


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with running_postgres() as started:
        yield started


@pytest.fixture
def served(server: PostgresServer) -> Iterator[Database]:
    database = Database(server.url(server.create_database()))
    migrate(database)
    yield database
    database.close()


@pytest.mark.fault("F56")
def test_a_restart_between_calls_is_not_even_noticed(
    server: PostgresServer, served: Database
) -> None:
    begin(served)
    assert Workstreams(served).get("ws_1") is not None
    server.stop()
    server.start()
    assert EventLog(served).append(appending(1, "x")) == 2
    row = Workstreams(served).get("ws_1")
    assert row is not None
    assert row.version == 2


@pytest.mark.fault("F56")
def test_while_the_server_is_down_calls_are_unavailable(
    server: PostgresServer, served: Database
) -> None:
    begin(served)
    server.kill()
    for call in (
        served.ping,
        lambda: Leases(served).renew("node_a", 15),
        lambda: EventLog(served).append(appending(1, "x")),
        lambda: Workstreams(served).page(),
    ):
        with pytest.raises(Unavailable):
            call()
    server.start()
    served.ping()
    assert EventLog(served).append(appending(1, "x")) == 2


@pytest.mark.fault("F56")
def test_a_crash_within_a_transaction_writes_nothing(
    server: PostgresServer, served: Database
) -> None:
    begin(served)

    def crash_on_the_drivers_road() -> None:
        with served.hot_transaction() as cursor:
            cursor.execute("UPDATE workstreams SET version = 77")
            server.kill()
            cursor.execute("SELECT 1")

    def crash_on_the_other_road() -> None:
        with served.begin() as connection:
            connection.exec_driver_sql("UPDATE workstreams SET version = 77")
            server.kill()
            connection.exec_driver_sql("SELECT 1")

    with pytest.raises(Unavailable):
        crash_on_the_drivers_road()
    server.start()
    assert EventLog(served).append(appending(1, "x")) == 2
    with pytest.raises(Unavailable):
        crash_on_the_other_road()
    server.start()
    assert EventLog(served).append(appending(2, "x")) == 3


def test_a_locked_file_is_unavailable_until_it_is_free(
    tmp_path: Path, sqlite_template: Path
) -> None:
    path = tmp_path / "redshank.db"
    path.write_bytes(sqlite_template.read_bytes())
    database = Database(f"sqlite:///{path}?timeout=0.05")
    begin(database)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        EventLog(database).append(appending(1, "x"))
    assert EventLog(database).count("ws_1") == 1
    other.execute("ROLLBACK")
    other.close()
    assert EventLog(database).append(appending(1, "x")) == 2
    database.close()


def test_an_error_of_the_caller_rolls_the_transaction_back(database: Database) -> None:
    begin(database)

    def fail_on_the_drivers_road() -> None:
        with database.hot_transaction() as cursor:
            cursor.execute("UPDATE workstreams SET version = 77")
            raise KeyError("of the caller")

    def fail_on_the_other_road() -> None:
        with database.begin() as connection:
            connection.exec_driver_sql("UPDATE workstreams SET version = 77")
            raise KeyError("of the caller")

    for fail in (fail_on_the_drivers_road, fail_on_the_other_road):
        with pytest.raises(KeyError):
            fail()
    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert row.version == 1


def test_what_was_committed_survives_a_power_cut_unless_told_otherwise(tmp_path: Path) -> None:
    for setting, level in (("FULL", 2), ("NORMAL", 1)):
        path = tmp_path / f"{setting}.db"
        database = Database(
            f"sqlite:///{path}", synchronous="FULL" if setting == "FULL" else "NORMAL"
        )
        with database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        database.close()
