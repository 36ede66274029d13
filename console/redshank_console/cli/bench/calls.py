"""Measures a console that shows a large cluster.

Never publishes itself: the command line speaks only HTTP, so a process of its own says over Redis
what the nodes would (redshank_shared.queue.simulated_nodes).
"""

import contextlib
import re
import subprocess
import time
from collections.abc import Iterator

import msgspec

from redshank_console.cli.processes import module_command
from redshank_shared.client.console import ConsoleClient
from redshank_shared.domain.errors import Unavailable
from redshank_shared.settings.environment import process_environment

SIMULATOR = "redshank_shared.queue.simulated_nodes"
PATHS = ("/v1/cluster/overview", "/v1/cluster/nodes", "/v1/cluster/snapshot")
ROUNDS = 100
SEEN_SECONDS = 30.0
SETTLE_SECONDS = 3.0
_END_SECONDS = 10.0
_MEMORY = re.compile(rb"^process_resident_memory_bytes (\S+)$", re.M)


class CallTimes(msgspec.Struct, frozen=True):
    """What a call took, over HTTP, from the request to the answer's last byte."""

    path: str
    p50_ms: float
    p99_ms: float
    bytes: int


class Measured(msgspec.Struct, frozen=True):
    """`memory_bytes`: resident, of the console's process; 0 where it does not tell.

    `seen_seconds`: until the console showed all nodes.
    """

    nodes: int
    seen_seconds: float
    memory_bytes: int
    calls: tuple[CallTimes, ...]


@contextlib.contextmanager
def simulated(redis_url: str, nodes: int, workstreams: int) -> Iterator[None]:
    """Nodes report inside the block; behind it they have left. Why they cannot stands on standard
    error.
    """
    command = [*module_command(SIMULATOR), redis_url, str(nodes), str(workstreams)]
    environ = process_environment()
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ) as process:
        try:
            yield
        finally:
            _end(process)


def measure(client: ConsoleClient, nodes: int) -> Measured:
    """Wait until the console shows so many nodes, then time its calls. Unavailable when they do not
    come within 30 s.
    """
    began = time.monotonic()
    while (shown := client.overview().nodes.up) < nodes:
        if time.monotonic() - began > SEEN_SECONDS:
            raise Unavailable(
                f"the console shows {shown} of {nodes} nodes: is --redis the Redis of {client.url}?"
            )
        time.sleep(0.1)
    seen_seconds = time.monotonic() - began
    time.sleep(SETTLE_SECONDS)
    calls = tuple(_timed(client, path) for path in PATHS)
    return Measured(shown, seen_seconds, _memory(client), calls)


def _timed(client: ConsoleClient, path: str) -> CallTimes:
    took, size = [], 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        size = len(client.content(path))
        took.append((time.perf_counter() - began) * 1000)
    took.sort()
    return CallTimes(path, took[len(took) // 2], took[int(len(took) * 0.99) - 1], size)


def _memory(client: ConsoleClient) -> int:
    found = _MEMORY.search(client.content("/metrics"))
    return int(float(found[1])) if found else 0


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
