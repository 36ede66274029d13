"""Asks an HTTP service that the operator named: inside or outside, bounded, without redirects."""

import aiohttp

from redshank_shared.wire.version import VERSION

_CONNECT_SECONDS = 5.0


class Unanswered(Exception):
    """The service gave no answer. The message says why, in words without the question or a key;
    `status` is the HTTP one, 0 where none came.
    """

    def __init__(self, said: str, status: int = 0) -> None:
        super().__init__(said)
        self.status = status


async def asked(
    method: str,
    url: str,
    seconds: float,
    most_bytes: int,
    *,
    query: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> bytes:
    """The body of its 200; Unanswered for all else, for more than so many bytes, for silence."""
    timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(
                timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
            ) as session,
            session.request(
                method,
                url,
                params=query,
                data=body,
                headers={"User-Agent": f"redshank/{VERSION}", **(headers or {})},
                allow_redirects=False,
            ) as response,
        ):
            if response.status != 200:
                raise Unanswered(f"it answers {response.status}", response.status)
            return await _read(response, most_bytes)
    except TimeoutError as error:
        raise Unanswered(f"it gave no answer within {seconds:g} s") from error
    except aiohttp.ClientConnectorError as error:
        raise Unanswered(
            f"it is not reached: {error.os_error.strerror or 'no connection'}"
        ) from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise Unanswered(f"it broke off ({type(error).__name__})") from error


async def _read(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    body = b""
    while piece := await response.content.readany():
        body += piece
        if len(body) > most_bytes:
            raise Unanswered(f"it answers with more than {most_bytes} bytes")
    return body
