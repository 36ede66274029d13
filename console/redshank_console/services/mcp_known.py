"""Knows the cluster's MCP servers: those of the settings, those that were added."""

from collections.abc import Iterable
from typing import Any

import msgspec

from redshank_shared.settings.mcp_server import McpServer, public_fields
from redshank_shared.stores.mcp_servers import StoredServer
from redshank_shared.wire.mcp_catalogue import ListedServer, Origin
from redshank_shared.wire.mcp_views import McpAuth

_decode = msgspec.json.Decoder(McpServer).decode


class KnownServer(msgspec.Struct, frozen=True):
    """A server by its public fields: secrets are masked in `record` (K-62)."""

    name: str
    origin: Origin
    record: dict[str, Any]
    added_by: str = ""
    added_at: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether it is asked over HTTP."""
        return bool(self.record.get("url"))

    @property
    def address(self) -> str:
        """Its URL or its command line."""
        if self.is_remote:
            return str(self.record["url"])
        words = (self.record.get("command", ""), *self.record.get("args", ()))
        return " ".join(str(word) for word in words)

    @property
    def auth(self) -> McpAuth:
        """By what the server knows who asks."""
        record = self.record
        if record.get("oauth_slot_ref"):
            return "oauth"
        if record.get("bearer_token_secret_ref") or record.get("bearer_token_env_var"):
            return "bearer"
        headers = ("headers", "env_http_headers", "http_header_secret_refs")
        if any(record.get(name) for name in headers):
            return "headers"
        return "environment" if record.get("env_secret_refs") else "none"


def of_settings(servers: Iterable[McpServer]) -> list[KnownServer]:
    """The servers that this console's own settings name."""
    return [KnownServer(server.name, "settings", public_fields(server)) for server in servers]


def of_rows(rows: Iterable[StoredServer]) -> list[KnownServer]:
    """The servers that were added."""
    return [
        KnownServer(row.name, "added", public_fields(_read(row)), row.added_by, row.added_at)
        for row in rows
    ]


def of_catalogue(listed: ListedServer) -> KnownServer:
    """A server that only a node's settings name."""
    return KnownServer(listed.name, listed.origin, listed.record)


def _read(row: StoredServer) -> McpServer:
    """What a newer version wrote may not be readable here: its name is all that is known then."""
    try:
        return _decode(row.record)
    except msgspec.DecodeError:
        return McpServer(name=row.name)
