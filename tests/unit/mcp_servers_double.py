"""MCP servers in memory: they offer what a test puts there, note what they are asked."""

from collections.abc import Callable, Mapping
from typing import Any

from redshank_node.mcp_client.calling import Called, TextContent
from redshank_node.mcp_client.failures import McpFailure
from redshank_node.mcp_client.inventory import Inventory
from redshank_node.tools.tool import CallContext, Workspace
from redshank_shared.settings.mcp_server import McpServer


class ServersInMemory:
    """Each of them answers `answer`, or fails with `failure`."""

    def __init__(self, *inventories: Inventory, **records: McpServer) -> None:
        self.revision = 1
        self.follows = True
        self.offered = {found.server: found for found in inventories}
        # What they say by now, where what they offer stays behind.
        self.says: dict[str, Inventory] = {}
        self.records = {
            name: records.get(name, McpServer(name=name, command="x")) for name in self.offered
        }
        self.answer = Called((TextContent("hello"),))
        self.failure: McpFailure | None = None
        self.asked: list[tuple[object, ...]] = []

    def inventories(self) -> Mapping[str, Inventory]:
        return self.offered

    def said(self, name: str) -> Inventory | None:
        return self.says.get(name, self.offered.get(name))

    def record(self, name: str) -> McpServer | None:
        return self.records.get(name)

    def put(self, inventory: Inventory) -> None:
        """The server offers this from now on."""
        self.offered = {**self.offered, inventory.server: inventory}
        name = inventory.server
        self.records.setdefault(name, McpServer(name=name, command="x"))
        self.revision += 1

    def drop(self, name: str) -> None:
        """There is no such server any more."""
        self.offered = {key: found for key, found in self.offered.items() if key != name}
        del self.records[name]
        self.revision += 1

    def asleep(self) -> tuple[str, ...]:
        return ()

    async def wake(self, server: str) -> None:
        raise AssertionError(f"{server} is awake")

    async def call(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        timeout_seconds: float,
        on_progress: Callable[[str], None] | None,
        is_same: Callable[[], bool] | None = None,
    ) -> Called:
        if on_progress is not None:
            on_progress("half\x1b[2J way")
        return self._answered("call", server, tool, arguments, timeout_seconds)

    async def read_resource(self, server: str, uri: str, timeout_seconds: float) -> Called:
        return self._answered("read", server, uri, timeout_seconds)

    async def get_prompt(
        self, server: str, name: str, arguments: dict[str, str], timeout_seconds: float
    ) -> Called:
        return self._answered("prompt", server, name, arguments, timeout_seconds)

    def _answered(self, *asked: object) -> Called:
        self.asked.append(asked)
        if self.failure is not None:
            raise self.failure
        return self.answer


def context(workspace: Workspace, shown: list[str] | None = None) -> CallContext:
    """What a call is given, its progress noted in `shown`."""
    noted = shown if shown is not None else []
    return CallContext("call_1", workspace, noted.append)
