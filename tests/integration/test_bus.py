"""Live events through a real Valkey."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
import redis.asyncio

from redshank_shared.clock import monotonic
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys
from redshank_shared.queue.appended_feed import RESYNC, AppendedFeed
from redshank_shared.queue.bus import Appended, Bus
from redshank_shared.queue.connection import connect
from redshank_shared.queue.live import (
    LiveDelta,
    LiveEvents,
    LiveItem,
    LiveNotice,
    LiveText,
    ShownText,
)
from redshank_shared.queue.watchers import GAP, MOST_ITEMS, Gap, Watcher, Watchers
from tests.bench.figures import figure
from tests.fakes.stalling_proxy import StallingProxy
from tests.fakes.valkey import Valkey

WS = WorkstreamId("ws_0000000000000000000000")
OTHER = WorkstreamId("ws_0000000000000000000001")
SECONDS = 30.0


def delta(text: str, offset: int = 0, call_id: str = "", step: int = 1) -> LiveDelta:
    channel = "output" if call_id else "text"
    return LiveDelta(channel, call_id, step, offset, text)  # type: ignore[arg-type] # one of its literals


async def soon(watcher: Watcher) -> LiveItem | Gap:
    async with asyncio.timeout(SECONDS):
        return await watcher.next()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def running(watchers: Watchers) -> AsyncIterator[Watchers]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watchers.run())
        await until(lambda: watchers.connected)
        yield watchers
        task.cancel()


@pytest.fixture
async def bus(redis_client: redis.asyncio.Redis) -> Bus:
    return Bus(redis_client)


@pytest.fixture
async def watchers(valkey: Valkey) -> AsyncIterator[Watchers]:
    async with running(Watchers(valkey.url)) as started:
        yield started


async def test_every_watcher_gets_the_publishers_bytes_with_their_numbers(
    bus: Bus, watchers: Watchers
) -> None:
    async with watchers.watch(WS) as first, watchers.watch(WS) as second:
        await bus.publish_events(WS, 7, [b'{"seq":6}', b'{"seq":7,"text":"\xc3\xa4\\n"}'], by="n1")
        got = await soon(first)
        assert got == LiveEvents(7, (b'{"seq":6}', b'{"seq":7,"text":"\xc3\xa4\\n"}'))
        assert isinstance(got, LiveEvents)
        assert got.first_seq == 6
        assert await soon(second) is got


async def test_a_watcher_hears_its_own_workstream_only(bus: Bus, watchers: Watchers) -> None:
    async with watchers.watch(WS) as watcher, watchers.watch(OTHER):
        await bus.publish_notice(OTHER, b"theirs")
        await bus.publish_notice(WS, b"ours")
        assert await soon(watcher) == LiveNotice(b"ours")


async def test_what_is_published_right_after_watching_began_is_heard(
    bus: Bus, watchers: Watchers
) -> None:
    for number in range(50):
        ws = WorkstreamId(f"ws_{number:022d}")
        async with watchers.watch(ws) as watcher:
            await bus.publish_notice(ws, b"at once")
            assert await soon(watcher) == LiveNotice(b"at once")


async def test_coming_and_going_at_the_same_moment_leaves_nobody_deaf(
    bus: Bus, watchers: Watchers
) -> None:
    async def come_and_go() -> None:
        for _ in range(20):
            async with watchers.watch(WS):
                await asyncio.sleep(0)

    async def hear() -> None:
        for _ in range(20):
            async with watchers.watch(WS) as watcher:
                await bus.publish_notice(WS, b"x")
                assert await soon(watcher) == LiveNotice(b"x")

    await asyncio.gather(come_and_go(), hear(), come_and_go())


async def test_a_channel_ends_with_its_last_watcher(
    watchers: Watchers, redis_client: redis.asyncio.Redis
) -> None:
    async with watchers.watch(WS):
        async with watchers.watch(WS):
            pass
        assert await redis_client.pubsub_numsub(keys.live(WS)) == [(keys.live(WS).encode(), 1)]
    async with asyncio.timeout(SECONDS):
        while (await redis_client.pubsub_numsub(keys.live(WS)))[0][1] != 0:
            await asyncio.sleep(0.01)


async def test_who_comes_late_reads_the_text_so_far_and_nothing_twice(
    bus: Bus, watchers: Watchers
) -> None:
    await bus.publish_delta(WS, delta("Hel"))
    await bus.publish_delta(WS, delta("out", call_id="call_1"))
    await bus.publish_delta(WS, delta("lo, ", offset=3))
    async with watchers.watch(WS) as watcher:
        await bus.publish_delta(WS, delta("wor", offset=7))
        so_far = await bus.partial(WS)
        assert so_far == [delta("Hello, wor"), delta("out", call_id="call_1")]
        await bus.publish_delta(WS, delta("ld", offset=10))
        shown = ShownText()
        text = "".join(piece.text for piece in so_far if shown.fresh(piece) and not piece.call_id)
        for _ in range(2):
            item = await soon(watcher)
            assert isinstance(item, LiveText)
            fresh = shown.fresh(item.delta)
            text += fresh.text if fresh else ""
        assert text == "Hello, world"


async def test_the_text_so_far_goes_when_a_node_appends_and_stays_when_a_person_does(
    bus: Bus, redis_client: redis.asyncio.Redis
) -> None:
    await bus.publish_delta(WS, delta("Hel"))
    assert 0 < await redis_client.ttl(keys.partial(WS)) <= 600
    await bus.publish_events(WS, 2, [b"{}"], by="")
    assert await bus.partial(WS) == [delta("Hel")]
    await bus.publish_events(WS, 3, [b"{}"], by="n1")
    assert await bus.partial(WS) == []


@pytest.mark.fault("F60")
async def test_a_slow_watcher_gets_one_gap_and_the_others_everything(
    bus: Bus, watchers: Watchers
) -> None:
    async with watchers.watch(WS) as slow, watchers.watch(WS) as quick:
        for number in range(MOST_ITEMS + 1):
            await bus.publish_events(WS, number, [b"{}"], by="n1")
            got = await soon(quick)
            assert isinstance(got, LiveEvents)
            assert got.version == number
        assert len(slow) == 1
        assert await soon(slow) == GAP
        await bus.publish_notice(WS, b"after")
        assert await soon(slow) == LiveNotice(b"after")


@pytest.mark.fault("F60")
async def test_what_waits_for_a_slow_watcher_is_bounded_in_bytes(
    bus: Bus, watchers: Watchers
) -> None:
    async with watchers.watch(WS) as slow, watchers.watch(WS) as quick:
        for number in range(1, 6):
            await bus.publish_events(WS, number, [b"x" * 512 * 1024], by="n1")
            assert isinstance(await soon(quick), LiveEvents)
        assert await soon(slow) == GAP


@pytest.mark.fault("F54")
async def test_after_a_restart_of_redis_every_watcher_finds_a_gap_and_hears_again(
    own_valkey: Valkey,
) -> None:
    client = connect(own_valkey.url)
    bus = Bus(client)
    async with (
        running(Watchers(own_valkey.url)) as watchers,
        watchers.watch(WS) as first,
        watchers.watch(OTHER) as second,
    ):
        await bus.publish_notice(WS, b"before")
        assert await soon(first) == LiveNotice(b"before")
        own_valkey.kill()
        await until(lambda: not watchers.connected)
        own_valkey.start()
        assert await soon(first) == GAP
        assert await soon(second) == GAP
        await bus.publish_notice(OTHER, b"after")
        assert await soon(second) == LiveNotice(b"after")
    await client.aclose()


async def test_who_begins_to_watch_while_redis_is_away_finds_a_gap_when_it_is_back(
    own_valkey: Valkey,
) -> None:
    async with running(Watchers(own_valkey.url)) as watchers:
        own_valkey.kill()
        await until(lambda: not watchers.connected)
        async with watchers.watch(WS) as watcher:
            assert len(watcher) == 0
            own_valkey.start()
            assert await soon(watcher) == GAP


@pytest.mark.fault("F53")
async def test_a_half_open_subscription_is_given_up_within_five_seconds(
    own_valkey: Valkey,
) -> None:
    client = connect(own_valkey.url)
    async with StallingProxy(own_valkey.port) as proxy:
        through_proxy = Watchers(f"redis://127.0.0.1:{proxy.port}/0")
        async with running(through_proxy) as watchers, watchers.watch(WS) as watcher:
            proxy.stall()
            stalled = monotonic()
            assert await soon(watcher) == GAP
            figure("a half-open subscription is given up", monotonic() - stalled, 5, "s")
            await Bus(client).publish_notice(WS, b"after")
            assert await soon(watcher) == LiveNotice(b"after")
    await client.aclose()


async def test_a_node_hears_of_every_append_and_who_made_it(bus: Bus, valkey: Valkey) -> None:
    feed = AppendedFeed(valkey.url).listen()
    async with asyncio.timeout(SECONDS):
        assert await anext(feed) == RESYNC
        await bus.publish_events(WS, 3, [b"{}"], by="")
        await bus.publish_events(OTHER, 9, [b"{}"], by="n1")
        assert await anext(feed) == Appended(WS, 3, "")
        assert await anext(feed) == Appended(OTHER, 9, "n1")
    await feed.aclose()


async def test_a_message_that_is_not_ours_is_passed_over(
    bus: Bus, watchers: Watchers, redis_client: redis.asyncio.Redis, valkey: Valkey
) -> None:
    feed = AppendedFeed(valkey.url).listen()
    async with asyncio.timeout(SECONDS), watchers.watch(WS) as watcher:
        assert await anext(feed) == RESYNC
        for damaged in (b"", b"E\x00", b"T{", b"?", b"\xff"):
            await redis_client.publish(keys.APPENDED, damaged)
            await redis_client.publish(keys.live(WS), damaged)
        await bus.publish_events(WS, 3, [b"{}"], by="")
        assert await anext(feed) == Appended(WS, 3, "")
        assert await watcher.next() == LiveEvents(3, (b"{}",))
    await feed.aclose()


@pytest.mark.fault("F54")
async def test_a_node_is_told_to_look_again_after_redis_was_away(own_valkey: Valkey) -> None:
    client = connect(own_valkey.url)
    feed = AppendedFeed(own_valkey.url).listen()
    async with asyncio.timeout(SECONDS):
        assert await anext(feed) == RESYNC
        own_valkey.kill()
        own_valkey.start()
        assert await anext(feed) == RESYNC
        await Bus(client).publish_events(WS, 4, [b"{}"], by="")
        assert await anext(feed) == Appended(WS, 4, "")
    await feed.aclose()
    await client.aclose()
