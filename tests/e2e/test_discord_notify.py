"""Notifications reach Discord: a real gateway process, signed in with discord.py to a fake one."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bench.figures import figure
from tests.fakes.discord_server import LONGEST, TOKEN, DiscordServer, discord_server
from tests.fakes.gateway import RunningGateway, gateway

CHANNEL, OTHER_CHANNEL = "20", "21"
USER, DIRECT = "222", "333"
INES = {"ines": [{"channel_type": "discord", "channel_id": USER}]}


@contextlib.asynccontextmanager
async def world(
    folder: Path, *, token: str = TOKEN, seconds: float = 5.0
) -> AsyncIterator[tuple[DiscordServer, RunningGateway]]:
    async with discord_server([CHANNEL, OTHER_CHANNEL], {USER: DIRECT}) as discord:
        addresses = {"api_url": discord.api_url, "gateway_url": discord.gateway.url}
        settings = {
            "SLOT__GATEWAY_DISCORD": token,
            "GATEWAY__DISCORD": json.dumps(addresses),
            "GATEWAY__USERS": json.dumps(INES),
            "GATEWAY__DELIVERY_SECONDS": str(seconds),
        }
        async with gateway(folder, settings) as running:
            yield discord, running


def to_channel(message: str, channel: str = CHANNEL) -> dict[str, str]:
    return {"channel_type": "discord", "channel_id": channel, "message": message}


@pytest.mark.req("T-43")
async def test_a_notification_reaches_a_channel_with_its_title_in_bold(tmp_path: Path) -> None:
    async with world(tmp_path) as (discord, running):
        results = await running.results(**to_channel("disk is full"), title="Alarm")
        assert results == [{"target": f"discord:{CHANNEL}", "status": "sent"}]
        assert [(each.channel_id, each.content) for each in discord.shown] == [
            (CHANNEL, "**Alarm**\ndisk is full")
        ]
        await running.until_channel("discord", "ready")
        assert discord.gateway.identified == 1


@pytest.mark.req("T-43")
async def test_a_username_is_written_to_directly(tmp_path: Path) -> None:
    async with world(tmp_path) as (discord, running):
        for message in ("one", "two"):
            results = await running.results(username="ines", message=message)
            assert results == [{"target": f"discord:{USER}", "status": "sent"}]
        assert [(each.channel_id, each.content) for each in discord.shown] == [
            (DIRECT, "one"),
            (DIRECT, "two"),
        ]


@pytest.mark.fault("F62")
async def test_model_text_mentions_nobody_and_hides_no_address(tmp_path: Path) -> None:
    text = "@everyone <@222> [Approve](https://evil.example/a)"
    async with world(tmp_path) as (discord, running):
        assert await running.statuses(**to_channel(text)) == ["sent"]
        (shown,) = discord.shown
        assert shown.allowed_mentions == {"parse": []}
        assert shown.embeds_suppressed
        assert shown.content == r"@everyone \<@222> \[Approve\](https://evil.example/a)"


@pytest.mark.fault("F62")
async def test_a_message_that_grows_too_long_comes_in_pieces_in_order(tmp_path: Path) -> None:
    message = "```py\n" + "x = 'é'\n" * 248 + "```"
    assert 1980 < len(message) <= LONGEST
    async with world(tmp_path) as (discord, running):
        assert await running.statuses(**to_channel(message), title="Result" * 10) == ["sent"]
        pieces = [each.content for each in discord.shown]
        assert len(pieces) == 2
        assert all(len(piece) <= LONGEST and piece.count("```") == 2 for piece in pieces)
        assert "".join(pieces).count("x = 'é'\n") == 248


@pytest.mark.fault("F61")
async def test_a_rate_limit_within_the_time_is_waited_out_and_shows_one_message(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as (discord, running):
        discord.limit_next(0.4)
        discord.limit_next(0.4)
        assert await running.statuses(**to_channel("hello")) == ["sent"]
        assert [each.content for each in discord.shown] == ["hello"]
        assert [each.status for each in discord.attempts] == [429, 429, 200]
        times = [each.at for each in discord.attempts]
        assert all(later - earlier >= 0.4 for earlier, later in zip(times, times[1:], strict=False))


@pytest.mark.fault("F61")
async def test_a_long_rate_limit_is_honoured_by_the_deliveries_after_it(tmp_path: Path) -> None:
    async with world(tmp_path, seconds=1.5) as (discord, running):
        assert await running.statuses(**to_channel("before")) == ["sent"]
        discord.limit_next(6.0)
        assert await running.statuses("n1", **to_channel("late")) == ["timeout"]
        assert await running.statuses("n1", **to_channel("late")) == ["timeout"]
        assert await running.statuses(**to_channel("elsewhere", OTHER_CHANNEL)) == ["sent"]
        async with asyncio.timeout(30.0):
            while await running.statuses("n1", **to_channel("late")) != ["sent"]:
                pass
        limited, last = discord.attempts[1], discord.attempts[-1]
        assert [each.status for each in discord.attempts] == [200, 429, 200, 200]
        assert last.at - limited.at >= 6.0
        assert [each.content for each in discord.shown] == ["before", "elsewhere", "late"]


@pytest.mark.fault("F61")
async def test_a_retry_after_a_lost_answer_does_not_show_twice(tmp_path: Path) -> None:
    async with world(tmp_path) as (discord, running):
        discord.lose_answers = 10
        assert await running.statuses("n7", **to_channel("only once")) == ["failed"]
        discord.lose_answers = 0
        assert await running.statuses("n7", **to_channel("only once")) == ["sent"]
        assert [each.content for each in discord.shown] == ["only once"]


async def test_a_notification_repeated_under_its_key_is_not_sent_again(tmp_path: Path) -> None:
    async with world(tmp_path) as (discord, running):
        answers = [await running.results("n8", **to_channel("hi")) for _ in range(2)]
        assert answers[0] == answers[1]
        assert len(discord.attempts) == 1


@pytest.mark.req("T-43")
async def test_a_silent_discord_is_a_timeout(tmp_path: Path) -> None:
    async with world(tmp_path, seconds=0.5) as (discord, running):
        discord.answers.clear()
        assert await running.statuses(**to_channel("hello")) == ["timeout"]


@pytest.mark.req("T-43")
async def test_a_place_that_discord_does_not_know_is_failed(tmp_path: Path) -> None:
    async with world(tmp_path) as (_, running):
        assert await running.statuses(**to_channel("hello", "404")) == ["failed"]
        assert await running.statuses(**to_channel("hello", "general")) == ["failed"]


@pytest.mark.fault("F61")
async def test_a_connection_that_is_dropped_is_resumed(tmp_path: Path) -> None:
    async with world(tmp_path) as (discord, running):
        await discord.until(lambda seen: seen.gateway.identified == 1)
        await discord.gateway.drop(4000)
        await discord.until(lambda seen: seen.gateway.resumed == 1)
        await running.until_channel("discord", "ready")
        assert discord.gateway.identified == 1
        assert await running.statuses(**to_channel("still here")) == ["sent"]


async def test_a_token_that_discord_refuses_is_told_in_health(tmp_path: Path) -> None:
    async with world(tmp_path, token="another") as (_, running):
        await running.until_channel("discord", "refused")
        assert await running.statuses(**to_channel("hello")) == ["failed"]
        health = (await running.client.get("/health")).json()
        assert health["status"] == "degraded"
        assert "gateway.discord.token_env" in json.dumps(health["channels"])


async def test_a_gateway_that_is_signed_in_stops_in_order(tmp_path: Path) -> None:
    async with world(tmp_path) as (_, running):
        await running.until_channel("discord", "ready")
        code, seconds = await asyncio.to_thread(running.process.stop)
        assert code == 0
        figure("a gateway stops", seconds, 5, "s")


@pytest.mark.fault("F12")
async def test_no_log_shows_the_token_or_the_secret(tmp_path: Path) -> None:
    async with world(tmp_path, token="canary-of-a-token") as (_, running):
        await running.until_channel("discord", "refused")
        said = running.process.log.read_text()
        assert "canary-of-a-token" not in said
        assert "a-service-secret" not in said
