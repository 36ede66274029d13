"""A gateway as a process: how it starts, registers, stops."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from redshank_gateway.bridge.registration import Registration
from redshank_shared import clock
from redshank_shared.wire.problems import PROBLEM_TYPE, Problem
from redshank_shared.wire.service_token import CONSOLE_AUDIENCE, sign, verify
from tests.bench.figures import figure
from tests.fakes.gateway import SECRET, gateway

DEADLINE_SECONDS = 20.0
TERMINAL = {"channel_type": "terminal", "channel_id": "-"}


class Registry:
    """Takes heartbeats as a console does; refuses as long as `refusal` is set."""

    def __init__(self) -> None:
        self.beats: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.refusals: asyncio.Queue[str] = asyncio.Queue()
        self.refusal = ""
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        subject = verify(token, SECRET, CONSOLE_AUDIENCE, clock.now_utc())
        body = await request.json()
        assert subject == body["service_id"]
        if self.refusal:
            self.refusals.put_nowait(self.refusal)
            said = Problem(status=401, code="wrong_secret", detail=self.refusal).encoded()
            return web.Response(body=said, status=401, content_type=PROBLEM_TYPE)
        self.beats.put_nowait(body)
        return web.Response(status=204)


@contextlib.asynccontextmanager
async def registry() -> AsyncIterator[Registry]:
    taking = Registry()
    app = web.Application()
    app.add_routes([web.post("/v1/cluster/services", taking.take)])
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    taking.url = "http://{}:{}".format(*runner.addresses[0][:2])
    try:
        yield taking
    finally:
        await runner.cleanup()


async def test_a_gateway_without_a_token_for_discord_starts_says_so_and_has_no_adapter(
    tmp_path: Path,
) -> None:
    async with gateway(tmp_path) as running:
        assert await running.channels() == {"terminal": "ready", "discord": "no_token"}
        health = (await running.client.get("/health")).json()
        assert "REDSHANK_SLOT__GATEWAY_DISCORD" in str(health["channels"])
        statuses = await running.statuses(channel_type="discord", channel_id="1", message="hi")
        assert statuses == ["no_adapter"]


@pytest.mark.req("T-43")
async def test_the_terminal_is_the_gateways_own_standard_output(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        assert await running.statuses(message="disk is full", title="Alarm", **TERMINAL) == ["sent"]
        assert "Alarm: disk is full\n" in running.process.log.read_text()


async def test_a_gateway_registers_with_its_address_and_its_channels(tmp_path: Path) -> None:
    async with registry() as console:
        async with gateway(tmp_path, {"GATEWAY__CONSOLE_URL": console.url}) as running:
            async with asyncio.timeout(DEADLINE_SECONDS):
                beat = await console.beats.get()
                while (health := (await running.client.get("/health")).json())["console"] != "ok":
                    await asyncio.sleep(0.05)
        assert health["status"] == "ok"
        assert (beat["kind"], beat["address"]) == ("gateway", running.process.url)
        assert set(beat) == {"service_id", "kind", "address", "version", "report"}
        assert beat["report"] == {
            "channels": [
                {"name": "terminal", "state": "ready"},
                {"name": "discord", "state": "no_token"},
            ]
        }


async def test_a_gateway_without_a_console_answers_and_says_so_in_health(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while "gateway.console_url" not in (await running.client.get("/health")).text:
                await asyncio.sleep(0.05)
        assert (await running.client.get("/health")).json()["status"] == "degraded"
        assert await running.statuses(message="hi", **TERMINAL) == ["sent"]


async def test_a_gateway_stops_in_order_when_it_is_told_to(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        code, seconds = await asyncio.to_thread(running.process.stop)
        assert code == 0
        figure("a gateway stops", seconds, 5, "s")


@pytest.mark.fault("F42")
@pytest.mark.parametrize("secret", ["", "short"])
async def test_a_gateway_without_a_good_service_secret_says_which_setting_to_mend(
    secret: str,
) -> None:
    environment = {"HOME": "/nonexistent", "PYTHONPATH": ":".join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "redshank_gateway"),
        env={**environment, "REDSHANK_SLOT__GATEWAY_SERVICE": secret},
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE_SECONDS):
        _, said = await process.communicate()
    assert process.returncode == 2
    assert said.count(b"\n") == 1
    assert b"gateway.service_secret_slot" in said


async def test_registration_goes_on_when_the_console_refuses_then_takes_it() -> None:
    async with registry() as console, asyncio.timeout(DEADLINE_SECONDS):
        console.refusal = "another secret"
        registration = Registration(
            console.url, lambda: token_for_console("gw_1"), lambda: {"service_id": "gw_1"}, 0.05
        )
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(registration.run())
            await console.refusals.get()
            await console.refusals.get()
            assert registration.trouble == "the console refuses: another secret"
            console.refusal = ""
            await console.beats.get()
            await console.beats.get()
            assert registration.trouble == ""
            beating.cancel()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "not an address", "http://[::1", ""])
async def test_a_console_that_cannot_be_asked_is_told_and_ends_nothing(url: str) -> None:
    registration = Registration(url, lambda: token_for_console("gw_1"), dict, 0.05)
    async with asyncio.timeout(DEADLINE_SECONDS), asyncio.TaskGroup() as group:
        beating = group.create_task(registration.run())
        while "gateway.console_url" not in registration.trouble:
            await asyncio.sleep(0.01)
        beating.cancel()


def token_for_console(subject: str) -> str:
    return sign(SECRET, subject, CONSOLE_AUDIENCE, clock.now_utc())
