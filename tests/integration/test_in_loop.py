"""Work on PostgreSQL that waits: the loop goes on, a cancelled caller leaves nothing half done."""

import asyncio

import pytest

from redshank_shared.domain.errors import Unavailable
from redshank_shared.stores.database import Database
from redshank_shared.waiting import happened
from tests.store_fixtures import PostgresTemplate


@pytest.fixture
def database(postgres: PostgresTemplate) -> Database:
    return Database(postgres.server.url(postgres.server.create_database()), pool_size=2)


def slept(database: Database, seconds: float) -> int:
    with database.hot_statement() as cursor:
        cursor.execute("SELECT pg_sleep(%(seconds)s), 7", {"seconds": seconds})
        return int(cursor.fetchall()[0][1])


@pytest.mark.fault("F53")
async def test_the_loop_goes_on_while_a_statement_runs(database: Database) -> None:
    rounds = 0
    async with asyncio.TaskGroup() as group:
        running = group.create_task(database.run(slept, database, 0.5))
        while not running.done():
            await asyncio.sleep(0.01)
            rounds += 1
    assert running.result() == 7
    assert rounds > 2
    database.close()


async def test_more_work_than_connections_waits_its_turn(database: Database) -> None:
    answers = await asyncio.gather(*(database.run(slept, database, 0.01) for _ in range(20)))
    assert answers == [7] * 20
    database.close()


async def cancelled_under_way(database: Database, seconds: float) -> asyncio.Event:
    """Work of so many seconds whose caller is cancelled once it has begun; set at its end."""
    begun, ended = asyncio.Event(), asyncio.Event()

    def work() -> None:
        begun.set()
        slept(database, seconds)
        ended.set()

    async with asyncio.TaskGroup() as group:
        caller = group.create_task(database.run(work))
        assert await happened(begun, 30)
        caller.cancel()
    assert caller.cancelled()
    return ended


async def test_work_goes_on_to_its_end_when_its_caller_is_cancelled(database: Database) -> None:
    ended = await cancelled_under_way(database, 1.0)
    assert not ended.is_set()
    assert await happened(ended, 30)
    assert await database.run(slept, database, 0.0) == 7
    database.close()


async def test_what_is_still_under_way_can_be_waited_for_before_the_loop_ends(
    database: Database,
) -> None:
    ended = await cancelled_under_way(database, 0.3)
    await database.settled()
    assert ended.is_set()
    database.close()


async def test_an_error_reaches_the_caller_and_the_next_work_is_well(database: Database) -> None:
    def work() -> None:
        slept(database, 0.01)
        raise ValueError("from within")

    with pytest.raises(ValueError, match="from within"):
        await database.run(work)
    assert await database.run(slept, database, 0.01) == 7
    database.close()


@pytest.mark.fault("F56")
async def test_a_server_that_is_away_is_said_so_and_asked_anew() -> None:
    away = Database("postgresql://redshank@127.0.0.1:9/none")
    for _ in range(2):
        with pytest.raises(Unavailable):
            await away.run(away.ping)
    away.close()


async def test_waiting_outside_the_loop_blocks_its_own_thread_only(database: Database) -> None:
    both = await asyncio.gather(
        asyncio.to_thread(slept, database, 0.1), database.run(slept, database, 0.1)
    )
    assert both == [7, 7]
    database.close()
