"""A dry run connects to MCP servers, lists their tools, calls none."""

import json
import sys
from pathlib import Path

import pytest

from redshank_node.engine.dry_run import DryRun
from redshank_node.mcp_client.looking import Looked, looked_at
from redshank_node.tools.catalog import BUILTIN
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Settings

ECHO = Path(__file__).parents[1] / "fakes" / "mcp_echo.py"


def settings(folder: Path, more: str = "") -> Settings:
    """Those of a node with a server that answers, one that is not there, one that needs a slot."""
    command = json.dumps(sys.executable)
    arguments = json.dumps([str(ECHO), str(folder), "echo", "stdio"])
    file = folder / "redshank.toml"
    file.write_text(
        f'[node]\nworkspace = "{folder}"\n'
        f"[mcp.servers.echo]\ncommand = {command}\nargs = {arguments}\nstartup_timeout_sec = 60\n"
        '[mcp.servers.gone]\ncommand = "/nowhere/at-all"\n'
        '[mcp.servers.keyed]\nurl = "https://keyed.example/mcp"\n'
        f'bearer_token_secret_ref = "mcp.custom.keyed"\n{more}'
    )
    return load(file, {})


@pytest.mark.req("C-55")
async def test_a_dry_run_shows_what_servers_offer_and_calls_nothing(tmp_path: Path) -> None:
    read = settings(tmp_path)
    looked = await looked_at(read, str)
    assert looked.errors == ()
    assert looked.lines["echo"] == ("MCP server echo: connected", "  mcp__echo__echo")
    assert looked.lines["gone"][0].startswith("MCP server gone: failed (")
    assert looked.lines["keyed"] == (
        "MCP server keyed: its tools are known when a node has opened mcp.custom.keyed",
    )
    assert (tmp_path / "echo.done").read_text() == ""
    lines = [*DryRun(read, BUILTIN, looked.lines).lines()]
    assert "  mcp__echo__echo" in lines


@pytest.mark.req("C-55")
async def test_a_server_that_a_start_needs_is_an_error_of_the_dry_run(tmp_path: Path) -> None:
    looked = await looked_at(settings(tmp_path, '[mcp]\non_failure = "fatal"\n'), str)
    (error,) = looked.errors
    assert error.startswith("mcp.servers.gone: MCP server gone is required")
    assert looked.lines["echo"][0] == "MCP server echo: connected"


async def test_without_servers_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text("")
    assert await looked_at(load(file, {}), str) == Looked()
