"""Carries what every node says of itself each second to the consoles, over one channel."""

import logging
from collections.abc import AsyncIterator
from typing import Literal

import msgspec
import redis.asyncio

from redshank_shared.queue import keys
from redshank_shared.queue.appended_feed import RESYNC, Resync
from redshank_shared.queue.connection import redis_errors_as_unavailable
from redshank_shared.queue.subscription import Begun, Heard, Subscription

logger = logging.getLogger(__name__)

MOST_REPORT_BYTES = 64 * 1024
MOST_NAMES = 500
# Some of the channel's bytes go to what stands around the report.
_MOST_ENCODED = MOST_REPORT_BYTES - 2048
MOST_SERVERS = 100
MOST_DETAIL = 160

McpState = Literal["connecting", "connected", "failed", "needs_login", "left_out", "disabled"]


class McpFigures(msgspec.Struct, frozen=True):
    """What the MCP servers that a node is connected to offer (T-78)."""

    servers: int = 0
    resources: int = 0
    prompts: int = 0
    tools: int = 0


class McpServerReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """An MCP server as it is on a node. `since`: RFC 3339 UTC of the last change of `state`;
    `detail`: why it is so, MOST_DETAIL characters at most; `offered`: tools with those that are not
    enabled; `latency_ms`: the median of its last calls; `calls`, `errors`: since the node started,
    `hour_`: in its last hour.
    """

    name: str
    state: McpState
    since: str = ""
    detail: str = ""
    latency_ms: float | None = None
    tools: int = 0
    offered: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    calls: int = 0
    errors: int = 0
    hour_calls: int = 0
    hour_errors: int = 0


class NodeReport(msgspec.Struct, frozen=True):
    """A node's figures; what an older node does not say has its default.

    `load`: the machine's load average over a minute, divided by its processors. `memory_bytes`:
    resident, of the node's process. `tools`: the names it offers to models. `workstreams`: the ids
    in hand. Both lists end at MOST_NAMES, `mcp_servers` at MOST_SERVERS; a report that is still too
    large has fewer tools. `sandbox`: what confines commands there, `none` or `missing` where
    nothing does.
    """

    node: str = ""
    slots: int = 0
    busy: int = 0
    free: int = 0
    load: float = 0.0
    draining: bool = False
    leads_clock: bool = False
    loop_lag_ms: int = 0
    memory_bytes: int = 0
    pid: int = 0
    sandbox: str = ""
    mcp: McpFigures = McpFigures()
    tools: tuple[str, ...] = ()
    workstreams: tuple[str, ...] = ()
    mcp_servers: tuple[McpServerReport, ...] = ()


class Reported(msgspec.Struct, frozen=True, tag="reported"):
    """A node lives and says this. `started_at`: RFC 3339 UTC."""

    service_id: str
    address: str
    version: str
    started_at: str
    report: NodeReport


class Departed(msgspec.Struct, frozen=True, tag="departed"):
    """A node has left in order."""

    service_id: str


class Pulse(msgspec.Struct, frozen=True, tag="pulse"):
    """A console tries whether the channel carries."""


class _Sent(msgspec.Struct, frozen=True, tag="reported"):
    service_id: str
    address: str
    version: str
    started_at: str
    report: msgspec.Raw


Said = Reported | Departed | Pulse

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Said)
_report_decoder = msgspec.json.Decoder(NodeReport)


def encode_report(report: NodeReport) -> str:
    """The report as the channel and the registry carry it, its lists cut so that it is carried."""
    tools, workstreams, servers = report.tools, report.workstreams, report.mcp_servers
    if max(len(tools), len(workstreams)) > MOST_NAMES or len(servers) > MOST_SERVERS:
        report = msgspec.structs.replace(
            report,
            tools=tools[:MOST_NAMES],
            workstreams=workstreams[:MOST_NAMES],
            mcp_servers=servers[:MOST_SERVERS],
        )
    encoded = _encoder.encode(report)
    while len(encoded) > _MOST_ENCODED and report.tools:
        report = msgspec.structs.replace(report, tools=report.tools[: len(report.tools) // 2])
        encoded = _encoder.encode(report)
    return encoded.decode()


def decode_report(text: str) -> NodeReport:
    """The report of a registry's row; an empty one where it cannot be read."""
    try:
        return _report_decoder.decode(text or "{}")
    except msgspec.DecodeError:
        return NodeReport()


class ReportBus:
    """The saying side. Every method raises Unavailable when Redis does not answer.

    Each answers how many consoles heard it: 0 means that the registry must carry the word.
    """

    def __init__(self, client: redis.asyncio.Redis) -> None:
        self._redis = client

    async def report(
        self, service_id: str, address: str, version: str, started_at: str, report: str
    ) -> int:
        """Say that the node lives. `report`: what `encode_report` made."""
        raw = msgspec.Raw(report.encode())
        return await self._publish(_Sent(service_id, address, version, started_at, raw))

    async def depart(self, service_id: str) -> int:
        """Say that the node leaves in order."""
        return await self._publish(Departed(service_id))

    async def pulse(self) -> int:
        """Say something that only shows that the channel carries."""
        return await self._publish(Pulse())

    async def _publish(self, message: _Sent | Departed | Pulse) -> int:
        with redis_errors_as_unavailable():
            return int(await self._redis.publish(keys.REPORTS, _encoder.encode(message)))


class ReportFeed:
    """The listening side."""

    def __init__(self, url: str) -> None:
        self._subscription = Subscription(url, keys.REPORTS)

    async def listen(self) -> AsyncIterator[Said | Resync]:
        """Everything that is said, without an end, through every loss of Redis.

        RESYNC stands at the start and after each lost connection. What is damaged, or larger than
        64 KiB, is passed over.
        """
        async for message in self._subscription.messages():
            match message:
                case Begun():
                    yield RESYNC
                case Heard(_, data):
                    said = decode(data)
                    if said is not None:
                        yield said


def decode(data: bytes) -> Said | None:
    """What was said; None for what is damaged or too large."""
    if len(data) > MOST_REPORT_BYTES:
        logger.warning("a report of %d bytes was passed over", len(data))
        return None
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError as error:
        logger.warning("a report was passed over: %s", error)
        return None
