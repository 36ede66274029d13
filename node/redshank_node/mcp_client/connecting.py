"""What a connection to an MCP server is, for those who know no library."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from redshank_node.mcp_client.calling import Called
from redshank_node.mcp_client.inventory import Inventory
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_shared.settings.mcp_server import McpServer


class Discovered(msgspec.Struct, frozen=True):
    """What a server offers, all of it, unfiltered. `incomplete`: why a part is missing that it
    declares, empty if none is.
    """

    inventory: Inventory
    incomplete: str = ""


class NotExecuted(Exception):
    """The server certainly did not act on the request: it may be sent again. `expired`: because
    the session is no longer known there.
    """

    def __init__(self, cause: str, *, expired: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.expired = expired


class Signals(Protocol):
    """What a connection tells its owner, from wherever it notices; none of these waits."""

    def list_changed(self) -> None:
        """The server says that it offers other things now."""

    def lost(self, cause: str) -> None:
        """Nothing can be asked any more."""

    def warned(self, warning: str) -> None:
        """A line for the server's status; neither bounded nor redacted."""


class Connection(Protocol):
    """One live connection. Requests are made from any task; each raises NotExecuted, or one of
    `failures` other than ServerUnavailable. The connection's end ends them all at once.
    """

    @property
    def answers(self) -> int:
        """How often the server answered anything so far, or said how far a request is."""

    async def ping(self) -> None:
        """Return once the server shows that it is there."""

    async def discover(self) -> Discovered:
        """Everything that the server offers now."""

    async def call_tool(
        self,
        tool: str,
        arguments: dict[str, Any],
        on_progress: Callable[[str], None] | None,
    ) -> Called:
        """Call a tool by the server's own name for it."""

    async def read_resource(self, uri: str) -> Called:
        """Read a resource."""

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> Called:
        """Have a prompt filled in."""

    async def listen(self) -> None:
        """Hear of changed lists as long as the connection lasts; returns at once where the server
        tells them unasked, or never.
        """


class Opener(Protocol):
    """Opens a connection for as long as the context lasts; entering raises McpFailure. All that it
    started is gone when the context is left.
    """

    def __call__(
        self, server: McpServer, surroundings: Surroundings, signals: Signals
    ) -> AbstractAsyncContextManager[Connection]: ...
