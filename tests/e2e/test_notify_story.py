"""A notification's whole trip: the model's tool, the outbox, a gateway, Discord."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.cluster_client import ClusterClient, until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind
from tests.fakes.discord_server import TOKEN, DiscordServer, discord_server
from tests.fakes.gateway import SECRET, gateway

CHANNEL = "20"
CALL = "call: notify " + json.dumps(
    {"message": "the tide is in", "channel_type": "discord", "channel_id": CHANNEL}
)


def gateway_settings(discord: DiscordServer, console_url: str) -> dict[str, str]:
    addresses = {"api_url": discord.api_url, "gateway_url": discord.gateway.url}
    return {
        "SLOT__GATEWAY_DISCORD": TOKEN,
        "GATEWAY__DISCORD": json.dumps(addresses),
        "GATEWAY__CONSOLE_URL": console_url,
    }


async def settled(person: ClusterClient, workstream: str, seconds: float) -> dict[str, Any]:
    """The outcome that the log shows."""

    async def found() -> dict[str, Any] | None:
        outcomes = of_kind(await person.events(workstream), "notification.settled")
        return outcomes[0] if outcomes else None

    return await until(found, "the notification is settled", seconds=seconds)


@pytest.mark.req("T-43")
@pytest.mark.timeout(120)
async def test_what_the_model_tells_a_person_reaches_discord_once(
    new_cluster: ClusterMaker, tmp_path: Path
) -> None:
    cluster = new_cluster(nodes=1, settings={"REDSHANK_SLOT__GATEWAY_SERVICE": SECRET})
    async with cluster.client() as person, discord_server([CHANNEL], {}) as discord:
        async with gateway(tmp_path, gateway_settings(discord, cluster.consoles[0].url)) as told:
            await told.until_channel("discord", "ready")
            await asyncio.to_thread(cluster.valkey.kill)
            await asyncio.to_thread(cluster.valkey.start)
            workstream = await person.create(CALL)
            outcome = await settled(person, workstream, 40.0)
            await person.wait_for_state(workstream, "idle")
            events = await person.events(workstream)
        (shown,) = discord.shown
        assert shown.channel_id == CHANNEL
        assert shown.content.splitlines()[0] == "the tide is in"
    assert (outcome["sent"], outcome["results"]) == (True, [f"discord:{CHANNEL} sent"])
    assert faults(events) == {}


@pytest.mark.req("T-43")
@pytest.mark.fault("F42")
@pytest.mark.timeout(120)
async def test_without_a_gateway_the_log_shows_that_it_failed_with_the_mend(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=1)
    async with cluster.client() as person:
        workstream = await person.create(CALL)
        outcome = await settled(person, workstream, 30.0)
    assert outcome["sent"] is False
    assert "redshank gateway" in outcome["detail"]
