"""What the connections of a node stand on, handed in."""

import pathlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

import msgspec

from redshank_node.tools.tool import Sandboxing
from redshank_shared.settings.mcp_server import McpServer


class Surroundings(msgspec.Struct, frozen=True):
    """`value` opens a slot as `LiveSecrets.value` does; `inherited` is what a child of this process
    may see of its environment, `variables` the whole of it, for headers that name a variable;
    `folder` is where a command runs that names no `cwd`; `random` gives a number from 0 to below 1.

    `authorize` gives the bearer token for the next request to a server with an OAuth account; it
    raises LoginNeeded where somebody must log in first, ScopedUseOnly while the server `sleeps`.
    `refused` hears the `WWW-Authenticate` of an answer with the token that was refused. `admit`
    hears that a session whose credential scope allows the server uses it (K-64).
    """

    value: Callable[[str], Awaitable[str]]
    redact: Callable[[str], str]
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    random: Callable[[], float]
    folder: pathlib.Path
    inherited: Mapping[str, str] = {}
    variables: Mapping[str, str] = {}
    sandbox: Sandboxing | None = None
    authorize: Callable[[McpServer], Awaitable[str | None]] | None = None
    refused: Callable[[McpServer, str, str], Awaitable[None]] | None = None
    admit: Callable[[McpServer], None] | None = None
    sleeps: Callable[[McpServer], bool] | None = None
