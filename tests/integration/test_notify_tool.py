"""A model tells a person outside: what it asked for lies in the outbox, five times a turn."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from redshank_node.tools.catalog import BUILTIN
from redshank_shared.domain.due_events import NotificationRequested
from redshank_shared.domain.events import CallDecided, CallFinished
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


def notify(**arguments: str) -> tuple[str, str]:
    return ("notify", msgspec.json.encode(arguments).decode())


@pytest.mark.req("T-43", "T-28")
async def test_the_sixth_notification_of_a_turn_is_refused_while_nobody_was_asked(
    world: World,
) -> None:
    both = notify(message="0", username="ines", channel_type="discord", channel_id="4")
    told = [notify(message=str(number), username="ines") for number in range(1, 7)]
    async with world.node([says("now", both, *told), says("done")], BUILTIN) as node:
        workstream = await world.create("tell ines")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    facts = world.facts(workstream)
    requested = [fact for fact in facts if isinstance(fact, NotificationRequested)]
    assert [fact.message for fact in requested] == ["1", "2", "3", "4", "5"]
    assert {fact.decision for fact in facts if isinstance(fact, CallDecided)} == {"allow"}
    refused = [fact.output for fact in facts if isinstance(fact, CallFinished) and fact.is_error]
    assert len(refused) == 2
    assert refused[0].startswith("username goes without channel_type and channel_id")
    assert refused[1].startswith("5 notifications were sent in this turn already")
