"""Turns and the ledger: outside effects are recorded as they end, on whichever node."""

from collections.abc import AsyncIterator

import pytest

from redshank_shared.domain.events import CallInterrupted
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.ledger.lines import Line, Whole
from redshank_shared.ledger.record import EffectRecord, parsed
from redshank_shared.ledger.verifying import Report, verify
from redshank_shared.stores.database import Database
from redshank_shared.stores.ledger import Ledger
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, now, says


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    key = made.ledger_key
    Ledger(database).register(key.key_id, key.public_key, now())
    yield made
    await made.redis.aclose()


def kept(world: World, workstream: WorkstreamId) -> list[EffectRecord]:
    found = [parsed(each.record) for each in Ledger(world.database).page(workstream).items]
    return [record for record in found if record is not None]


def checked(world: World, workstream: WorkstreamId) -> Report:
    book = Ledger(world.database)
    lines: list[Line] = [*book.known_keys(), *book.lines(workstream)]
    return verify([*lines, Whole(len(lines))])


@pytest.mark.req("K-1", "K-7")
async def test_a_turn_records_what_it_did_outside_and_nothing_else(world: World) -> None:
    probe = Probe()
    steps = [
        says(
            "", ("look", '{"text":"a"}'), ("bash", '{"text":"b"}'), ("write_file", '{"text":"c"}')
        ),
        says("", ("bash", '{"text":"d"}')),
        says("done"),
    ]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    records = kept(world, workstream)
    assert [(r.position, r.tool, r.effect, r.outcome, r.node) for r in records] == [
        (1, "bash", "process", "ok", "marsh-1"),
        (2, "bash", "process", "ok", "marsh-1"),
    ]
    log = {recorded.seq: recorded.fact for recorded in world.recorded(workstream)}
    for record in records:
        assert getattr(log[record.started_seq], "call_id", "") == record.call_id
        assert getattr(log[record.finished_seq], "call_id", "") == record.call_id
    assert checked(world, workstream).is_whole


@pytest.mark.req("K-7", "B-8")
@pytest.mark.fault("F24")
async def test_an_effect_whose_node_died_is_recorded_by_the_next_which_goes_on_with_the_chain(
    world: World,
) -> None:
    probe = Probe()
    steps = [says("", ("bash", '{"text":"a"}')), says("", ("hold", '{"text":"x"}'))]
    async with world.node(steps, probe.tools()) as first:
        workstream = await world.create("go", mode="bypassPermissions")
        await first.turns.take_up(workstream)
        await world.until(lambda: "hold x" in probe.ran, "the second effect is under way")
    assert len(kept(world, workstream)) == 1
    world.expire(workstream)
    steps = [says("I look first", ("bash", '{"text":"c"}')), says("done")]
    async with world.node(steps, probe.tools(), name="marsh-2") as second:
        await second.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert any(isinstance(fact, CallInterrupted) for fact in world.facts(workstream))
    assert [(r.position, r.tool, r.node, r.outcome) for r in kept(world, workstream)] == [
        (1, "bash", "marsh-1", "ok"),
        (2, "hold", "marsh-1", "unknown"),
        (3, "bash", "marsh-2", "ok"),
    ]
    assert checked(world, workstream).is_whole
