"""Says what a large cluster's nodes would, for a bench.

`python -m redshank_shared.queue.simulated_nodes URL NODES WORKSTREAMS` reports every second until
standard input ends. It stands on the queue's floor because the command line, whose bench starts
it, speaks only HTTP, while the reports must take the way of real ones: over Redis.
"""

import asyncio
import sys
from collections.abc import Iterator

from redshank_shared import clock
from redshank_shared.domain.errors import Unavailable
from redshank_shared.queue.connection import connect
from redshank_shared.queue.reports import McpFigures, NodeReport, ReportBus, encode_report
from redshank_shared.wire.version import VERSION

EVERY_SECONDS = 1.0
PREFIX = "simulated-"
_SLICES = 20
_ADDRESS = "http://127.0.0.1:8081"
_TOOLS = tuple(f"mcp__server_{number % 5}__tool_{number}" for number in range(40))


def report_of(number: int, workstreams: int, beat: int) -> NodeReport:
    """What the node of this number says at its so-many-th beat; something differs each time."""
    return NodeReport(
        node=f"{PREFIX}{number:04}",
        slots=workstreams,
        busy=workstreams,
        load=round((number + beat) % 17 / 10, 2),
        loop_lag_ms=beat % 5,
        memory_bytes=80_000_000 + beat,
        pid=1000 + number,
        mcp=McpFigures(servers=5, resources=20, prompts=10, tools=40),
        tools=_TOOLS,
        workstreams=tuple(_workstream(number, beat // 10, each) for each in range(workstreams)),
    )


async def simulate(url: str, nodes: int, workstreams: int, stop: asyncio.Event) -> None:
    """Report until `stop`; the nodes leave in order then. Unavailable when Redis does not answer.

    The reports of a second are spread over it, as those of real nodes are.
    """
    client = connect(url)
    bus = ReportBus(client)
    started_at = clock.rfc3339(clock.now_utc())
    beat = 0
    try:
        while not stop.is_set():
            began = clock.monotonic()
            for part, numbers in enumerate(_slices(nodes)):
                for number in numbers:
                    report = encode_report(report_of(number, workstreams, beat))
                    await bus.report(_id(number), _ADDRESS, VERSION, started_at, report)
                due = began + (part + 1) * EVERY_SECONDS / _SLICES
                await asyncio.sleep(max(0.0, due - clock.monotonic()))
            beat += 1
        for number in range(nodes):
            await bus.depart(_id(number))
    finally:
        await client.aclose()


def _workstream(number: int, turn: int, each: int) -> str:
    return f"ws_{number:04}{turn:08}{each:010}"


def _slices(nodes: int) -> Iterator[range]:
    size = -(-nodes // _SLICES)
    for part in range(_SLICES):
        yield range(min(nodes, part * size), min(nodes, (part + 1) * size))


def _id(number: int) -> str:
    return f"{PREFIX}{number:04}.bench"


async def _until_input_ends(url: str, nodes: int, workstreams: int) -> None:
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(simulate(url, nodes, workstreams, stop))
        await asyncio.to_thread(sys.stdin.buffer.read)
        stop.set()


def main(arguments: list[str]) -> int:
    """0 when standard input has ended; 1, with one line on standard error, without Redis."""
    url, nodes, workstreams = arguments
    code = 0
    try:
        asyncio.run(_until_input_ends(url, int(nodes), int(workstreams)))
    except* Unavailable as group:
        sys.stderr.write(f"{group.exceptions[0]}\n")
        code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
