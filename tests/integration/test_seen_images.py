"""An image that a tool read, on its way to the model: asset, fact, request."""

import base64
import json
import pathlib
import struct
import zlib
from collections.abc import AsyncIterator

import msgspec
import pytest

from redshank_node.providers.choose import make
from redshank_node.tools.builtin.read_file import TOOL
from redshank_shared.domain.events import CallFinished
from redshank_shared.domain.images import KeptImage
from redshank_shared.stores.assets import Assets, digest_of
from redshank_shared.stores.database import Database
from tests.contract.provider_asking import settings
from tests.fakes.model_server import Reply, chunk, events, model_server, named
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World


def png(width: int, height: int) -> bytes:
    """A black image."""

    def part(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(width)) * height)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", rows) + part(b"IEND", b"")


IMAGE = png(4, 3)
READ = '{"path":"a.png"}'
SAID = f"[a.png is a PNG image of {len(IMAGE)} bytes, 4 x 3 pixels]"
REPLIES = {
    "openai": (
        events(
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "c1",
                            "function": {"name": "read_file", "arguments": READ},
                        }
                    ]
                },
                "tool_calls",
            ),
            "[DONE]",
        ),
        events(chunk({"content": "ok"}, "stop"), "[DONE]"),
    ),
    "anthropic": (
        named(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {
                    "type": "tool_use",
                    "id": "c1",
                    "name": "read_file",
                    "input": {"path": "a.png"},
                },
            },
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ),
        named(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": "ok"},
            },
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ),
    ),
}


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: pathlib.Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path
    (tmp_path / "a.png").write_bytes(IMAGE)
    yield made
    await made.redis.aclose()


@pytest.mark.req("T-22", "T-23")
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("sees", [True, False], ids=["sees", "blind"])
async def test_an_image_reaches_a_model_that_sees_and_is_described_to_one_that_does_not(
    world: World, wire: str, sees: bool
) -> None:
    async with model_server(*(Reply(parts, end="keep") for parts in REPLIES[wire])) as server:
        provider = make(msgspec.structs.replace(settings(server, wire), supports_vision=sees))
        world.provider = provider
        async with world.node([], (TOOL,)) as node:
            workstream = await world.create("look at a.png")
            await node.turns.take_up(workstream)
            state = await world.until_rest(workstream)
        await provider.close()
        asked = json.dumps(server.requests[1].body)
    assert state.failed is None
    finished = [fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)]
    digest = digest_of(IMAGE)
    assert finished[0].output == SAID
    assert finished[0].images == (KeptImage(digest, "image/png", len(IMAGE)),)
    kept = Assets(world.database).get(digest)
    assert kept is not None
    assert (kept.media_type, kept.body) == ("image/png", IMAGE)
    assert SAID in asked
    assert (base64.b64encode(IMAGE).decode() in asked) == sees
