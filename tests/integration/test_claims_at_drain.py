"""A claim that the database answers only when its node is already leaving."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import update

from redshank_shared.stores.database import Database
from redshank_shared.stores.migrations.schema import migrate
from redshank_shared.stores.tables import workstreams
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, says


@pytest.fixture
async def world(postgres_url: str, valkey: Valkey) -> AsyncIterator[World]:
    """Over PostgreSQL: SQLite answers before anything else can happen."""
    database = Database(postgres_url)
    migrate(database)
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()
    await database.settled()
    database.close()


@pytest.mark.fault("F27")
async def test_what_a_node_claims_while_its_drain_begins_is_handed_over_at_once(
    world: World,
) -> None:
    async with world.node([says("never asked")], Probe().tools()) as first:
        workstream = await world.create("go")
        mine = workstreams.c.id == workstream
        async with asyncio.TaskGroup() as group:
            with world.database.begin() as connection:
                connection.execute(update(workstreams).where(mine).values(name="locked"))
                claim = group.create_task(first.turns.take_up(workstream))
                await asyncio.sleep(0)
                await first.turns.drain(5)
                assert not claim.done()
        assert first.turns.busy == 0
    async with world.node([says("done")], Probe().tools(), name="marsh-2") as second:
        await second.turns.take_up(workstream)
        assert second.turns.busy == 1
        await world.until_rest(workstream)
    assert first.model.requests == []
