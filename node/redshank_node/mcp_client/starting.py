"""Makes a node's MCP servers from its settings."""

import pathlib
import random
from collections.abc import Awaitable, Callable

from redshank_node.mcp_client.oauth import OAuthAccess
from redshank_node.mcp_client.supervisor import McpServers, Rules
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_node.tools.support.commands.environment import scrubbed
from redshank_node.tools.tool import Sandboxing
from redshank_shared import clock
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.sections import Settings


def servers_of(
    settings: Settings,
    value: Callable[[str], Awaitable[str]],
    redact: Callable[[str], str],
    folder: pathlib.Path,
    sandbox: Sandboxing | None = None,
    oauth: OAuthAccess | None = None,
) -> McpServers:
    """The servers that the settings name, not yet started; nothing of the MCP library is loaded.

    `value` opens a slot, `folder` is where commands run; the rest is as in `Surroundings`.
    Misconfigured for a server whose way of reaching it `mcp.transports` leaves out (C-50).
    """
    environment = process_environment()
    surroundings = Surroundings(
        value=value,
        redact=redact,
        now=clock.now_utc,
        monotonic=clock.monotonic,
        random=random.random,
        folder=folder,
        inherited=scrubbed(environment),
        variables=environment,
        sandbox=sandbox,
        authorize=oauth.authorize if oauth else None,
        refused=oauth.refused if oauth else None,
        admit=oauth.admit if oauth else None,
        sleeps=oauth.sleeps if oauth else None,
    )
    for server in settings.mcp_servers:
        check_transport(server, settings.mcp.transports)
    mcp = settings.mcp
    return McpServers(
        settings.mcp_servers, surroundings, Rules(mcp.on_collision, mcp.on_failure, mcp.inventory)
    )


def check_transport(server: McpServer, transports: str) -> None:
    """Misconfigured for a server that is reached in a way that is not allowed here."""
    if transports not in ("both", server.transport):
        raise Misconfigured(
            f"MCP server {server.name} is reached over {server.transport}, and [mcp] transports is "
            f'{transports!r}: take the server out, or set transports = "both"',
            code="mcp_misconfigured",
            field=f"mcp.servers.{server.name}",
        )
