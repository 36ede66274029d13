"""Says where a URL leads, judged by its text alone."""

import ipaddress
import re
from typing import Literal
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from redshank_node.tools.support.addresses import is_public

Reach = Literal["public", "private", "never"]

MOST_CHARACTERS = 8192
_PORTS = {"http": 80, "https": 443}
# As browsers do: a last label of digits, or of 0x with hexadecimal ones, makes an IPv4 address.
_NUMERIC_END = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_LONGEST_HOST = 253
_CREDENTIALS = re.compile(r"(//|:)[^/?#]*@")
# What stays as it is in a path or a query; the rest is encoded, so that no blank or half a
# character reaches a header.
_KEPT = "/%:?#[]@!$&'()*+,;=-._~"
# Networks that somebody runs for themselves; all else that is not public is for no one to fetch.
_PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        (
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "127.0.0.0/8",
            "100.64.0.0/10",
            "::1/128",
            "fc00::/7",
        ),
    )
)
# A cloud's metadata within such a network: it hands out credentials.
_METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200")))


class Refused(Exception):
    """This is not fetched. The message says why; it goes to the model."""


class Target(msgspec.Struct, frozen=True):
    """Where a URL leads. `host` is lower-case ASCII, an IPv6 address without brackets; `path` goes
    with its query. `is_address`: the host is a numeric address, no name.
    """

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str
    is_address: bool

    @property
    def url(self) -> str:
        """The URL as it is requested: every reader of it sees the same host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def target_of(url: str) -> Target:
    """Where this URL leads; Refused unless every reader would agree on it (T-30, K-13, F20, F63).

    No other scheme, no credentials, no address in a form that only some read as one.
    """
    if len(url) > MOST_CHARACTERS:
        raise Refused(f"it has {len(url)} characters, at most {MOST_CHARACTERS} are taken")
    if not url.isprintable() or any(sign.isspace() or sign == "\\" for sign in url):
        raise Refused("it holds a blank, a backslash or a control character; encode it with %")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused(f"it is no URL: {error}") from error
    scheme = parts.scheme
    if scheme not in ("http", "https"):
        raise Refused("it must begin with http:// or https://")
    if "@" in parts.netloc:
        raise Refused("it carries credentials before an @; leave them out")
    if port == 0:
        raise Refused("port 0 is no port")
    host, is_address = _host(parts.netloc)
    path = quote(parts.path or "/", safe=_KEPT) + (
        f"?{quote(parts.query, safe=_KEPT)}" if parts.query else ""
    )
    return Target(
        "https" if scheme == "https" else "http", host, port or _PORTS[scheme], path, is_address
    )


def onward(target: Target, location: str) -> Target:
    """Where a redirect from this target leads; Refused as for any URL."""
    return target_of(urljoin(target.url, location.strip().replace(" ", "%20")))


def shown(location: str) -> str:
    """A redirect's address as it is told: cut, without credentials that somebody put into it."""
    return _CREDENTIALS.sub(r"\1...@", location[:200])


def reach_of(address: str) -> Reach:
    """Who may be meant by a numeric address, as a socket is connected to it (F63).

    private: loopback and the networks that people run for themselves, where the operator may let
    agents in; never: link-local and metadata addresses, multicast, reserved ranges, IPv4 wrapped in
    IPv6, whatever is no address.
    """
    if is_public(address):
        return "public"
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "never"
    if parsed in _METADATA:
        return "never"
    inside = any(parsed.version == each.version and parsed in each for each in _PRIVATE)
    return "private" if inside else "never"


def is_local_name(host: str) -> bool:
    """Whether a name means this machine, whatever a name server says."""
    return host == "localhost" or host.endswith(".localhost")


def _host(netloc: str) -> tuple[str, bool]:
    """(host in one form, whether it is an address); the port is already known to be one."""
    if netloc.startswith("["):
        inner = netloc[1:].partition("]")[0]
        if "%" in inner:
            raise Refused(f"[{inner}] names an interface of this machine")
        try:
            return str(ipaddress.IPv6Address(inner)), True
        except ValueError as error:
            raise Refused(f"[{inner}] is no IPv6 address") from error
    host = _folded(netloc.partition(":")[0])
    if _NUMERIC_END.search(host):
        try:
            return str(ipaddress.IPv4Address(host)), True
        except ValueError as error:
            raise Refused(f"{host} is an address in no usual form; write a.b.c.d") from error
    if len(host) > _LONGEST_HOST or not all(map(_LABEL.fullmatch, host.split("."))):
        raise Refused(f"{host[:100]!r} is no host name")
    return host, False


def _folded(host: str) -> str:
    """The name as it is asked for: IDNA makes one dot of all dots, one digit of all digits."""
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError as error:
            raise Refused(f"{host[:100]!r} is no host name") from error
    return host.lower().removesuffix(".")
