"""The command of a server is confined as its record says, by the same walls as tools."""

import sys
from pathlib import Path

import pytest

from redshank_node.tools.support.sandbox.limits import ProcessLimits
from redshank_node.tools.support.sandbox.probe import given_here
from redshank_node.tools.support.sandbox.sandbox import Sandbox
from redshank_node.tools.support.sandbox.view import View
from tests.fakes.mcp_node import connected, status
from tests.integration.mcp_moods import FAKES, call, moody


@pytest.mark.req("K-58")
@pytest.mark.fault("F68")
async def test_a_confined_command_writes_only_where_its_level_lets_it(tmp_path: Path) -> None:
    view = View(tmp_path, readable=(FAKES, Path(sys.prefix), Path(sys.base_prefix)))
    given = given_here("auto", view)
    if given.walls is None:
        pytest.skip(f"nothing confines on this machine: {given.reason}")
    sandbox = Sandbox(given, view, ProcessLimits(processes=100), {})
    reading = moody(tmp_path, name="reading", sandbox="read_only")
    writing = moody(tmp_path, sandbox="workspace_write")
    async with connected(tmp_path, reading, writing, sandbox=sandbox) as servers:
        # It cannot note its own start.
        assert "starts" in status(servers, "reading").detail
        assert await call(servers, "ok") == "ok"
