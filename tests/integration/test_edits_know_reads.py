"""What a workstream read is in its log: an edit may build on it on whatever node it runs."""

import json
import pathlib
from collections.abc import AsyncIterator

import pytest

from redshank_node.tools.builtin import read_file
from redshank_node.tools.tool import Tool
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.events import CallFinished
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.stores.database import Database
from tests.contract.edit_cases import Session
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says

READ = ("read_file", json.dumps({"path": "a.txt"}))


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: pathlib.Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path
    (tmp_path / "a.txt").write_text("a = 1\n")
    yield made
    await made.redis.aclose()


def tools(world: World, profile: str) -> tuple[Tool, ...]:
    """Editing as the profile has it: turnstone not without a read before."""
    name = "edit" if profile == "cireilclaw" else "edit_file"
    return (read_file.TOOL, Session(world.folder, profile).tool(name))


def edit(old: str, new: str) -> tuple[str, str]:
    return "edit_file", json.dumps({"path": "a.txt", "old_string": old, "new_string": new})


async def turn(
    world: World,
    node: str,
    workstream: WorkstreamId | None,
    *calls: tuple[str, str],
    profile: str = "turnstone",
) -> tuple[WorkstreamId, list[str]]:
    """A turn on a node of this name, one call an answer; the results of all turns."""
    steps = [*(says("", call) for call in calls), says("done")]
    async with world.node(steps, tools(world, profile), node) as running:
        if workstream is None:
            workstream = await world.create("go", mode="bypassPermissions")
        else:
            await world.do(workstream, PostMessage("go on", "ines"))
        await running.turns.take_up(workstream)
        await world.until(
            lambda: world.state(workstream).shown is not None and not world.state(workstream).owes,
            "rest",
        )
        await world.until_rest(workstream)
    results = [fact.output for fact in world.facts(workstream) if isinstance(fact, CallFinished)]
    return workstream, results


@pytest.mark.req("T-25")
async def test_a_read_on_one_node_lets_another_node_edit(world: World) -> None:
    workstream, results = await turn(world, "marsh-1", None, edit("a = 1", "a = 2"), READ)
    assert "was not read yet in this workstream" in results[0]

    _, results = await turn(
        world, "marsh-2", workstream, edit("a = 1", "a = 2"), edit("a = 2", "a = 3")
    )
    assert results[2:] == ["a.txt edited at line 1: 1 line(s) added, 1 removed"] * 2
    assert (world.folder / "a.txt").read_text() == "a = 3\n"


@pytest.mark.fault("F33")
async def test_what_changed_since_the_read_is_refused_on_another_node(world: World) -> None:
    workstream, _ = await turn(world, "marsh-1", None, READ)
    (world.folder / "a.txt").write_text("a = 1\nof somebody else\n")

    _, results = await turn(world, "marsh-2", workstream, edit("a = 1", "a = 2"))

    assert "changed on disk since it was last read here; read it again" in results[1]
    assert (world.folder / "a.txt").read_text() == "a = 1\nof somebody else\n"


@pytest.mark.req("C-36")
async def test_a_dry_run_of_one_turn_is_applied_in_the_next(world: World) -> None:
    edits = [{"oldText": "a = 1", "newText": "a = 2"}]
    dry = "edit", json.dumps({"path": "a.txt", "edits": edits, "dryRun": True})
    workstream, results = await turn(world, "marsh-1", None, dry, profile="cireilclaw")
    apply_id = json.loads(results[0])["applyId"]
    assert (world.folder / "a.txt").read_text() == "a = 1\n"

    again = "edit", json.dumps({"path": "a.txt", "apply": apply_id})
    _, results = await turn(world, "marsh-1", workstream, again, again, profile="cireilclaw")
    assert json.loads(results[1])["patch"] == json.loads(results[0])["patch"]
    assert f"there is no dry run {apply_id}" in results[2]
    assert (world.folder / "a.txt").read_text() == "a = 2\n"
