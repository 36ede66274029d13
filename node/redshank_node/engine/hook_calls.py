"""Asks a hook over HTTP: no redirect, no proxy, the address judged as it is connected."""

import asyncio
import socket
from http import HTTPStatus
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver

from redshank_node.engine.hook_asking import MOST_ANSWER_BYTES, HookFailed
from redshank_node.tools.support.addresses import is_public
from redshank_shared.settings.hooks import Hook
from redshank_shared.wire.version import VERSION

_AGAIN = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class PrivateAddress(OSError):
    """The address leads inside; no connection was opened."""


async def ask_url(
    hook: Hook,
    question: bytes,
    key: str,
    timeout_seconds: float,
    resolver: AbstractResolver | None = None,
) -> bytes:
    """The body of the answer, at most 64 KiB; HookFailed for another status than 200, for a
    redirect, for an address inside unless the hook allows it, for silence, for whatever breaks on
    the way.

    The name is resolved once; what it resolves to is judged by the very address that is connected,
    so that no second answer of a name server counts (F63).
    """
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": f"redshank/{VERSION}",
        "Idempotency-Key": key,
    }
    connector = aiohttp.TCPConnector(
        resolver=resolver,
        use_dns_cache=False,
        force_close=True,
        socket_factory=_any_socket if hook.allow_private else _outside_socket,
    )
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
            ) as session,
            session.post(
                hook.url, data=question, headers=headers, allow_redirects=False
            ) as response,
        ):
            return await _body(response)
    except aiohttp.ClientConnectorError as error:
        inside = isinstance(error.os_error, PrivateAddress)
        raise HookFailed(f"it is not reached: {error.os_error}", final=inside) from error
    except TimeoutError as error:
        raise HookFailed(f"it gave no answer within {timeout_seconds:.3g} s") from error
    except (aiohttp.ClientError, OSError) as error:
        raise HookFailed(f"it is not reached: {str(error) or type(error).__name__}") from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    if response.status != HTTPStatus.OK:
        raise _refusal(response)
    body = b""
    while piece := await response.content.readany():
        body += piece
        if len(body) > MOST_ANSWER_BYTES:
            raise HookFailed(f"it answers with more than {MOST_ANSWER_BYTES} bytes")
    return body


def _refusal(response: aiohttp.ClientResponse) -> HookFailed:
    status = response.status
    if 300 <= status < 400:
        said = f"it answers {status}, a redirect, which is not followed: set url to where it leads"
        return HookFailed(said, final=True)
    final = 400 <= status < 500 and status not in _AGAIN
    return HookFailed(f"it answers {status}, not 200", final=final)


def _any_socket(info: _AddressInfo) -> socket.socket:
    family, kind, protocol, _, _ = info
    return socket.socket(family=family, type=kind, proto=protocol)


def _outside_socket(info: _AddressInfo) -> socket.socket:
    address = info[4][0]
    if not is_public(str(address)):
        raise PrivateAddress(
            f"{address} lies inside; where that is meant, set allow_private = true for this hook"
        )
    return _any_socket(info)
