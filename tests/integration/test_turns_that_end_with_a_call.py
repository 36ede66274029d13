"""Where a profile says so, a turn ends with `respond` or `no-response`, with nothing else (C-9)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_node.engine.profiles_in_force import toolsets_of, workspace_of
from redshank_node.providers.provider import Answer
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import WebAccess
from redshank_shared.domain.artifact_events import OutputEmitted, TextPart
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.events import CallFinished, MessageAnswered, MessagePosted
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import Rest, plan
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says

pytestmark = pytest.mark.req("C-9")
RESPOND, SILENT = "respond", "no-response"


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path / "workspace"
    made.folder.mkdir()
    (made.folder / "birds.txt").write_text("redshank\n")
    (tmp_path / "config").mkdir()
    tools = "respond = true\nno-response = true\nread = true\n"
    (tmp_path / "config/tools.toml").write_text(tools)
    (tmp_path / "redshank.toml").write_text(f'[node]\nworkspace = "{made.folder}"\n')
    read = load(tmp_path / "redshank.toml", {})
    made.toolsets = toolsets_of(read, BUILTIN, workspace_of(read, WebAccess()))
    yield made
    await made.redis.aclose()


async def after(
    world: World, workstream: WorkstreamId, *answers: Answer
) -> tuple[list[object], int]:
    """The facts of the turn that is due now, and how many of these answers it did not need."""
    before = len(world.facts(workstream))
    async with world.node(list(answers), BUILTIN) as node:
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    facts: list[object] = list(world.facts(workstream)[before:])
    asked = sum(isinstance(fact, MessageAnswered) for fact in facts)
    return facts, len(answers) - asked


def reminders(facts: list[object]) -> list[str]:
    return [
        fact.text for fact in facts if isinstance(fact, MessagePosted) and fact.source == "engine"
    ]


def outputs(facts: list[object]) -> list[OutputEmitted]:
    return [fact for fact in facts if isinstance(fact, OutputEmitted)]


async def test_a_final_response_ends_the_turn_and_the_model_is_not_asked_again(
    world: World,
) -> None:
    workstream = await world.create("go", profile="cireilclaw")

    facts, unused = await after(
        world, workstream, says("", (RESPOND, '{"content": "Low tide."}')), says("never asked")
    )

    (output,) = outputs(facts)
    assert (output.parts, output.final) == ((TextPart("Low tide."),), True)
    assert (unused, reminders(facts)) == (1, [])
    assert isinstance(plan(world.state(workstream)), Rest)


async def test_a_response_that_is_not_final_lets_the_turn_go_on(world: World) -> None:
    workstream = await world.create("go", profile="cireilclaw")

    facts, unused = await after(
        world,
        workstream,
        says("", (RESPOND, '{"content": "Looking.", "final": false}')),
        says("", (RESPOND, '{"content": "Done."}')),
    )

    assert [output.final for output in outputs(facts)] == [False, True]
    assert unused == 0


async def test_no_response_ends_the_turn_without_a_word(world: World) -> None:
    workstream = await world.create("go", profile="cireilclaw")

    facts, unused = await after(world, workstream, says("", (SILENT, "{}")), says("never asked"))

    (output,) = outputs(facts)
    assert (output.parts, output.final, unused) == ((), True, 1)
    assert isinstance(plan(world.state(workstream)), Rest)


async def test_an_answer_in_words_alone_does_not_end_it_the_model_is_told_how(
    world: World,
) -> None:
    workstream = await world.create("go", profile="cireilclaw")

    facts, unused = await after(
        world, workstream, says("The tide is low."), says("", (RESPOND, '{"content": "Low."}'))
    )

    (told,) = reminders(facts)
    assert "respond" in told
    assert "no-response" in told
    assert unused == 0


async def test_a_model_that_does_not_listen_is_told_twice_then_the_turn_ends(
    world: World,
) -> None:
    workstream = await world.create("go", profile="cireilclaw")

    facts, unused = await after(world, workstream, *[says("words")] * 4)

    assert (len(reminders(facts)), unused) == (2, 1)
    assert isinstance(plan(world.state(workstream)), Rest)


async def test_what_a_person_says_behind_a_final_response_begins_the_next_turn(
    world: World,
) -> None:
    workstream = await world.create("go", profile="cireilclaw")
    answer = says("", (RESPOND, '{"content": "One."}'))
    await after(world, workstream, answer)

    await world.do(workstream, PostMessage("again", "ines"))
    facts, unused = await after(world, workstream, answer)

    assert (len(outputs(facts)), unused) == (1, 0)


async def test_the_tools_that_end_a_turn_are_never_off_for_having_failed(world: World) -> None:
    workstream = await world.create("go", profile="cireilclaw")
    wrong = says("", (RESPOND, '{"content": " "}'))

    facts, _ = await after(
        world, workstream, wrong, wrong, wrong, says("", (RESPOND, '{"content": "Right."}'))
    )

    results = [fact.outcome for fact in facts if isinstance(fact, CallFinished)]
    assert results == ["refused"] * 3 + ["ok"]


async def test_where_the_profile_does_not_say_so_an_answer_ends_the_turn(world: World) -> None:
    workstream = await world.create("go")

    facts, unused = await after(world, workstream, says("words"), says("never asked"))

    assert (reminders(facts), unused) == ([], 1)
