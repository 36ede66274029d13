"""Knows whether a server still says of a tool what was accepted (F64)."""

import difflib
from collections.abc import Callable, Iterable

import msgspec

from redshank_node.tools.tool import Prepared, Tool
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tools import AcceptedTool, McpTools, SeenTool

UNKNOWN = (
    "not run: the store cannot be reached, so whether the tool is still what was accepted is "
    "unknown; try again"
)
_MOST_DIFFERENCE_CHARACTERS = 8192
_MOST_LINES = 400
_MOST_NOTED = 20_000


class AcceptedTools:
    """One for a node. A tool is accepted as it is at first sight, which is recorded; whatever its
    server says otherwise later, a person must accept.
    """

    def __init__(self, database: Database, at: Callable[[], str]) -> None:
        self._database = database
        self._tools = McpTools(database)
        self._at = at
        self._noted: set[tuple[str, str, str]] = set()

    async def change(self, tool: Tool) -> str:
        """What the tool's server changed since it was accepted, in words for a person; empty where
        nothing, or where it comes from no server. Raises Unavailable.
        """
        seen = _seen(tool)
        if seen is None:
            return ""
        found = await self._database.run(self._tools.saw, seen, self._at())
        return "" if found.digest == seen.digest else difference(found, seen)

    async def accept(self, tool: Tool, by: str) -> None:
        """A person allowed the tool as it is now. Raises Unavailable."""
        seen = _seen(tool)
        if seen is not None:
            await self._database.run(self._tools.accept, seen, by, self._at())

    async def note(self, tools: Iterable[Tool]) -> None:
        """These are in sight: those seen for the first time are accepted, changes are recorded.
        What was noted once is not looked up again. Raises Unavailable.
        """
        new: dict[str, list[SeenTool]] = {}
        for tool in tools:
            seen = _seen(tool)
            if seen is not None and _key(seen) not in self._noted:
                new.setdefault(seen.server, []).append(seen)
        for server, all_seen in new.items():
            await self._database.run(self._tools.saw_all, server, all_seen, self._at())
            if len(self._noted) > _MOST_NOTED:
                self._noted.clear()
            self._noted.update(map(_key, all_seen))


def difference(accepted: AcceptedTool, seen: SeenTool) -> str:
    """Both descriptions and schemas against each other, bounded."""
    lines: list[str] = []
    for what, before, after in (
        ("description", accepted.description, seen.description),
        ("schema", _laid_out(accepted.input_schema), _laid_out(seen.input_schema)),
    ):
        lines += difflib.unified_diff(
            before.splitlines()[:_MOST_LINES],
            after.splitlines()[:_MOST_LINES],
            f"{what} as accepted",
            f"{what} now",
            lineterm="",
        )
    text = "\n".join(lines) or "(the difference lies beyond what is shown of it)"
    if len(text) > _MOST_DIFFERENCE_CHARACTERS:
        text = f"{text[:_MOST_DIFFERENCE_CHARACTERS]}\n[more left out]"
    return (
        f"The MCP server {seen.server} says something else of {seen.tool} than what was accepted "
        f"{accepted.accepted_at} ({accepted.accepted_by}). Allowing this call accepts it as it is "
        f"now.\n\n{text}"
    )


def with_difference(prepared: Prepared, change: str) -> Prepared:
    """The call with what a person must see before deciding: the change first, then what it does."""
    shown = prepared.preview
    preview = msgspec.structs.replace(
        shown, title=f"{shown.title} (changed)", kind="text", body=f"{change}\n\n{shown.body}"
    )
    return msgspec.structs.replace(prepared, preview=preview)


def _seen(tool: Tool) -> SeenTool | None:
    tool = tool.as_said_now()
    origin = tool.origin
    if origin is None:
        return None
    return SeenTool(origin.server, origin.name, tool.described, origin.description, origin.schema)


def _key(seen: SeenTool) -> tuple[str, str, str]:
    return seen.server, seen.tool, seen.digest


def _laid_out(schema: str) -> str:
    try:
        return msgspec.json.format(schema, indent=1)
    except (msgspec.DecodeError, RecursionError):
        return schema
