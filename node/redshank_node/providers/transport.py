"""Asks a model server over HTTP: one client for the life of a provider, one reading per answer."""

import asyncio
import contextlib
import urllib.request
from collections.abc import AsyncIterator
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp

from redshank_node.providers.failures import Failures
from redshank_node.providers.provider import ModelSettings
from redshank_node.providers.sse import Event, EventSplitter
from redshank_shared.wire.version import VERSION

HELD_BYTES = 32 * 1024 * 1024
_ERROR_BYTES = 64 * 1024
_HEADER_BYTES = 64 * 1024
# What another try does not mend.
_FINAL = (
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
    aiohttp.ClientConnectorCertificateError,
)
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Reading:
    """The events of one answer, as many at a time as one read of the connection brought.

    A server that answers with one JSON body or a page instead of a stream gives a single event
    named `json` or `page`.
    """

    def __init__(self, response: aiohttp.ClientResponse, failures: Failures) -> None:
        self._content = response.content
        self._failures = failures
        self._splitter = EventSplitter()
        self._body: list[bytes] = []
        self._form = ""
        self._ended = False

    async def next(self, patience_seconds: float | None) -> list[Event] | None:
        """The next events, maybe none yet; None at the stream's end, or when patience runs out.

        Raises ModelFailed on silence for the model's timeout, or when too much is held.
        """
        if self._ended:
            return None
        try:
            async with asyncio.timeout(patience_seconds):
                piece = await self._content.readany()
        except aiohttp.SocketTimeoutError:
            raise self._failures.silent(begun=True) from None
        except TimeoutError:
            return None
        except aiohttp.ClientError:
            piece = b""
        if not piece:
            self._ended = True
            return self._last_events()
        return self._events(piece)

    def _events(self, piece: bytes) -> list[Event]:
        if not self._form:
            self._form = _form_of(piece)
        if self._form in ("json", "page"):
            self._body.append(piece)
            held = sum(map(len, self._body))
            events: list[Event] = []
        else:
            events = self._splitter.feed(piece)
            held = self._splitter.held
        if held > HELD_BYTES:
            raise self._failures.too_large(HELD_BYTES)
        return events

    def _last_events(self) -> list[Event]:
        if self._form in ("json", "page"):
            return [Event(self._form, b"".join(self._body))]
        return self._splitter.close()


class Link:
    """The way to one model server. Never holds or shows the key outside the client's headers."""

    def __init__(
        self, settings: ModelSettings, base_url: str, path: str, headers: dict[str, str]
    ) -> None:
        self.failures = Failures(settings, base_url)
        self._url = base_url.rstrip("/") + path
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": f"redshank/{VERSION}",
            **headers,
        }
        self._proxy = _proxy_of(self._url)
        self._timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=10.0, sock_read=settings.timeout_seconds
        )
        # Made by the first request: it belongs to the loop that runs then.
        self._session: aiohttp.ClientSession | None = None

    @contextlib.asynccontextmanager
    async def ask(self, body: bytes) -> AsyncIterator[Reading]:
        """Post the body; the answer's events. Leaving stops the request. Raises ModelFailed."""
        try:
            async with self._opened().post(
                self._url, data=body, proxy=self._proxy, allow_redirects=False
            ) as response:
                if response.status != HTTPStatus.OK:
                    said = await _error_body(response)
                    raise self.failures.status(response.status, response.headers, said)
                yield Reading(response, self.failures)
        except aiohttp.SocketTimeoutError:
            raise self.failures.silent(begun=False) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self.failures.unreachable(
                str(error) or type(error).__name__,
                retry=not isinstance(error, _FINAL),
            ) from None

    async def close(self) -> None:
        """Let the connections go."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=self._timeout,
                # Servers drop idle connections after five seconds or more; ours go before that.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0),
                cookie_jar=aiohttp.DummyCookieJar(),
                max_line_size=_HEADER_BYTES,
                max_field_size=_HEADER_BYTES,
            )
        return self._session


def _proxy_of(url: str) -> str | None:
    """The proxy that the environment names for this address; none for the machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in _LOOPBACK or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


async def _error_body(response: aiohttp.ClientResponse) -> bytes:
    """What the server says with its error: as much as comes soon, bounded."""
    body = b""
    with contextlib.suppress(aiohttp.ClientError, TimeoutError):
        async with asyncio.timeout(5.0):
            while len(body) < _ERROR_BYTES and (piece := await response.content.readany()):
                body += piece
    return body[:_ERROR_BYTES]


def _form_of(piece: bytes) -> str:
    first = piece.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not first:
        return ""
    return {b"{": "json", b"[": "json", b"<": "page"}.get(first, "stream")
