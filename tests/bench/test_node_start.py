"""What a node costs that does nothing: its start, its memory."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import httpx

from redshank_shared.settings.environment import process_environment
from tests.fakes.ports import free_port
from tests.fakes.valkey import Valkey

ROOT = Path(__file__).parents[2]


async def test_a_node_starts_and_idles(
    valkey: Valkey, sqlite_template: Path, tmp_path: Path
) -> None:
    """Prints start-to-healthy (goal: below 2 s) and resident memory (goal: below 110 MB)."""
    port = free_port()
    environment = {
        **process_environment(),
        "PYTHONPATH": os.pathsep.join(str(ROOT / each) for each in ("shared", "node")),
        "REDSHANK_DATABASE__URL": f"sqlite:///{sqlite_template}",
        "REDSHANK_REDIS__URL": valkey.url,
        "REDSHANK_NODE__PORT": str(port),
        "REDSHANK_NODE__WORKSPACE": str(tmp_path),
    }
    begin = perf_counter()
    command = [sys.executable, "-m", "redshank_node"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as node:
        try:
            seconds = await _healthy_after(port, begin)
            await asyncio.sleep(3)  # what is measured is a node that has come to rest
            status = Path(f"/proc/{node.pid}/status").read_text()
            resident = re.search(r"VmRSS:\s+(\d+) kB", status)
        finally:
            node.terminate()
    assert resident is not None
    megabytes = int(resident[1]) / 1024
    sys.stdout.write(f"\nnode: healthy after {seconds:.2f} s, idle at {megabytes:.0f} MB\n")


async def _healthy_after(port: int, begin: float) -> float:
    async with httpx.AsyncClient(verify=False) as client, asyncio.timeout(60):
        while True:
            try:
                if (await client.get(f"http://127.0.0.1:{port}/health")).status_code == 200:
                    return perf_counter() - begin
            except httpx.TransportError:
                await asyncio.sleep(0.02)
