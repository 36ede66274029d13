"""The hostile servers of `tests/contract/cases/mcp`, as records to connect to."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redshank_node.mcp_client.calling import Called, TextContent
from redshank_shared.settings.mcp_server import McpServer

CASES = Path(__file__).parents[1] / "cases" / "mcp"


def case(name: str, *arguments: str, **fields: Any) -> McpServer:
    """A case over stdio, under its own name."""
    command = (str(CASES / f"{name}.py"), *arguments)
    fields = {"name": name, "startup_timeout_sec": 60.0, **fields}
    return McpServer(command=sys.executable, args=command, **fields)


@contextmanager
def over_http(name: str) -> Iterator[str]:
    """A case that listens; its address."""
    with subprocess.Popen(
        [sys.executable, str(CASES / f"{name}.py")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline().split()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def text(called: Called) -> str:
    """The only piece of an answer, a text."""
    (piece,) = called.content
    assert isinstance(piece, TextContent)
    return piece.text
