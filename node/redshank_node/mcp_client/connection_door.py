"""The way out of one HTTP connection: what goes wrong with a request is its own affair."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable

import httpx2
import msgspec

from redshank_node.mcp_client.backoff import stream_patience_seconds
from redshank_node.mcp_client.connecting import Signals
from redshank_node.mcp_client.frames import LONGEST_LINE, MOST_VALUES, values_in
from redshank_node.mcp_client.sent import Sent, is_session_refusal, sent_in
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_node.mcp_client.verdicts import Kind, Verdicts
from redshank_shared.domain.errors import RedshankError
from redshank_shared.domain.masking import shown_url
from redshank_shared.settings.mcp_server import McpServer

logger = logging.getLogger(__name__)

_MOST_STREAMED = 64 * 1024 * 1024
_BYTES_A_SECOND = 16 * 1024 * 1024
_LEAVE_SECONDS = 2.0
_SHORT_STREAM_SECONDS = 5.0
_IS_SECOND = "redshank_second"
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


class Door(httpx2.AsyncBaseTransport):
    """Never raises: what goes wrong with one request becomes its answer. The library would take
    every connection down with it, and all other calls (its issue 3522).

    A redirect is refused, no token goes elsewhere; a body is bounded; no proxy of the environment
    is used.
    """

    def __init__(
        self,
        server: McpServer,
        surroundings: Surroundings,
        signals: Signals,
        verdicts: Verdicts,
    ) -> None:
        self._server = server
        self._surroundings = surroundings
        self._signals = signals
        self._inner = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_connections=1000))
        self._verdicts = verdicts
        self._quick_ends = 0
        self._loop = asyncio.get_running_loop()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it on."""
        try:
            if refused := await self._authorize(request):
                return self._failed("not_executed", refused)
            return await self._sent(request)
        except _NEVER_SENT as error:
            return self._failed("not_executed", f"cannot be reached: {_words(error)}")
        except (httpx2.HTTPError, TimeoutError) as error:
            return self._failed("unknown", f"the connection broke: {_words(error)}")
        except Exception as error:  # noqa: BLE001 - else it takes all other calls down with it
            logger.exception("MCP server %s: a request broke down", self._server.name)
            return self._failed("unknown", f"{type(error).__name__}: the request broke down")

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":
            async with asyncio.timeout(_LEAVE_SECONDS):
                return await self._inner.handle_async_request(request)
        if request.method == "GET":
            await asyncio.sleep(stream_patience_seconds(self._quick_ends))
            return await self._judged(request, Sent())
        sent = sent_in(request.content)
        async with asyncio.timeout(sent.patience_seconds):
            return await self._judged(request, sent)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _authorize(self, request: httpx2.Request) -> str:
        """Why it may not be sent, empty where it may."""
        # What is compressed may be a thousand times as much.
        request.headers["Accept-Encoding"] = "identity"
        if not self._server.oauth_slot_ref:
            return ""
        authorize = self._surroundings.authorize
        try:
            token = None if authorize is None else await authorize(self._server)
        except RedshankError as error:
            return error.detail
        if token is None:
            return f"nobody is logged in: run `redshank mcp login {self._server.name}`"
        request.headers["Authorization"] = f"Bearer {token}"
        return ""

    async def _judged(self, request: httpx2.Request, sent: Sent) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        status = response.status_code
        if 300 <= status < 400:
            place = _place(response.headers.get("location", ""))
            await response.aclose()
            why = f"it redirects to {place} (HTTP {status}), which is not followed: mend the url"
            return self._failed("refused", why)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            return self._failed("unknown", "its answer is compressed, which was not asked for")
        if status >= 400:
            return await self._refused(request, response, sent)
        if request.method == "GET":
            return _streamed(response, _Paced(response, None, self._stream_ended))
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            return _streamed(response, _Paced(response, _MOST_STREAMED, None))
        return await self._whole(response)

    async def _whole(self, response: httpx2.Response) -> httpx2.Response:
        body = await _body(response)
        if body is None:
            return self._failed("unknown", f"its answer has more than {LONGEST_LINE} bytes")
        if values_in(body) > MOST_VALUES:
            return self._failed("unknown", f"its answer has more than {MOST_VALUES} values")
        kept = {
            name: value
            for name, value in response.headers.items()
            if name.lower() not in ("content-length", "transfer-encoding")
        }
        return httpx2.Response(response.status_code, headers=kept, content=body)

    async def _refused(
        self, request: httpx2.Request, response: httpx2.Response, sent: Sent
    ) -> httpx2.Response:
        status = response.status_code
        body = await _body(response) or b""
        is_session = status == 400 and b"session" in body.lower()
        if "mcp-session-id" in request.headers:
            # Only 404 is the protocol's word for it; 400 may come behind the tool's effect.
            refused = status == 400 and is_session_refusal(body)
            if status == 404 or refused or (is_session and sent.is_harmless):
                return self._failed("expired", "its session ended")
            if is_session:
                # Whether it did shows when the server is asked what it offers.
                self._signals.list_changed()
                if not _is_answer(response, body):
                    return self._failed("unknown", "it answers HTTP 400, for its session", status)
        if status == 401 or (status == 403 and "insufficient_scope" in _challenge(response)):
            return await self._unauthorized(request, response)
        if _is_answer(response, body):
            return httpx2.Response(
                status, headers={"content-type": "application/json"}, content=body
            )
        kind: Kind = "unknown" if status >= 500 else "refused"
        return self._failed(kind, f"it answers HTTP {status}", status)

    async def _unauthorized(
        self, request: httpx2.Request, response: httpx2.Response
    ) -> httpx2.Response:
        refused = self._surroundings.refused
        if not self._server.oauth_slot_ref or refused is None:
            asks = "set its token anew" if self._server.slots() else "it wants a token: name a slot"
            return self._failed("refused", f"it answers HTTP 401: {asks}", 401)
        if _IS_SECOND in request.extensions:
            return self._failed("not_executed", "it refuses a token that is new (HTTP 401)")
        try:
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            challenge = response.headers.get("www-authenticate", "")
            await refused(self._server, challenge, token)
        except RedshankError as error:
            return self._failed("not_executed", error.detail)
        # Another token is there by now, and this request was not acted on.
        request.extensions = {**request.extensions, _IS_SECOND: True}
        return await self.handle_async_request(request)

    def _failed(self, kind: Kind, why: str, status: int = 502) -> httpx2.Response:
        error = {"code": -32603, "message": why, "data": self._verdicts.data(kind)}
        return httpx2.Response(status, json={"jsonrpc": "2.0", "id": None, "error": error})

    def _stream_ended(self, lasted_seconds: float) -> None:
        self._quick_ends = 0 if lasted_seconds > _SHORT_STREAM_SECONDS else self._quick_ends + 1
        # What was said meanwhile went past us.
        self._signals.list_changed()


