"""Turns what a command line says of an MCP server into its record."""

from collections.abc import Mapping
from typing import Any

from redshank_shared.client.mcp import McpClient, Server
from redshank_shared.domain.errors import Invalid

_TABLES = ("env", "env_secret_refs", "headers", "http_header_secret_refs")
_FLAGS = {
    "env": "--env",
    "env_secret_refs": "--env-slot",
    "headers": "--header",
    "http_header_secret_refs": "--header-slot",
}


def given_record(catalogued: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the catalog with those that were given over them; what was not given is left
    to the console. Invalid names a flag that is no NAME=VALUE.
    """
    record = dict(catalogued)
    for field, value in given.items():
        if field in _TABLES and value:
            record[field] = {**record.get(field, {}), **dict(_pair(field, each) for each in value)}
        elif value not in (None, "", [], False):
            record[field] = value
    if not record.get("command") and not record.get("url"):
        raise Invalid(
            "say how the server is reached: --address URL, or a command behind --, such as "
            "`redshank mcp add time -- uvx mcp-server-time`",
            field="--address",
        )
    return record


def added(client: McpClient, name: str, record: Mapping[str, Any], *, replace: bool) -> Server:
    """The server as the console has it now."""
    if replace:
        return client.replace(name, record)
    return client.add({"name": name, **record})


def _pair(field: str, text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not name or not separator:
        # The value may be a secret that somebody mistyped: it is not repeated.
        raise Invalid(f"{_FLAGS[field]} takes NAME=VALUE", field=_FLAGS[field])
    return name, value
