"""Speaks HTTP to the servers of a login: bounded, never redirected, soon over."""

from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec

from redshank_shared.domain.masking import shown_url
from redshank_shared.domain.oauth_failures import TokensUnavailable
from redshank_shared.domain.oauth_flow import Form

ANSWER_SECONDS = 10.0
_CONNECT_SECONDS = 5.0
MOST_BYTES = 256 * 1024


class Answer(msgspec.Struct, frozen=True):
    """What a server answered. `challenge`: its WWW-Authenticate header."""

    status: int
    body: bytes
    challenge: str = ""


class Requests:
    """One request a connection; nothing is kept between two. Every method raises TokensUnavailable
    where no whole answer comes within 10 s or 256 KiB. An address was checked before it gets here.
    """

    async def get(self, address: str) -> Answer:
        """A document."""
        return await self._ask("GET", address)

    async def post_json(self, address: str, body: object) -> Answer:
        """The answer to a JSON body."""
        # A server that takes only MCP's own two kinds must not refuse for the kind.
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        return await self._ask("POST", address, headers, data=msgspec.json.encode(body))

    async def post_form(self, address: str, form: Form) -> Answer:
        """The answer to a form; it holds secrets, so it is in no error."""
        headers = {"authorization": form.authorization} if form.authorization else {}
        return await self._ask("POST", address, headers, data=dict(form.fields))

    async def _ask(
        self, method: str, address: str, headers: Mapping[str, str] | None = None, **sent: Any
    ) -> Answer:
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=_CONNECT_SECONDS)
        given = {"accept": "application/json", **(headers or {})}
        try:
            async with (
                aiohttp.ClientSession(
                    timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
                ) as session,
                session.request(
                    method, address, headers=given, allow_redirects=False, **sent
                ) as response,
            ):
                body = await _bounded(response)
                challenge = ", ".join(response.headers.getall("WWW-Authenticate", ()))
                return Answer(response.status, body, challenge)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise TokensUnavailable(
                f"{shown_url(address)} does not answer ({_why(error)}): try again once it does"
            ) from None


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    # The answer of a stream has no end of its own; its head says all that is asked of it.
    if response.content_type == "text/event-stream":
        return b""
    body = b""
    async for piece in response.content.iter_chunked(MOST_BYTES):
        body += piece
        if len(body) > MOST_BYTES:
            raise aiohttp.ClientPayloadError("more than 256 KiB")
    return body


def _why(error: BaseException) -> str:
    return type(error).__name__ if isinstance(error, TimeoutError) else str(error)[:200]
