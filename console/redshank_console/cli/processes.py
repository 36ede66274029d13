"""The commands that become one of our processes: `node`, `console`, `gateway`, `migrate`."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from redshank_console.cli.mcp_flags import McpConfigFlag, McpProfileFlag, mcp_variables
from redshank_console.cli.tool_search_flags import (
    MostFlag,
    SearchFlag,
    ThresholdFlag,
    search_variables,
)
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.load import load

Config = Annotated[
    Path | None, typer.Option("--config", help="the configuration file (REDSHANK_CONFIG)")
]
NODE = "redshank_node"
CONSOLE = "redshank_console"
GATEWAY = "redshank_gateway"
MIGRATIONS = "redshank_shared.stores.migrations"
_NOTHING: Mapping[str, str] = MappingProxyType({})


def module_command(module: str) -> list[str]:
    """The command line that runs one of our modules with this interpreter.

    The current folder stays off the import path: it may be a stranger's checkout.
    """
    return [sys.executable, "-P", "-m", module]


def node(
    config: Config = None,
    tool_search: SearchFlag = "",
    tool_search_threshold: ThresholdFlag = None,
    tool_search_max_results: MostFlag = None,
    mcp_config: McpConfigFlag = None,
    mcp_profile: McpProfileFlag = None,
) -> None:
    """Run one node: it takes turns from the queue."""
    given = search_variables(tool_search, tool_search_threshold, tool_search_max_results)
    _become(NODE, config, given | mcp_variables(mcp_config, mcp_profile))


def console(config: Config = None) -> None:
    """Run one console: the API, the streams, the page."""
    _become(CONSOLE, config)


def gateway(config: Config = None) -> None:
    """Run one gateway: it carries notifications to chat."""
    _become(GATEWAY, config)


def migrate(config: Config = None) -> None:
    """Bring the database to this version; quick when it is."""
    _become(MIGRATIONS, config)


def dry_run(config: Config = None) -> None:
    """Show the tools of each profile. Exits 1 with every error in settings, profiles, tools.toml.

    Nothing is started, nobody is called.
    """
    _exec([*module_command(NODE), "--dry-run"], config, process_environment())


def _become(module: str, config: Path | None, given: Mapping[str, str] = _NOTHING) -> None:
    environ = {**process_environment(), **given}
    load(config, environ)
    _exec(module_command(module), config, environ)


def _exec(command: list[str], config: Path | None, environ: dict[str, str]) -> None:
    if config is not None:
        environ["REDSHANK_CONFIG"] = str(config.resolve())
    os.execve(command[0], command, environ)
