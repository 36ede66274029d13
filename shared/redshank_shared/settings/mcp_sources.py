"""Reads MCP servers in the forms that people have them in (K-56, T-70, C-51)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.mcp_server import McpServer, check
from redshank_shared.settings.reading import section_from

_JSON_WAYS = {"stdio": "command", "http": "url", "streamable-http": "url", "streamable_http": "url"}


def find_servers(
    tables: Any,
    codex_tables: Mapping[str, Any],
    config: str,
    where: str,
    of_catalog: tuple[McpServer, ...] = (),
) -> tuple[McpServer, ...]:
    """The checked servers of `[mcp.servers.*]`, `[mcp_servers.*]`, the file `config` if one is
    named, those that profiles chose `of_catalog`. Misconfigured names source, field, mend.
    """
    if not isinstance(tables, dict):
        raise Misconfigured(
            f"{where}: mcp.servers is a table: write [mcp.servers.NAME]", field="mcp.servers"
        )
    sources = [
        (f"{where}: [mcp.servers]", from_toml(tables, where)),
        (f"{where}: [mcp_servers]", from_toml(codex_tables, where)),
    ]
    if config:
        sources.append((config, from_json(_read(config), config)))
    sources.append(("the catalog, by mcp.profiles", of_catalog))
    servers = together(sources)
    check(servers)
    return servers


def from_toml(tables: Mapping[str, Any], where: str) -> tuple[McpServer, ...]:
    """`[mcp.servers.NAME]` or `[mcp_servers.NAME]`; a `type` beside the fields must agree."""
    return tuple(_server(name, table, where) for name, table in tables.items())


def from_json(text: str, where: str) -> tuple[McpServer, ...]:
    """The usual `mcpServers` object."""
    try:
        document = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Misconfigured(f"{where} is not JSON: {error}", field="mcp.config") from error
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise Misconfigured(
            f'{where} has no object "mcpServers": write {{"mcpServers": {{"name": {{…}}}}}}',
            field="mcp.config",
        )
    return from_toml(servers, where)


def from_mcp_toml(tables: Mapping[str, Any], where: str) -> tuple[McpServer, ...]:
    """`[servers.NAME]` with url, timeout (ms, one for the start, one for each call), headers."""
    found = []
    for name, table in tables.items():
        fields = dict(_table(name, table, where))
        timeout = fields.pop("timeout", 60_000)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise Misconfigured(
                f"{where}: servers.{name}.timeout is {timeout!r}; it takes milliseconds above 0",
                field=f"mcp.servers.{name}.timeout",
            )
        seconds = {"startup_timeout_sec": timeout / 1000, "tool_timeout_sec": timeout / 1000}
        found.append(_server(name, {**fields, **seconds}, where))
    return tuple(found)


def together(sources: Iterable[tuple[str, tuple[McpServer, ...]]]) -> tuple[McpServer, ...]:
    """The servers of all sources (where, servers); one name in two of them is Misconfigured."""
    found: dict[str, tuple[str, McpServer]] = {}
    for where, servers in sources:
        for server in servers:
            other, _ = found.setdefault(server.name, (where, server))
            if other != where:
                raise Misconfigured(
                    f"MCP server {server.name} stands in {other}, and in {where}: keep one",
                    code="mcp_name_collision",
                    field=f"mcp.servers.{server.name}",
                )
    return tuple(server for _, server in found.values())


def _read(config: str) -> str:
    try:
        return Path(config).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(
            f"mcp.config names {config}, which cannot be read ({error}): mend the path",
            field="mcp.config",
        ) from error


def _server(name: str, table: Any, where: str) -> McpServer:
    fields = dict(_table(name, table, where))
    way = fields.pop("type", None) or fields.pop("transport", None)
    _check_way(name, way, fields)
    if "disabled" in fields:
        fields["enabled"] = not fields.pop("disabled")
    dotted = f"mcp.servers.{name}"
    server = section_from(McpServer, fields, f"{where}: MCP server {name}", dotted)
    assert isinstance(server, McpServer)
    return msgspec.structs.replace(server, name=name)


def _check_way(name: str, way: object, fields: Mapping[str, Any]) -> None:
    if way is None:
        return
    field = f"mcp.servers.{name}.type"
    if not isinstance(way, str) or way not in _JSON_WAYS:
        raise Misconfigured(
            f"MCP server {name} has type {way!r}; there are stdio and http (streamable): the older "
            "SSE transport is not spoken, ask the server's makers for its streamable address",
            code="mcp_misconfigured",
            field=field,
        )
    if _JSON_WAYS[way] not in fields:
        raise Misconfigured(
            f"MCP server {name} has type {way} without {_JSON_WAYS[way]}: give it, or mend type",
            code="mcp_misconfigured",
            field=field,
        )


def _table(name: str, table: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(table, dict):
        raise Misconfigured(
            f"{where}: MCP server {name} must be a table of its fields",
            field=f"mcp.servers.{name}",
        )
    return table
