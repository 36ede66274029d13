"""A node without MCP servers does not pay for the MCP library."""

import subprocess
import sys

import pytest

from redshank_shared.settings.environment import process_environment

LOADED = (
    "import sys; import redshank_node.bootstrap; "
    "print({'mcp', 'mcp_types', 'httpx2'} & {*sys.modules})"
)


@pytest.mark.req("K-55")
def test_the_library_is_not_loaded_before_a_server_is_there() -> None:
    path = ":".join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        capture_output=True,
        text=True,
        check=True,
        env={**process_environment(), "PYTHONPATH": path},
    )
    assert done.stdout == "set()\n"
