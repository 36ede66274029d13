"""A Discord on the loopback that discord.py signs in to: REST with its limits, the gateway."""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.fakes import discord_payloads
from tests.fakes.discord_gateway import GatewaySide

TOKEN = "token-of-the-fake-bot"
LONGEST = 2000
DEADLINE_SECONDS = 20.0
_REST = "/api/v10"


@dataclass(frozen=True)
class Shown:
    """One message that people see."""

    channel_id: str
    content: str
    allowed_mentions: dict[str, Any]
    embeds_suppressed: bool


@dataclass(frozen=True)
class Attempt:
    """One request to post, whatever came of it. `at`: monotonic seconds."""

    channel_id: str
    at: float
    status: int


class DiscordServer:
    """Knows its channels and users; a nonce that is enforced shows once.

    Set `lose_answers` to show that many messages whose answers never arrive; clear `answers` to
    hold every post up.
    """

    def __init__(self, channels: list[str], users: dict[str, str]) -> None:
        self.shown: list[Shown] = []
        self.attempts: list[Attempt] = []
        self.lose_answers = 0
        self.answers = asyncio.Event()
        self.answers.set()
        self.gateway = GatewaySide(TOKEN, channels)
        self.api_url = ""
        self._channels = set(channels)
        self._direct = users
        self._limits: list[tuple[float, str]] = []
        self._nonces: dict[str, dict[str, Any]] = {}
        self._ids = itertools.count(1_000_000_000_000_000_000)

    def limit_next(self, seconds: float, scope: str = "user") -> None:
        """The next post is answered 429: come again after so long."""
        self._limits.append((seconds, scope))

    async def until(self, seen: Callable[["DiscordServer"], bool]) -> None:
        """Returns once clients' connections have come so far; TimeoutError after 20 s."""
        async with asyncio.timeout(DEADLINE_SECONDS), self.gateway.moved:
            await self.gateway.moved.wait_for(lambda: seen(self))

    def application(self) -> web.Application:
        """Its routes."""
        app = web.Application()
        app.add_routes(
            [
                web.get("/gw", self.gateway.serve),
                web.get("/gw/", self.gateway.serve),
                web.get(f"{_REST}/users/@me", self._whoami),
                web.get(f"{_REST}/oauth2/applications/@me", self._own_application),
                web.post(f"{_REST}/users/@me/channels", self._open_direct),
                web.post(f"{_REST}/channels/{{channel}}/messages", self._post),
            ]
        )
        return app

    async def _whoami(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bot {TOKEN}":
            return _answer({"message": "401: Unauthorized", "code": 0}, 401)
        return _answer(discord_payloads.BOT)

    async def _own_application(self, _: web.Request) -> web.Response:
        return _answer(discord_payloads.application())

    async def _open_direct(self, request: web.Request) -> web.Response:
        user = str((await request.json())["recipient_id"])
        if user not in self._direct:
            return _answer({"message": "Invalid Recipient(s)", "code": 50033}, 400)
        return _answer(discord_payloads.direct_channel(self._direct[user], user))

    async def _post(self, request: web.Request) -> web.StreamResponse:
        channel, asked = request.match_info["channel"], await request.json()
        await self.answers.wait()
        answer = self._judge(channel, asked)
        self.attempts.append(Attempt(channel, time.monotonic(), answer.status))
        if self.lose_answers and answer.status == 200:
            self.lose_answers -= 1
            assert request.transport is not None
            request.transport.abort()
        return answer

    def _judge(self, channel: str, asked: dict[str, Any]) -> web.Response:
        if self._limits:
            return _limited(*self._limits.pop(0))
        if channel not in self._channels | set(self._direct.values()):
            return _answer({"message": "Unknown Channel", "code": 10003}, 404)
        content = asked.get("content", "")
        if not content.strip() or len(content) > LONGEST:
            return _answer({"message": "Invalid Form Body", "code": 50035}, 400)
        nonce = str(asked.get("nonce") or "")
        if asked.get("enforce_nonce") and nonce in self._nonces:
            return _answer(self._nonces[nonce])
        message = discord_payloads.message(str(next(self._ids)), channel, asked)
        self._nonces[nonce] = message
        suppressed = bool(asked.get("flags", 0) & 4)
        self.shown.append(Shown(channel, content, asked.get("allowed_mentions", {}), suppressed))
        return _answer(message)


def _answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """discord.py reads JSON only under exactly this type, without a charset."""
    content = {"Content-Type": "application/json", **(headers or {})}
    return web.Response(body=json.dumps(body).encode(), status=status, headers=content)


def _limited(seconds: float, scope: str) -> web.Response:
    body = {
        "message": "You are being rate limited.",
        "retry_after": seconds,
        "global": scope == "global",
    }
    # Without Via the library takes it for a ban.
    headers = {"Retry-After": f"{seconds:g}", "X-RateLimit-Scope": scope, "Via": "1.1 google"}
    return _answer(body, 429, headers)


@contextlib.asynccontextmanager
async def discord_server(
    channels: list[str], users: dict[str, str] | None = None
) -> AsyncIterator[DiscordServer]:
    """A running one. `users`: a user's id to the id of the channel that is theirs."""
    server = DiscordServer(channels, users or {})
    runner = web.AppRunner(server.application(), shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.api_url = f"http://{host}:{port}{_REST}"
    server.gateway.url = f"ws://{host}:{port}/gw"
    try:
        yield server
    finally:
        server.answers.set()
        await runner.cleanup()
