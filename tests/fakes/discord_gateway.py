"""The side of the fake Discord that holds connections: identify, events, resume."""

import asyncio
import itertools
import json
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes import discord_payloads

_DISPATCH, _HEARTBEAT, _IDENTIFY, _RESUME, _HELLO, _HEARTBEAT_ACK = 0, 1, 2, 6, 10, 11
_AUTHENTICATION_FAILED = 4004
_HEARTBEAT_MS = 2000


class GatewaySide:
    """Takes one token. `identified` and `resumed` count what clients asked for."""

    def __init__(self, token: str, channels: list[str]) -> None:
        self.identified = 0
        self.resumed = 0
        self.url = ""
        self.moved = asyncio.Condition()
        self._token = token
        self._channels = channels
        self._sockets: set[web.WebSocketResponse] = set()
        self._numbers = itertools.count(1)

    async def drop(self, code: int) -> None:
        """Close every connection with this code."""
        for connection in list(self._sockets):
            await connection.close(code=code)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """One connection."""
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        self._sockets.add(connection)
        try:
            await _send(connection, _HELLO, {"heartbeat_interval": _HEARTBEAT_MS})
            async for came in connection:
                if came.type is WSMsgType.TEXT:
                    await self._take(connection, json.loads(came.data))
        finally:
            self._sockets.discard(connection)
        return connection

    async def _take(self, connection: web.WebSocketResponse, frame: dict[str, Any]) -> None:
        if frame["op"] == _HEARTBEAT:
            await _send(connection, _HEARTBEAT_ACK, None)
        elif frame["op"] in (_IDENTIFY, _RESUME):
            if frame["d"]["token"] != self._token:
                await connection.close(code=_AUTHENTICATION_FAILED)
            elif frame["op"] == _IDENTIFY:
                await self._begin(connection)
            else:
                await self._dispatch(connection, "RESUMED", {})
                await self._count(resumed=1)

    async def _begin(self, connection: web.WebSocketResponse) -> None:
        await self._dispatch(connection, "READY", discord_payloads.ready("session", self.url))
        await self._dispatch(connection, "GUILD_CREATE", discord_payloads.guild(self._channels))
        await self._count(identified=1)

    async def _count(self, *, identified: int = 0, resumed: int = 0) -> None:
        async with self.moved:
            self.identified += identified
            self.resumed += resumed
            self.moved.notify_all()

    async def _dispatch(
        self, connection: web.WebSocketResponse, event: str, body: dict[str, Any]
    ) -> None:
        await _send(connection, _DISPATCH, body, next(self._numbers), event)


async def _send(
    connection: web.WebSocketResponse,
    op: int,
    body: Any,
    number: int | None = None,
    event: str | None = None,
) -> None:
    await connection.send_json({"op": op, "d": body, "s": number, "t": event})
