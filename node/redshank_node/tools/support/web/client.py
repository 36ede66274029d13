"""Fetches a URL over HTTP: each hop judged before it is asked, all of it bounded."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

import aiohttp
import msgspec
from yarl import URL

from redshank_node.tools.support.web.addresses import (
    Refused,
    Target,
    onward,
    shown,
)
from redshank_node.tools.support.web.bodies import UnknownEncoding, Unpacker
from redshank_node.tools.support.web.network import (
    Located,
    Network,
    inside,
    located,
    session_to,
)
from redshank_shared.wire.version import VERSION

MOST_BYTES = 5 * 1024 * 1024
MOST_REDIRECTS = 5
SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_REDIRECTS = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)
_HEADERS = {
    "User-Agent": f"redshank/{VERSION}",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.1",
    "Accept-Encoding": "gzip, deflate",
}


class Unreached(Exception):
    """Nothing whole came back. The message says why; it goes to the model."""


class Fetched(msgspec.Struct, frozen=True):
    """What a server answered in the end. `url` is where the last redirect led; `body` is unpacked,
    `cut`: it is the beginning of more.
    """

    url: str
    status: int
    content_type: str
    body: bytes
    cut: bool = False


async def fetch(
    target: Target,
    network: Network,
    approved: tuple[str, ...] = (),
    most_bytes: int = MOST_BYTES,
    seconds: float = SECONDS,
) -> Fetched:
    """The answer at this target, behind at most five redirects (T-30, K-13, F20, F63).

    `approved` are the private addresses that a person approved for the target's own host; without
    any, private hosts are refused, as they are behind every redirect from somewhere public. Raises
    Refused for where nothing was asked, naming the hop; Unreached for what failed on the way.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _followed(target, network, approved, most_bytes)
    except TimeoutError as error:
        raise Unreached(f"no whole answer within {seconds:g} s") from error
    except aiohttp.ClientError as error:
        raise Unreached(_said(error)) from error
    except OSError as error:
        raise Unreached(f"it is not reached: {error}") from error


async def _followed(
    target: Target, network: Network, approved: tuple[str, ...], most_bytes: int
) -> Fetched:
    first = target
    for hop in range(MOST_REDIRECTS + 1):
        if (target.host, target.port) != (first.host, first.port):
            approved = ()
        try:
            place = await _place(target, network, approved)
        except Refused as refused:
            raise _at_hop(hop, target, refused) from refused
        answer = await _asked(target, place, network, most_bytes)
        if isinstance(answer, Fetched):
            return answer
        try:
            target = onward(target, answer)
        except (Refused, ValueError) as refused:
            raise Refused(f"redirect {hop + 1} to {shown(answer)}: {refused}") from refused
    raise Unreached(f"it redirects more than {MOST_REDIRECTS} times")


async def _place(target: Target, network: Network, approved: tuple[str, ...]) -> Located:
    if approved:
        return Located(approved, is_private=True)
    place = await asyncio.to_thread(located, target, network)
    if place.is_private:
        raise inside(target, place.addresses)
    return place


def _at_hop(hop: int, target: Target, refused: Refused) -> Refused:
    return Refused(f"redirect {hop} to {target.url[:200]}: {refused}") if hop else refused


async def _asked(
    target: Target, place: Located, network: Network, most_bytes: int
) -> Fetched | str:
    """The answer, or where a redirect leads."""
    async with (
        session_to(place.addresses, target.host, network) as session,
        session.get(
            URL(target.url, encoded=True),
            headers=_HEADERS,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        ) as response,
    ):
        if response.status in _REDIRECTS and "Location" in response.headers:
            return response.headers["Location"]
        body, cut = await _body(response, most_bytes)
        kind = response.headers.get("Content-Type", "")
        return Fetched(target.url, response.status, kind, body, cut)


async def _body(response: aiohttp.ClientResponse, most_bytes: int) -> tuple[bytes, bool]:
    """What comes, unpacked, up to the bound; a body that says itself that it is larger is not
    read at all (K-13).
    """
    declared = _declared(response.headers)
    if declared > most_bytes:
        raise Unreached(
            f"it has {declared} bytes, at most {most_bytes} are fetched; download it with a command"
        )
    try:
        unpacker = Unpacker(response.headers.get("Content-Encoding", ""), most_bytes)
        while not unpacker.is_full and (piece := await response.content.read(65536)):
            unpacker.feed(piece)
    except UnknownEncoding as error:
        raise Unreached(str(error)) from error
    return unpacker.body(), unpacker.is_full or unpacker.is_unfinished


def _declared(headers: Mapping[str, str]) -> int:
    length = headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _said(error: aiohttp.ClientError) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"it is not reached: {error.os_error.strerror or error.os_error}"
    return f"it broke off: {str(error) or type(error).__name__}"
