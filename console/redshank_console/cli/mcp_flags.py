"""The flags by which a start chooses MCP servers (T-70, K-56)."""

from pathlib import Path
from typing import Annotated

import typer

McpConfigFlag = Annotated[
    Path | None, typer.Option("--mcp-config", help="a JSON file with an object mcpServers")
]
McpProfileFlag = Annotated[
    list[str] | None, typer.Option("--mcp-profile", help="a profile of the MCP catalog; repeatable")
]


def mcp_variables(config: Path | None, profiles: list[str] | None) -> dict[str, str]:
    """The variables that stand for these flags; they go over file and environment."""
    found = {}
    if config is not None:
        found["REDSHANK_MCP__CONFIG"] = str(config.expanduser().resolve())
    if profiles:
        found["REDSHANK_MCP__PROFILES"] = ",".join(profiles)
    return found
