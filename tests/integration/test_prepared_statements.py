"""What a connection to PostgreSQL has prepared outlives the reads between."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.migrations.schema import migrate
from redshank_shared.stores.services import Services
from tests.store_fixtures import begin

PREPARED = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%FROM events%'")
# The driver prepares what it has run five times.
OFTEN = 8


@pytest.fixture
def one(postgres_url: str) -> Iterator[Database]:
    """One connection, so that all of it meets there."""
    database = Database(postgres_url, pool_size=1)
    migrate(database)
    yield database
    database.close()


def test_a_read_of_something_else_does_not_make_the_database_parse_a_turns_statements_anew(
    one: Database,
) -> None:
    begin(one)
    for _ in range(OFTEN):
        EventLog(one).read("ws_1")

    Services(one).beats()

    with one.read() as connection:
        assert connection.execute(PREPARED).scalar_one() >= 1


def test_a_read_leaves_no_transaction_open(one: Database) -> None:
    Services(one).beats()

    with one.read() as connection:
        open_ones = text(
            "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' "
            "AND datname = current_database()"
        )
        assert connection.execute(open_ones).scalar_one() == 0
