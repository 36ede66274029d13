"""Servers that misbehave on demand, and what a test looks at."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redshank_node.mcp_client.calling import Called, TextContent
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.settings.mcp_server import McpServer

FAKES = Path(__file__).parents[1] / "fakes"
SECONDS = 60.0


def moody(folder: Path, *moods: str, name: str = "moody", **fields: Any) -> McpServer:
    arguments = (str(FAKES / "mcp_moody.py"), str(folder), *moods)
    fields = {"startup_timeout_sec": 60.0, **fields}
    return McpServer(name=name, command=sys.executable, args=arguments, **fields)


def text(called: Called) -> str:
    (piece,) = called.content
    assert isinstance(piece, TextContent)
    return piece.text


async def call(servers: McpServers, tool: str, seconds: float = SECONDS, **given: Any) -> str:
    return text(await servers.call("moody", tool, given, seconds))


def starts(folder: Path) -> list[int]:
    file = folder / "starts"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Whether somebody takes connections. A process that is killed may go on for a moment."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def listening(*command: str) -> Iterator[str]:
    """A server's first line, as long as it runs."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.kill()
