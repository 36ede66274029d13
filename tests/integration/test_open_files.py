"""Files that an agent keeps in sight: what each later question holds of them."""

import json
import pathlib
from collections.abc import AsyncIterator

import pytest

from redshank_node.tools.catalog import BUILTIN
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.events import CallFinished
from redshank_shared.domain.pin_events import FilePinned, FileUnpinned
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says

FILE_TOOLS = ("read_file", "open_file", "close_file", "read_sections", "write_file", "edit_file")
TOOLS = tuple(tool for tool in BUILTIN if tool.name in FILE_TOOLS)
LARGE = "".join(f"## Part {part}\n" + f"words of part {part}\n" * 200 for part in ("one", "two"))


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: pathlib.Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path
    yield made
    await made.redis.aclose()


def opens(path: str, **more: object) -> tuple[str, str]:
    return ("open_file", json.dumps({"path": path, **more}))


@pytest.mark.req("C-22")
async def test_an_open_file_stands_behind_every_later_question_as_it_is_then(
    world: World, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "plan.txt").write_text("first words\n")
    script = [says("", opens("plan.txt")), says("Seen."), says("Again.")]
    async with world.node(script, TOOLS) as node:
        workstream = await world.create("open it")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        (tmp_path / "plan.txt").write_text("other words\n")
        await world.do(workstream, PostMessage("and now?", "ines"))
        await node.turns.take_up(workstream)
        await world.until(lambda: len(node.model.requests) == 3, "a third question")
        await world.until_rest(workstream)
    pinned = [request.pinned for request in node.model.requests]
    assert pinned[0] == ""
    assert pinned[1].endswith("== plan.txt, 1 lines ==\nfirst words\n")
    assert pinned[2].endswith("== plan.txt, 1 lines ==\nother words\n")
    assert [f for f in world.facts(workstream) if isinstance(f, FilePinned)] == [
        FilePinned("plan.txt")
    ]


@pytest.mark.req("C-22")
async def test_pins_move_with_the_workstream_to_another_node(
    world: World, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "plan.txt").write_text("the plan\n")
    async with world.node([says("", opens("plan.txt")), says("Open.")], TOOLS, "marsh-1") as first:
        workstream = await world.create("open it")
        await first.turns.take_up(workstream)
        await world.until_rest(workstream)
    async with world.node([says("Still there.")], TOOLS, "marsh-2") as second:
        await world.do(workstream, PostMessage("and now?", "ines"))
        await second.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.until(lambda: len(second.model.requests) == 1, "a question of the second node")
    assert "the plan" in second.model.requests[0].pinned


@pytest.mark.req("C-24")
async def test_a_file_that_vanished_is_unpinned_and_the_model_told_once(
    world: World, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "plan.txt").write_text("the plan\n")
    script = [says("", opens("plan.txt")), says("Open."), says("Gone."), says("Yes.")]
    async with world.node(script, TOOLS) as node:
        workstream = await world.create("open it")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        (tmp_path / "plan.txt").unlink()
        for asked in (3, 4):
            await world.do(workstream, PostMessage("and now?", "ines"))
            await node.turns.take_up(workstream)
            await world.until(lambda n=asked: len(node.model.requests) == n, "a question")  # type: ignore[misc]  # bound early
            await world.until_rest(workstream)
    assert node.model.requests[2].pinned == "plan.txt is gone, so it is no longer open."
    assert node.model.requests[3].pinned == ""
    assert FileUnpinned("plan.txt", gone=True) in world.facts(workstream)


@pytest.mark.req("C-23", "C-24")
async def test_sections_come_into_sight_and_a_write_resets_them(
    world: World, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "big.md").write_text(LARGE)
    script = [
        says("", opens("big.md", sections=["part-one"])),
        says("", ("read_sections", '{"path":"big.md","sections":["part-two","part-one"]}')),
        says("", ("write_file", json.dumps({"path": "big.md", "content": LARGE + "\nmore"}))),
        says("Done."),
    ]
    async with world.node(script, TOOLS) as node:
        workstream = await world.create("look", mode="acceptEdits")
        await node.turns.take_up(workstream)
        state = await world.until_rest(workstream)
    results = [f.output for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert json.loads(results[0])["activeSections"] == ["part-one"]
    assert json.loads(results[1])["added"] == ["part-two"]
    first, second, last = (request.pinned for request in node.model.requests[1:])
    assert "words of part one" in first
    assert "words of part two" not in first
    assert "words of part two" in second
    assert "part-two  Part two (lines 202-404)" in last
    assert "words of part one" not in last
    assert state.pins.files["big.md"].sections == ()


@pytest.mark.req("C-24")
async def test_closing_takes_a_file_out_of_sight_and_a_second_time_is_no_error(
    world: World, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "plan.txt").write_text("the plan\n")
    close = ("close_file", '{"path":"./plan.txt"}')
    script = [says("", opens("plan.txt")), says("", close), says("", close), says("Done.")]
    async with world.node(script, TOOLS) as node:
        workstream = await world.create("look")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    results = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert [result.is_error for result in results] == [False, False, False]
    assert json.loads(results[1].output) == {"closed": True, "open": []}
    assert json.loads(results[2].output) == {"closed": False, "open": []}
    assert [bool(request.pinned) for request in node.model.requests] == [False, True, False, False]


async def test_a_file_too_many_is_refused_with_the_mend(
    world: World, tmp_path: pathlib.Path
) -> None:
    for number in range(33):
        (tmp_path / f"{number}.txt").write_text("x")
    script = [says("", *(opens(f"{number}.txt") for number in range(33))), says("Done.")]
    async with world.node(script, TOOLS) as node:
        workstream = await world.create("open all")
        await node.turns.take_up(workstream)
        state = await world.until_rest(workstream)
    results = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert len(state.pins.files) == 32
    assert results[-1].is_error
    assert "close one of them first" in results[-1].output
