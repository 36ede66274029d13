"""Searches the web by a tool of an MCP server, where the operator names one (T-31)."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from redshank_node.mcp_client.as_said import SaidNow
from redshank_node.mcp_client.bounded import parts, whole
from redshank_node.mcp_client.calling import Servers
from redshank_node.mcp_client.failures import McpFailure
from redshank_node.mcp_client.remote_tool import destination
from redshank_node.tools.tool import Destination, NoAnswer, Tool

_QUERY = ("query", "q", "search_query", "search", "text", "input")
_COUNT = ("max_results", "count", "num_results", "numResults", "limit", "n")
_CHANGED = (
    "its server says something else of it than what was accepted; a person accepts it on the page "
    "of MCP servers, or by allowing a call of it"
)


class McpSearch:
    """`backend`: `mcp:server:tool`, as in tools.web_search_backend; `tools` gives what is offered
    now, `change` what a tool's server changed since it was accepted.
    """

    def __init__(
        self,
        backend: str,
        servers: Servers,
        tools: Callable[[], Iterable[Tool]],
        change: Callable[[Tool], Awaitable[str]],
    ) -> None:
        _, self._server, self._tool = (*backend.split(":", 2), "", "")[:3]
        self._backend = backend
        self._servers = servers
        self._tools = tools
        self._change = change

    def to(self) -> Destination:
        """Where a search goes."""
        record = self._servers.record(self._server)
        return destination(record) if record else Destination(self._server)

    async def find(self, query: str, most: int, seconds: float) -> str:
        """What the tool answers, bounded, unlabelled. NoAnswer says why there is nothing, with the
        mend.
        """
        tool = self._found().as_said_now()
        said = SaidNow(self._servers, self._server, self._tool)
        if await self._change(tool):
            raise NoAnswer(f"{self._backend} is not asked: {_CHANGED}")
        properties = tool.parameters["properties"]
        arguments: dict[str, Any] = {_named(_QUERY, properties, "query"): query}
        count = next((name for name in _COUNT if name in properties), "")
        if count and properties[count].get("type") in ("integer", "number"):
            arguments[count] = most
        try:
            called = await self._servers.call(
                self._server,
                self._tool,
                arguments,
                seconds,
                None,
                lambda: said.is_still(tool.described),
            )
        except McpFailure as failed:
            raise NoAnswer(str(failed)) from failed
        found = parts(called, "text")
        text = whole((part for part in found.said if isinstance(part, str)), found.structured)
        if called.is_error:
            raise NoAnswer(f"MCP server {self._server} answers with an error: {text[:500]}")
        return text

    def _found(self) -> Tool:
        for tool in self._tools():
            origin = tool.origin
            if origin and (origin.server, origin.name) == (self._server, self._tool):
                return tool
        raise NoAnswer(
            f"web search goes by {self._backend}, which no connected MCP server offers now; the "
            "operator looks at the server, or mends tools.web_search_backend"
        )


def _named(names: Iterable[str], properties: Mapping[str, Any], usual: str) -> str:
    """The argument that takes the query: one of these names, else the first text."""
    texts = (name for name, schema in properties.items() if schema.get("type") == "string")
    return next((name for name in names if name in properties), next(texts, usual))
