"""A tool's own question to the model: answered beside the conversation, counted like any other."""

from collections.abc import AsyncIterator

import pytest

from redshank_node.providers.provider import Answer, ModelFailed
from redshank_node.tools.builtin import web_fetch
from redshank_shared.domain.events import CallFinished, TokensUsed
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.fakes.web_world import web_world
from tests.integration.engine_world import World, says

ASKED = ("web_fetch", '{"url": "http://www.example.com/", "question": "Where does it nest?"}')


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def ran(world: World, *steps: Answer | ModelFailed) -> tuple[WorkstreamId, list[str]]:
    """A workstream that has come to rest, and what stood first in each request to its model."""
    async with web_world() as web:
        workstream = await world.create("find out", mode="bypassPermissions")
        async with world.node(steps, (web_fetch.tool(web.network),)) as node:
            await node.turns.take_up(workstream)
            await world.until_rest(workstream)
            return workstream, [request.system for request in node.model.requests]


def outputs(world: World, workstream: WorkstreamId) -> list[str]:
    return [fact.output for fact in world.facts(workstream) if isinstance(fact, CallFinished)]


@pytest.mark.req("T-30")
@pytest.mark.fault("F47")
async def test_what_a_question_used_is_recorded_with_the_rest(world: World) -> None:
    answer = Answer("In wet grassland.", "stop", input_tokens=300, output_tokens=9, cached_tokens=2)
    workstream, systems = await ran(world, says("", ASKED), answer, says("It nests there."))

    used = [fact for fact in world.facts(workstream) if isinstance(fact, TokensUsed)]
    assert [(one.model, one.input_tokens, one.output_tokens) for one in used] == [
        ("main", 11, 7),
        ("main", 300, 9),
        ("main", 11, 7),
    ]
    assert "In wet grassland." in outputs(world, workstream)[0]
    assert "from one web page" in systems[1]
    assert world.state(workstream).input_tokens == 322


@pytest.mark.req("T-30")
async def test_a_model_that_does_not_answer_leaves_the_page(world: World) -> None:
    failed = ModelFailed("the model is overloaded", code="model_overloaded", retry=False)
    workstream, _ = await ran(world, says("", ASKED), failed, says("I read it myself."))

    assert outputs(world, workstream)[0].startswith("[not answered: the model is overloaded;")
    assert "wet grassland" in outputs(world, workstream)[0]
