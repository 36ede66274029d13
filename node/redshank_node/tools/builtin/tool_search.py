"""Finds tools that are not shown yet."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.search.found_lines import told
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import ShowTools
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "description": "What the tool should do, in a few words, or its exact name.",
        }
    },
    "required": ["query"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The words to look for."""
    checked = schema.validated(arguments, _PARAMETERS)
    return Prepared(checked, Preview(checked["query"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The tools that fit best; from the next step on they are among the model's tools (T-62)."""
    if context.finder is None:
        return Result("no tool waits to be found: all that there are, are shown")
    finding = await context.finder.find(prepared.arguments["query"])
    names = tuple(tool.name for tool in finding.tools)
    command = ShowTools(names, context.call_id) if names else None
    return Result(told(finding), command=command)


TOOL = Tool(
    name="tool_search",
    description=(
        "Find further tools, those of MCP servers, by what they do. What is found is among your "
        "tools from the next step on and stays there."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="query",
    parallel=True,
    plan=True,
    task_agent=False,
)
