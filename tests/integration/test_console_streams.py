"""Event streams: whole, in order, once; through gaps, slowness, a Redis that goes away."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_console.bootstrap import Console
from redshank_console.services.event_feed import EventFeed
from redshank_shared.clock import monotonic
from redshank_shared.domain.events import MessageAnswered, TokensUsed, TurnStarted
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue.live import LiveDelta
from redshank_shared.settings.sections import Settings
from tests.bench.figures import figure
from tests.fakes.valkey import Valkey
from tests.integration.console_world import (
    DEADLINE_SECONDS,
    TOKEN,
    NodeSide,
    RunningConsole,
    Stream,
    running,
    settings_for,
    watching,
)

pytest_plugins = ("tests.integration.console_fixtures",)


async def one_turn(world: RunningConsole) -> WorkstreamId:
    """A workstream with a finished turn."""
    ws = await world.create(message="hi")
    node = NodeSide(world, ws)
    node.claim()
    await node.tell(TurnStarted("nd_1", 1))
    await node.tell(TokensUsed("demo", 3, 4))
    await node.answer("hello")
    return ws


def seqs(frames: list[bytes]) -> list[int]:
    """The numbers of the durable events in a feed's bytes."""
    lines = b"".join(frames).split(b"\n")
    return [int(line[4:]) for line in lines if line.startswith(b"id: ")]


@pytest.mark.fault("F38")
async def test_a_stream_resumed_anywhere_gives_the_same_events(both: RunningConsole) -> None:
    ws = await one_turn(both)
    whole = await both.events(ws)
    last = len(whole)
    for position in range(last + 1):
        by_query = watching(both, ws, after=position)
        by_header = watching(both, ws, **{"Last-Event-ID": str(position)})
        for opening in (by_query, by_header):
            async with opening as stream:
                await both.client.post(f"/v1/workstreams/{ws}/mode", json={"mode": "plan"})
                await both.client.post(f"/v1/workstreams/{ws}/mode", json={"mode": "default"})
                got = [await stream.next() for _ in range(last + 2 - position)]
        grown = await both.events(ws)
        assert [frame.data for frame in got] == grown[position : last + 2]
        assert [(frame.id, frame.event) for frame in got] == [
            (event["seq"], event["kind"]) for event in grown[position : last + 2]
        ]


async def test_events_arrive_as_they_happen(both: RunningConsole) -> None:
    ws = await both.create()
    async with watching(both, ws, after=2) as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        await both.client.post(f"/v1/workstreams/{ws}/messages", json={"text": "hi"})
        node = NodeSide(both, ws)
        node.claim()
        await node.bus.publish_notice(ws, b'{"kind":"turn","node":"east","epoch":1}')
        await node.answer("hello")
        frames = await stream.until("state", seq=node.state.version)
    durable = [frame.data for frame in frames if frame.id is not None]
    assert durable == (await both.events(ws))[2:]
    (notice,) = [frame for frame in frames if frame.id is None]
    assert (notice.event, notice.data["node"]) == ("turn", "east")