def _challenge(response: httpx2.Response) -> str:
    challenge: str = response.headers.get("www-authenticate", "")
    return challenge


def _streamed(response: httpx2.Response, body: "_Paced") -> httpx2.Response:
    return httpx2.Response(response.status_code, headers=response.headers, stream=body)


async def _body(response: httpx2.Response) -> bytes | None:
    """All of it, None where that is too much."""
    body = bytearray()
    try:
        async for chunk in _Paced(response, None, None):
            body += chunk
            if len(body) > LONGEST_LINE:
                return None
    finally:
        await response.aclose()
    return bytes(body)


def _is_answer(response: httpx2.Response, body: bytes) -> bool:
    """Whether the server itself says in it what is wrong, as JSON-RPC has it."""
    if not response.headers.get("content-type", "").lower().startswith("application/json"):
        return False
    try:
        return isinstance(msgspec.json.decode(body, type=_Answer).error, dict)
    except (msgspec.DecodeError, RecursionError):
        return False


class _Answer(msgspec.Struct):
    error: dict[str, msgspec.Raw]


def _place(location: str) -> str:
    return shown_url(location) if "://" in location else location.partition("?")[0][:200]


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Paced(httpx2.AsyncByteStream):
    """A body as it comes, at most 16 MiB a second; `most` bytes in all."""

    def __init__(
        self,
        response: httpx2.Response,
        most: int | None,
        ended: Callable[[float], None] | None,
    ) -> None:
        self._response = response
        self._most = most
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = in_second = 0
        second_ends = self._loop.time() + 1.0
        stream = self._response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        async for chunk in stream:
            total += len(chunk)
            in_second += len(chunk)
            if self._most is not None and total > self._most:
                raise httpx2.ReadError(f"more than {self._most} bytes")
            now = self._loop.time()
            if now >= second_ends:
                second_ends, in_second = now + 1.0, 0
            elif in_second > _BYTES_A_SECOND:
                await asyncio.sleep(second_ends - now)
            yield chunk
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        if self._ended is not None:
            self._ended(self._loop.time() - self._began)
            self._ended = None
        await self._response.aclose()
