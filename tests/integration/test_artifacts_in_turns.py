"""Previews, assets, outputs as turns of the engine make them: facts, references, refusals."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_node.tools.builtin import emit_output, open_preview, store_asset
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.artifact_events import AssetsStored, OutputEmitted, PreviewOpened
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.events import CallFinished, Preview
from redshank_shared.stores.assets import Assets, digest_of
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says

TOOLS = (open_preview.TOOL, store_asset.TOOL, emit_output.TOOL)


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path
    yield made
    await made.redis.aclose()


@pytest.mark.req("T-33", "K-14", "K-15")
async def test_what_is_kept_in_a_turn_is_handed_over_in_the_same_turn(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "levels.csv").write_text("a,b\n1,2\n")
    digest = digest_of(b"a,b\n1,2\n")
    steps = [
        says("", ("store_asset", '{"path": "levels.csv"}')),
        says(
            "",
            ("open_preview", json.dumps({"target": f"attachment:{digest}", "kind": "table"})),
            ("emit_output", json.dumps({"content": "Here.", "artifact_ids": [digest]})),
        ),
        says("done"),
    ]
    async with world.node(steps, TOOLS) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)

    facts = world.facts(workstream)
    handed = [
        type(fact)
        for fact in facts
        if isinstance(fact, AssetsStored | PreviewOpened | OutputEmitted)
    ]
    assert handed == [AssetsStored, PreviewOpened, OutputEmitted]
    assert not any(fact.is_error for fact in facts if isinstance(fact, CallFinished))
    kept = Assets(world.database).referred(digest, workstream)
    assert kept is not None
    assert kept.body == b"a,b\n1,2\n"


@pytest.mark.req("K-14")
async def test_an_empty_output_is_an_error_that_names_the_argument(world: World) -> None:
    async with world.node([says("", ("emit_output", "{}")), says("done")], TOOLS) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)

    facts = world.facts(workstream)
    (finished,) = [fact for fact in facts if isinstance(fact, CallFinished)]
    assert finished.is_error
    assert finished.output.startswith("content: it is empty")
    assert not any(isinstance(fact, OutputEmitted) for fact in facts)


async def test_a_database_that_does_not_answer_is_told_as_it_is(world: World) -> None:
    async def run(_: Prepared, __: CallContext) -> Result:
        raise Unavailable("the database does not answer; try again")

    def prepare(_: dict[str, object], __: Workspace) -> Prepared:
        return Prepared({}, Preview("keep"))

    schema = {"type": "object", "properties": {}}
    tool = Tool("keep", "Keep it.", schema, "state", prepare, run, "")
    async with world.node([says("", ("keep", "{}")), says("done")], (tool,)) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)

    (finished,) = [fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)]
    assert (finished.outcome, finished.output) == (
        "error",
        "the database does not answer; try again",
    )
