"""Connects to judged addresses alone: a name is looked up once, each of its answers judged."""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Collection
from typing import Any

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult

from redshank_node.tools.support.web.addresses import (
    Refused,
    Target,
    is_local_name,
    reach_of,
)

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


def system_addresses(host: str) -> tuple[str, ...]:
    """What this machine resolves a name to; OSError where that is nothing. Blocks."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def plain_socket(info: AddressInfo) -> socket.socket:
    """A socket for this address."""
    family, kind, protocol, _, _ = info
    return socket.socket(family=family, type=kind, proto=protocol)


class Network(msgspec.Struct, frozen=True):
    """How names are looked up, sockets made. `tls`: whom to trust, None: whom the machine does."""

    resolve: Callable[[str], tuple[str, ...]] = system_addresses
    open_socket: Callable[[AddressInfo], socket.socket] = plain_socket
    tls: ssl.SSLContext | None = None


SYSTEM = Network()


class Located(msgspec.Struct, frozen=True):
    """The addresses that a target's host has, all of one kind. `is_private`: they lie inside."""

    addresses: tuple[str, ...]
    is_private: bool


def located(target: Target, network: Network) -> Located:
    """Where a target lies. Answers inside are dropped where there are others; Refused where none
    may be meant by anybody (F63). Blocks for as long as the name server takes.
    """
    answers = _answers(target, network)
    public = tuple(each for each in answers if reach_of(each) == "public")
    if public and not is_local_name(target.host):
        return Located(public, is_private=False)
    private = tuple(sorted(each for each in answers if reach_of(each) == "private"))
    if private:
        return Located(private, is_private=True)
    raise Refused(f"{_said(target, answers)} is reserved, link-local or wrapped: never fetched")


def inside(target: Target, addresses: Collection[str]) -> Refused:
    """The refusal of a target that lies inside."""
    return Refused(
        f"{_said(target, addresses)} lies in a private network; an operator may set "
        "tools.allow_private_network, then a person is asked"
    )


def session_to(addresses: Collection[str], host: str, network: Network) -> aiohttp.ClientSession:
    """A session whose connections go to these addresses, to no other: a name server that answers
    differently now is not asked (F20). No proxy, no cookies, no redirects of its own.
    """
    allowed = frozenset(map(ipaddress.ip_address, addresses))

    def open_allowed(info: AddressInfo) -> socket.socket:
        if ipaddress.ip_address(str(info[4][0]).partition("%")[0]) not in allowed:
            raise PermissionError(f"{info[4][0]} is not the address that was judged")
        return network.open_socket(info)

    connector = aiohttp.TCPConnector(
        resolver=_Pinned(host, tuple(addresses)),
        use_dns_cache=False,
        force_close=True,
        ssl=network.tls or True,
        socket_factory=open_allowed,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None),
    )


class _Pinned(AbstractResolver):
    """Answers with addresses that were judged."""

    def __init__(self, host: str, addresses: tuple[str, ...]) -> None:
        self._host = host
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if host != self._host:
            raise OSError(f"{host} was not judged")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""


def _answers(target: Target, network: Network) -> tuple[str, ...]:
    if target.is_address:
        return (target.host,)
    try:
        answers = network.resolve(target.host)
    except (OSError, UnicodeError) as error:
        raise Refused(f"the name {target.host} does not resolve") from error
    if not answers:
        raise Refused(f"the name {target.host} does not resolve")
    return answers


def _said(target: Target, addresses: Collection[str]) -> str:
    if target.is_address:
        return target.host
    return f"{target.host} ({', '.join(sorted(addresses)[:4])})"
