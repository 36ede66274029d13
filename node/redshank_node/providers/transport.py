"""Asks a model server over HTTP: one client for the life of a provider, one reading per answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx

from redshank_node.providers.failures import Failures
from redshank_node.providers.provider import ModelSettings
from redshank_node.providers.sse import Event, EventSplitter

HELD_BYTES = 32 * 1024 * 1024
_ERROR_BYTES = 64 * 1024
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Reading:
    """The events of one answer, as many at a time as one read of the connection brought.

    A server that answers with one JSON body or a page instead of a stream gives a single event
    named `json` or `page`.
    """

    def __init__(self, response: httpx.Response, failures: Failures) -> None:
        self._pieces = response.aiter_bytes()
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
                piece = await anext(self._pieces, None)
        except TimeoutError:
            return None
        except httpx.ReadTimeout:
            raise self._failures.silent(begun=True) from None
        except (httpx.HTTPError, httpx.StreamError):
            piece = None
        if piece is None:
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
        timeout = httpx.Timeout(settings.timeout_seconds, connect=10.0, pool=None)
        self._client = httpx.AsyncClient(
            headers={
                "content-type": "application/json",
                "accept": "text/event-stream",
                "accept-encoding": "identity",
                **headers,
            },
            timeout=timeout,
            # Servers drop idle connections after five seconds or more; ours go before that.
            limits=httpx.Limits(max_keepalive_connections=64, keepalive_expiry=4.0),
            trust_env=httpx.URL(base_url).host not in _LOOPBACK,
        )

    @contextlib.asynccontextmanager
    async def ask(self, body: bytes) -> AsyncIterator[Reading]:
        """Post the body; the answer's events. Leaving stops the request. Raises ModelFailed."""
        try:
            async with self._client.stream("POST", self._url, content=body) as response:
                if response.status_code != httpx.codes.OK:
                    said = await _error_body(response)
                    raise self.failures.status(response.status_code, response.headers, said)
                yield Reading(response, self.failures)
        except httpx.ReadTimeout:
            raise self.failures.silent(begun=False) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            words = str(error) or type(error).__name__
            final = isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL)
            final = final or "CERTIFICATE_VERIFY_FAILED" in words
            raise self.failures.unreachable(words, retry=not final) from None

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()


async def _error_body(response: httpx.Response) -> bytes:
    """What the server says with its error: as much as comes soon, bounded."""
    body = b""
    with contextlib.suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(5.0):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) >= _ERROR_BYTES:
                    break
    return body[:_ERROR_BYTES]


def _form_of(piece: bytes) -> str:
    first = piece.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not first:
        return ""
    return {b"{": "json", b"[": "json", b"<": "page"}.get(first, "stream")
