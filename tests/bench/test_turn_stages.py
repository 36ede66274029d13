"""Where the time of one turn goes: message, claim, model, decision, tool, answer, rest."""

import statistics
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter

import msgspec
import pytest

from redshank_node.providers.openai import OpenAI
from redshank_node.providers.provider import ModelSettings
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import Workspace
from redshank_shared.domain.commands import PostMessage
from redshank_shared.stores.database import Database
from tests.bench.stopwatch import Stopwatch
from tests.fakes.model_server import ModelServer, Reply
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World

TURNS = 200


def stream(*chunks: dict[str, object]) -> Reply:
    body = b"".join(b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks)
    return Reply([body + b"data: [DONE]\n\n"], end="keep")


def chunk(delta: dict[str, object], finish: str | None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


USAGE: dict[str, object] = {
    "choices": [],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10},
}
CALL: dict[str, object] = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path":"sample.txt"}'},
}


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def test_stages_of_a_turn_with_one_tool_call(world: World, tmp_path: Path) -> None:
    """Prints the profile; asserts only that the turns did what is measured."""
    (tmp_path / "sample.txt").write_text("hello from a file\n")
    asks = stream(chunk({"tool_calls": [CALL]}, None), chunk({}, "tool_calls"), USAGE)
    ends = stream(chunk({"content": "ok"}, None), chunk({}, "stop"), USAGE)
    server = ModelServer(*[reply for _ in range(TURNS) for reply in (asks, ends)])
    await server.start()
    model = OpenAI(ModelSettings("main", "openai", "fake", f"{server.url}/v1"))
    watch = Stopwatch()
    async with world.node([], BUILTIN) as node:
        node._models._providers["main"] = model
        pipeline = node._pipeline
        pipeline.workspace = Workspace(tmp_path)
        watch.watch(world.commands, "execute", "message: load, decide, append, nudge, tell")
        watch.watch(node.turns, "_take_up", "claim, load, fold")
        watch.watch(world.log, "append", "  of all: appends (commits)")
        watch.watch(pipeline, "ready", "resolve, validate, prepare")
        watch.watch(pipeline, "decisions", "rules, mode")
        watch.watch(world.bus, "publish_events", "  of all: telling watchers")
        whole = []
        workstream = await world.create("hello")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        watch.seconds.clear()
        for _ in range(TURNS - 1):
            begin = perf_counter()
            await world.do(workstream, PostMessage("again", "ines"))
            await node.turns.take_up(workstream)
            held = node.turns._in_hand.get(workstream)
            if held is not None:
                await held.task
            whole.append(perf_counter() - begin)
        state = world.state(workstream)
    await model.close()
    await server.stop()
    assert state.call_count == TURNS
    assert state.shown is not None
    assert state.shown.state == "idle"
    brand = world.database.dialect.name
    lines = [f"\n{brand}: one turn, message to rest, p50 {statistics.median(whole) * 1000:.2f} ms"]
    sys.stdout.write("\n".join([*lines, *watch.table(TURNS - 1)]) + "\n")