@pytest.mark.fault("F54")
async def test_what_was_not_announced_is_read_from_the_log(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    node = NodeSide(both, ws)
    node.claim()
    async with watching(both, ws, after=0) as stream:
        await stream.until("state")
        node.append(TurnStarted("nd_1", 1))
        node.append(TokensUsed("demo", 1, 1))
        await node.answer("hello")
        frames = await stream.until("state", seq=node.state.version)
    assert [frame.data for frame in frames] == (await both.events(ws))[3:]


async def test_one_who_comes_late_sees_the_text_so_far_once(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    node = NodeSide(both, ws)
    node.claim()
    step = node.state.version

    async def say(offset: int, text: str) -> None:
        await node.bus.publish_delta(ws, LiveDelta("text", "", step, offset, text))

    await say(0, "Hel")
    await say(3, "lo, ")
    async with watching(both, ws, after=step) as stream:
        first = await stream.next()
        await say(7, "reed")
        second = await stream.next()
        await node.answer("Hello, reed")
        rest = await stream.until("state")
    assert (first.event, first.data) == (
        "delta",
        {
            "kind": "delta",
            "channel": "text",
            "call_id": "",
            "step": step,
            "offset": 0,
            "text": "Hello, ",
        },
    )
    assert (second.data["offset"], second.data["text"]) == (7, "reed")
    assert [frame.event for frame in rest] == ["message.assistant", "state"]
    async with watching(both, ws, after=step) as stream:
        assert [(await stream.next()).event for _ in range(2)] == ["message.assistant", "state"]


@pytest.mark.parametrize(
    ("params", "headers", "field"),
    [
        ({"after": "-1"}, {}, "after"),
        ({"after": "3"}, {}, "after"),
        ({"after": "9" * 40}, {}, "after"),
        ({"after": "abc"}, {}, "after"),
        ({"cursor": "-1"}, {}, "cursor"),
        ({"cursor": "1e3"}, {}, "cursor"),
        ({"limit": "0"}, {}, "limit"),
        ({"limit": "-5"}, {}, "limit"),
        ({}, {"Last-Event-ID": "-1"}, "Last-Event-ID"),
        ({}, {"Last-Event-ID": "3"}, "Last-Event-ID"),
        ({}, {"Last-Event-ID": "9" * 5000}, "Last-Event-ID"),
        ({}, {"Last-Event-ID": "²"}, "Last-Event-ID"),
    ],
)
async def test_what_is_no_place_in_the_log_or_no_page_is_refused_by_name(
    standing: RunningConsole, params: dict[str, str], headers: dict[str, str], field: str
) -> None:
    ws = await standing.create()
    path = f"/v1/workstreams/{ws}/events"
    forms = [{"Accept": "text/event-stream"}] + ([{}] if params else [])
    for form in forms:
        raw = {name: value.encode("latin-1") for name, value in {**form, **headers}.items()}
        answer = await standing.client.get(path, params=params, headers=raw)
        assert (answer.status_code, answer.json()["field"]) == (422, field)


@contextlib.asynccontextmanager
async def feed_of(
    settings: Settings, ws: WorkstreamId, after: int = 0
) -> AsyncIterator[tuple[Console, EventFeed]]:
    """A feed without HTTP around it, so that the test decides when it is read."""
    console = Console(settings)
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(console.watchers.run())
        feed = await console.parts.feeds.open(ws, after, "after")
        try:
            yield console, feed
        finally:
            await feed.close()
            listening.cancel()
    await console.close()


@pytest.mark.fault("F60")
async def test_a_watcher_that_is_too_slow_loses_no_event(
    console: RunningConsole, console_settings: Settings
) -> None:
    ws = await console.create(message="hi")
    node = NodeSide(console, ws)
    node.claim()
    async with feed_of(console_settings, ws) as (_, feed):
        frames: list[bytes] = []
        async with contextlib.aclosing(feed.frames()) as chunks:
            frames.append(await anext(chunks))
            for _ in range(700):
                await node.tell(TokensUsed("demo", 1, 1))
            async with asyncio.timeout(DEADLINE_SECONDS):
                while not seqs(frames) or seqs(frames)[-1] < node.state.version:
                    frames.append(await anext(chunks))
    assert seqs(frames) == list(range(1, node.state.version + 1))


async def test_a_log_of_several_pages_is_told_whole(console: RunningConsole) -> None:
    ws = await console.create(message="hi")
    node = NodeSide(console, ws)
    node.claim()
    node.append(*(TokensUsed("demo", 1, 1) for _ in range(1200)))
    async with watching(console, ws) as stream:
        frames = [await stream.next() for _ in range(node.state.version)]
    assert [frame.id for frame in frames] == list(range(1, node.state.version + 1))
    export = await console.client.get(f"/v1/workstreams/{ws}/export")
    assert len(export.text.splitlines()) == node.state.version


async def test_a_watcher_who_leaves_is_forgotten(console: RunningConsole) -> None:
    ws = await console.create()

    async def streams() -> str:
        lines = (await console.client.get("/metrics")).text.splitlines()
        (line,) = [line for line in lines if line.startswith("redshank_streams ")]
        return line.split()[1]

    async with watching(console, ws) as stream:
        await stream.next()
        assert await streams() == "1.0"
    async with asyncio.timeout(DEADLINE_SECONDS):
        while await streams() != "0.0":
            await asyncio.sleep(0.02)


async def idle_stream(
    port: int, ws: WorkstreamId
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A stream over a bare connection, read up to its first event."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET /v1/workstreams/{ws}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Accept: text/event-stream\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    )
    await reader.readuntil(b"event: workstream.created")
    return reader, writer


@pytest.mark.fault("F31")
async def test_a_thousand_idle_streams_hold_up_no_new_one(console: RunningConsole) -> None:
    ws = [await console.create() for _ in range(10)]
    port = console.settings.console.port
    held = []
    try:
        for _ in range(20):
            opening = (idle_stream(port, ws[n % 10]) for n in range(50))
            held.extend(await asyncio.gather(*opening))
        begun = monotonic()
        held.append(await idle_stream(port, ws[0]))
        figure("a stream opened beside a thousand", monotonic() - begun, 1, "s")
        assert len(held) == 1001
        async with asyncio.timeout(DEADLINE_SECONDS):
            await console.client.post(f"/v1/workstreams/{ws[0]}/mode", json={"mode": "plan"})
            for reader, _ in held[::10]:
                await reader.readuntil(b"event: mode.changed")
    finally:
        for _, writer in held:
            writer.close()


@pytest.mark.fault("F54")
async def test_a_stream_goes_on_from_the_log_while_redis_is_away(
    tmp_path: Path, sqlite_url: str, own_valkey: Valkey
) -> None:
    async with running(settings_for(tmp_path, sqlite_url, own_valkey.url)) as world:
        ws = await world.create()
        async with watching(world, ws, after=2) as stream:
            own_valkey.kill()
            posted = await world.client.post(
                f"/v1/workstreams/{ws}/messages", json={"text": "still here"}
            )
            assert posted.status_code == 202
            without_redis = await stream.until("state")
            health = await world.client.get("/health")
            assert (health.status_code, health.json()["database"]) == (503, "ok")
            assert "Redis does not answer" in health.json()["redis"]
            own_valkey.start()
            await world.client.post(f"/v1/workstreams/{ws}/mode", json={"mode": "plan"})
            with_redis = await stream.until("mode.changed")
    numbered = [f.id for f in without_redis + with_redis if f.id is not None]
    assert numbered == [3, 4, 5]


async def test_stopping_ends_the_streams_at_once(
    console_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long would the console wait for a stream that does not end by itself.
    monkeypatch.setattr("redshank_console.bootstrap._GRACE_SECONDS", 60)
    async with contextlib.AsyncExitStack() as stack:
        world = await stack.enter_async_context(running(console_settings))
        ws = await world.create()
        watcher = await stack.enter_async_context(watching_from_outside(world, ws))
        await watcher.next()
        await watcher.next()
        async with asyncio.timeout(DEADLINE_SECONDS):
            ending = asyncio.to_thread(world.thread.end)
            (_, ended) = await asyncio.gather(ending, until_ended(watcher))
        assert ended


@contextlib.asynccontextmanager
async def watching_from_outside(world: RunningConsole, ws: WorkstreamId) -> AsyncIterator[Stream]:
    """A watcher with a connection of its own."""
    async with (
        world.new_client({"Authorization": f"Bearer {TOKEN}"}) as client,
        client.stream(
            "GET", f"/v1/workstreams/{ws}/events", headers={"Accept": "text/event-stream"}
        ) as response,
    ):
        yield Stream(response)


async def until_ended(stream: Stream) -> bool:
    with contextlib.suppress(EOFError):
        while True:
            await stream.next()
    return True


async def test_an_answer_after_the_end_of_a_feed_is_not_awaited(
    console: RunningConsole, console_settings: Settings
) -> None:
    ws = await console.create(message="hi")
    node = NodeSide(console, ws)
    node.claim()
    async with (
        feed_of(console_settings, ws) as (ours, feed),
        contextlib.aclosing(feed.frames()) as chunks,
    ):
        await anext(chunks)
        ours.parts.feeds.close()
        await node.tell(MessageAnswered(read=3, text="late"))
        assert [chunk async for chunk in chunks] == []
