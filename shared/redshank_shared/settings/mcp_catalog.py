"""The built-in catalog of MCP servers, the profiles that choose among them (K-56)."""

import functools
import importlib.resources
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.mcp_sources import from_toml

_FIELD = "mcp.profiles"


class CatalogServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server that Redshank knows how to start; `record`: the fields of its table."""

    title: str
    description: str
    made_by: str
    record: dict[str, Any]


class CatalogProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Servers of the catalog that go together."""

    description: str
    servers: tuple[str, ...]


class Catalog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Servers, profiles by name."""

    servers: dict[str, CatalogServer]
    profiles: dict[str, CatalogProfile]


@functools.cache
def catalog() -> Catalog:
    """What ships with Redshank."""
    files = importlib.resources.files("redshank_shared.settings")
    text = files.joinpath("mcp_catalog.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=Catalog)


def named_profiles(text: str) -> tuple[str, ...]:
    """The names in a text with commas between them, each once; Misconfigured for an unknown one."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    known = catalog().profiles
    for name in names:
        if name not in known:
            raise Misconfigured(
                f"{_FIELD}: there is no MCP profile {name}; there are {', '.join(known)}",
                code="mcp_profile_unknown",
                field=_FIELD,
            )
    return names


def of_profiles(names: Iterable[str]) -> tuple[McpServer, ...]:
    """The servers of these profiles; one that several name is there once."""
    known = catalog()
    chosen = dict.fromkeys(each for name in names for each in known.profiles[name].servers)
    return from_toml({name: known.servers[name].record for name in chosen}, "the catalog")


def check_profiles(
    names: Iterable[str],
    is_startable: Callable[[McpServer], bool],
) -> None:
    """Misconfigured for a profile of which no server can be started (K-56)."""
    for name in names:
        servers = of_profiles((name,))
        if not any(is_startable(server) for server in servers):
            raise Misconfigured(
                f"MCP profile {name}: none of {', '.join(each.name for each in servers)} can be "
                "started here: install the command that it needs, set its slots "
                f"(`redshank mcp catalog get {servers[0].name}` names them), or choose another "
                "profile",
                code="mcp_profile_empty",
                field=_FIELD,
            )


def has_its_command(server: McpServer, which: Callable[[str], str | None]) -> bool:
    """Whether a server's command is on this machine; always so for one that is asked over HTTP."""
    return not server.command or which(server.command) is not None


def fields_of(name: str) -> Mapping[str, Any]:
    """The fields to add a server of the catalog with; KeyError for an unknown one."""
    return catalog().servers[name].record
