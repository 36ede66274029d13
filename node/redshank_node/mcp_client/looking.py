"""Looks once at what the configured MCP servers offer, as a dry run shows it."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from redshank_node.mcp_client.harmless import one_line
from redshank_node.mcp_client.naming import named
from redshank_node.mcp_client.node_servers import as_strict_as
from redshank_node.mcp_client.starting import servers_of
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.domain.errors import Invalid, Misconfigured, NotFound, RedshankError
from redshank_shared.profiles.profile import load
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.sections import Settings

_LINE_CHARACTERS = 500


class Looked(msgspec.Struct, frozen=True):
    """`lines`: what each server is like, by name; `errors`: what to mend, its field first."""

    lines: Mapping[str, tuple[str, ...]] = {}
    errors: tuple[str, ...] = ()


async def looked_at(settings: Settings, redact: Callable[[str], str]) -> Looked:
    """Connect to each server that needs no slot, list its tools, close; no tool is called (C-55).
    A server with slots is not asked: only a node opens them.
    """
    asked = tuple(each for each in settings.mcp_servers if each.enabled and not each.slots())
    lines: dict[str, tuple[str, ...]] = {
        each.name: (_unasked(each),) for each in settings.mcp_servers if each not in asked
    }
    if not asked:
        return Looked(lines)
    here = msgspec.structs.replace(settings, mcp_servers=asked)
    # One of the operator's own profiles is known once the dry run has read it.
    with contextlib.suppress(Invalid):
        here = as_strict_as(here, load(settings.default.profile))
    folder = Path(settings.node.workspace or ".").resolve()
    try:
        servers = servers_of(here, _no_slot, redact, folder)
    except Misconfigured as wrong:
        return Looked(lines, (_error(wrong),))
    stop = asyncio.Event()
    errors: list[str] = []
    async with asyncio.TaskGroup() as group:
        group.create_task(servers.run(stop))
        try:
            await servers.started()
        except RedshankError as wrong:
            errors.append(_error(wrong))
        finally:
            lines |= _told(servers)
            stop.set()
    return Looked(lines, tuple(errors))


def _told(servers: McpServers) -> dict[str, tuple[str, ...]]:
    inventories = servers.inventories()
    names = named(inventories)
    told: dict[str, tuple[str, ...]] = {}
    for status in servers.statuses():
        head = f"MCP server {status.name}: {status.state}"
        why = f" ({one_line(status.detail, _LINE_CHARACTERS)})" if status.detail else ""
        tools = [f"  {each.name}" for each in names.tools if each.server == status.name]
        found = inventories.get(status.name)
        dropped = [*(found.dropped if found else ())]
        dropped += [each for server, each in names.dropped if server == status.name]
        left_out = [
            f"  left out: {one_line(each.name, 80)}: {one_line(each.why, _LINE_CHARACTERS)}"
            for each in dropped
        ]
        told[status.name] = (f"{head}{why}", *tools, *left_out)
    return told


def _unasked(server: McpServer) -> str:
    if not server.enabled:
        return f"MCP server {server.name}: disabled"
    slots = ", ".join(server.slots())
    return f"MCP server {server.name}: its tools are known when a node has opened {slots}"


async def _no_slot(slot: str) -> str:
    raise NotFound(f"a dry run opens no slot, and {slot} was asked for", field=slot)


def _error(wrong: RedshankError) -> str:
    return f"{wrong.field}: {wrong.detail}" if wrong.field else wrong.detail
