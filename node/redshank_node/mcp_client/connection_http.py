"""Opens the library's streamable HTTP client at one server's address."""

import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from redshank_node.mcp_client.connection_door import Door
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_node.mcp_client.traffic import Traffic
from redshank_shared.settings.mcp_server import McpServer

_CONNECT_SECONDS = 10.0
_LEAST_READ_SECONDS = 300.0
_LARGEST_EVENT = 8 * 1024 * 1024
_HEADER_MARK = "x-mcp-header"


@contextlib.asynccontextmanager
async def over_http(
    server: McpServer, surroundings: Surroundings, traffic: Traffic, door: Door
) -> AsyncIterator[tuple["_Heard", "_Said"]]:
    """The streams of the library's client."""
    read_seconds = max(_LEAST_READ_SECONDS, server.tool_timeout_sec + 30)
    http = httpx2.AsyncClient(
        transport=door,
        headers=await _headers(server, surroundings),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=read_seconds, write=30),
        follow_redirects=False,
        trust_env=False,
    )
    async with (
        http,
        streamable_http_client(server.url, http_client=http, max_sse_event_size=_LARGEST_EVENT) as (
            reads,
            writes,
        ),
    ):
        yield _Heard(reads, traffic), _Said(writes, traffic)


async def _headers(server: McpServer, surroundings: Surroundings) -> dict[str, str]:
    """As the record and the slots are now. A variable that is not set sets no header."""
    headers = dict(server.headers)
    for header, variable in server.env_http_headers.items():
        if variable in surroundings.variables:
            headers[header] = surroundings.variables[variable]
    for header, slot in server.http_header_secret_refs.items():
        headers[header] = await surroundings.value(slot)
    token = ""
    if server.bearer_token_secret_ref:
        token = await surroundings.value(server.bearer_token_secret_ref)
    elif server.bearer_token_env_var:
        token = surroundings.variables.get(server.bearer_token_env_var, "")
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def for_library(method: str, items: list[Any]) -> list[Any]:
    """The tools whose arguments go into headers too: the library does that (2026-07-28)."""
    if method != "tools/list":
        return []
    return [item for item in items if _HEADER_MARK in str(item) and _is_tool(item)]


def _is_tool(item: Any) -> bool:
    try:
        mcp_types.Tool.model_validate(item, by_name=False)
    except ValidationError:
        return False
    return True


class _Heard:
    """What the server says, without what was not asked for."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], traffic: Traffic) -> None:
        self._inner = inner
        self._traffic = traffic

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._inner.receive()
            if isinstance(item, Exception):
                self._traffic.junk("what is no message", type(item).__name__)
            elif (kept := self._kept(item.message)) is not None:
                item.message = kept
                return item
            await self._traffic.breathe()

    def _kept(self, message: mcp_types.JSONRPCMessage) -> mcp_types.JSONRPCMessage | None:
        if isinstance(message, mcp_types.JSONRPCResponse):
            result = self._traffic.answered(message.id, message.result)
            if result is None:
                return None
            message.result = result
        elif isinstance(message, mcp_types.JSONRPCError):
            if self._traffic.answered(message.id, None) is None:
                return None
        elif not self._traffic.heard(message.method):
            return None
        return message

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> "_Heard":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "_Heard":
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)


class _Said:
    """What the library sends, noted."""

    def __init__(self, inner: WriteStream[SessionMessage], traffic: Traffic) -> None:
        self._inner = inner
        self._traffic = traffic

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, mcp_types.JSONRPCRequest):
            self._traffic.sent(message.method, message.id, message.params)
        elif isinstance(message, mcp_types.JSONRPCNotification):
            self._traffic.sent(message.method, None, message.params)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "_Said":
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)
