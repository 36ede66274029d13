"""A real gateway process, with a client that signs as a node does."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from redshank_shared import clock
from redshank_shared.settings.environment import process_environment
from redshank_shared.wire.service_token import GATEWAY_AUDIENCE, sign
from tests.fakes.cluster_process import ClusterProcess
from tests.fakes.ports import free_port

SECRET = "a-service-secret-of-the-tests-with-some-length"
NOBODY = "http://127.0.0.1:9"
_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = os.pathsep.join(str(_ROOT / name) for name in ("shared", "node", "console", "gateway"))


class RunningGateway:
    """`process` is the gateway; `client` speaks to it without a token unless it is given one."""

    def __init__(self, process: ClusterProcess, client: httpx.AsyncClient) -> None:
        self.process = process
        self.client = client

    async def notify(self, key: str = "", **body: Any) -> httpx.Response:
        """Ask for a notification with a token that holds."""
        headers = {"Authorization": f"Bearer {token()}"}
        if key:
            headers["Idempotency-Key"] = key
        return await self.client.post("/v1/api/notify", json=body, headers=headers)

    async def results(self, key: str = "", **body: Any) -> list[dict[str, str]]:
        """What became of each target."""
        answer = await self.notify(key, **body)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["results"])

    async def statuses(self, key: str = "", **body: Any) -> list[str]:
        """The status of each target."""
        return [result["status"] for result in await self.results(key, **body)]

    async def channels(self) -> dict[str, str]:
        """The state of each channel."""
        health = (await self.client.get("/health")).json()
        return {channel["name"]: channel["state"] for channel in health["channels"]}

    async def until_channel(self, name: str, state: str, seconds: float = 20.0) -> None:
        """Returns once the channel stands so; TimeoutError where it does not."""
        async with asyncio.timeout(seconds):
            while (await self.channels())[name] != state:
                await asyncio.sleep(0.05)


def token(audience: str = GATEWAY_AUDIENCE, secret: str = SECRET) -> str:
    """A service token that holds for a minute."""
    return sign(secret, "nd_test", audience, clock.now_utc())


@contextlib.asynccontextmanager
async def gateway(
    folder: Path, settings: Mapping[str, str] | None = None
) -> AsyncIterator[RunningGateway]:
    """A gateway that answers inside the block. `settings`: variables without REDSHANK_."""
    port = free_port()
    given = {
        "SLOT__GATEWAY_SERVICE": SECRET,
        "GATEWAY__PORT": str(port),
        "GATEWAY__CONSOLE_URL": NOBODY,
        **(settings or {}),
    }
    environment = {
        "PATH": process_environment().get("PATH", ""),
        "HOME": str(folder),
        "PYTHONPATH": _PACKAGES,
        **{f"REDSHANK_{name}": value for name, value in given.items()},
    }
    command = (sys.executable, "-m", "redshank_gateway")
    process = ClusterProcess("gateway", command, environment, folder, port)
    process.start()
    try:
        await asyncio.to_thread(process.wait_healthy)
        async with httpx.AsyncClient(base_url=process.url, timeout=30.0, verify=False) as client:
            yield RunningGateway(process, client)
    finally:
        process.end()
