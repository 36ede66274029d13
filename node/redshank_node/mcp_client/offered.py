"""Offers each profile's turns what the node's MCP servers have."""

import contextlib
import logging
from collections.abc import Callable, Mapping

import msgspec

from redshank_node.mcp_client.as_said import digest
from redshank_node.mcp_client.calling import Servers
from redshank_node.mcp_client.harmless import one_line
from redshank_node.mcp_client.inventory import Dropped, Inventory, RemoteTool
from redshank_node.mcp_client.naming import named
from redshank_node.mcp_client.remote_schema import Unusable
from redshank_node.mcp_client.remote_tool import Manner, made_of
from redshank_node.mcp_client.resource_tools import ResourceTools
from redshank_node.mcp_client.said_of_servers import Told, instructions_of, note
from redshank_node.tools.support.dynamic_tools import Offered, offering_nothing
from redshank_node.tools.tool import Tool
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.profiles.profile import Profile
from redshank_shared.settings.mcp_server import McpServer

logger = logging.getLogger(__name__)


# How many of the makes of one tool are remembered: other profiles', those of before.
_MOST_KEPT = 8
_MOST_WARNINGS = 20

_Known = tuple[str, str, str, str, str, bool]


class _Kept(msgspec.Struct, frozen=True):
    """What was made of the servers as they were at a revision of theirs."""

    of: int
    inventories: Mapping[str, Inventory]
    offered: Offered
    dropped: tuple[tuple[str, Dropped], ...]


class McpOffer:
    """One for a node. `redact` keeps secrets out of what servers say of themselves."""

    def __init__(self, servers: Servers, redact: Callable[[str], str]) -> None:
        self._servers = servers
        self._redact = redact
        self._begun = False
        self._boot: dict[str, tuple[McpServer, Inventory]] = {}
        self._fixed: dict[str, Inventory] | None = None
        self._kept: dict[str, _Kept] = {}
        self._tools: dict[_Known, tuple[McpServer, Tool]] = {}
        self._warned: set[tuple[str, Dropped]] = set()
        self._revision = 0

    @property
    def has_begun(self) -> bool:
        """Whether turns see what the servers offer."""
        return self._begun

    def begin(self, profile: Profile) -> None:
        """The servers have started: from now on turns see what they offer. `profile`: the one that
        new workstreams get; Misconfigured where it does not take what is there (K-66, C-53).
        """
        self._begun = True
        dropped = self._now(profile).dropped
        if dropped and profile.mcp.on_collision == "fatal":
            server, first = dropped[0]
            raise Misconfigured(
                f"MCP server {server}: {first.why} (profile {profile.name} starts with no such "
                "tool)",
                code="mcp_name_collision",
                field=f"mcp.servers.{server}",
            )

    def offered(self, profile: Profile) -> Offered:
        """What a turn of this profile that begins now finds beside the built-in tools."""
        return self._now(profile).offered if self._begun else offering_nothing(profile)

    def dropped(self, profile: Profile) -> tuple[tuple[str, Dropped], ...]:
        """What no turn of this profile can be given, by server, with the reason."""
        return self._now(profile).dropped if self._begun else ()

    def warm(self) -> None:
        """Make the tools that are new, so that no turn waits for it; may run in a thread of its
        own, since a thousand of them take as long as other turns may be held up.
        """
        for name, found in self._servers.inventories().items():
            record = self._servers.record(name)
            for each in found.tools if record else ():
                with contextlib.suppress(Unusable, Misconfigured):
                    assert record is not None
                    self._tool(
                        record, each, Manner(live=self._servers.follows, redact=self._redact)
                    )

    def _now(self, profile: Profile) -> _Kept:
        kept = self._kept.get(profile.name)
        revision = self._servers.revision
        if kept is not None and kept.of == revision:
            return kept
        inventories = self._inventories(profile)
        if kept is not None and _same(kept.inventories, inventories):
            # A state or a latency moved, which changes nothing that a model sees.
            kept = msgspec.structs.replace(kept, of=revision)
        else:
            kept = self._made(profile, inventories, revision)
        self._kept[profile.name] = kept
        return kept

    def _inventories(self, profile: Profile) -> dict[str, Inventory]:
        """As the profile takes them: what was there first stays, where it is no live inventory,
        until the operator changes the server itself. One that is no more is gone from all.
        """
        records = {name: self._servers.record(name) for name in self._servers.inventories()}
        there = {name: record for name, record in records.items() if record is not None}
        live = {name: self._servers.inventories()[name] for name in there}
        self._remember(there, live)
        match profile.mcp.inventory:
            case "live":
                found = live
            case "boot":
                found = {name: first for name, (_, first) in self._boot.items()}
            case "fixed":
                fixed = self._fixed or {}
                found = {name: each for name, each in fixed.items() if name in self._boot}
        asleep = {name: Inventory(name) for name in self._servers.asleep()}
        found = {**asleep, **found}
        return {name: each for name, each in found.items() if self._carries(profile, name)}

    def _remember(self, there: dict[str, McpServer], live: dict[str, Inventory]) -> None:
        for name, (record, _) in [*self._boot.items()]:
            if self._servers.record(name) != record:
                del self._boot[name]
        for name, record in there.items():
            self._boot.setdefault(name, (record, live[name]))
        if self._fixed is None:
            self._fixed = dict(live)

    def _carries(self, profile: Profile, name: str) -> bool:
        record = self._servers.record(name)
        return record is not None and record.transport in profile.mcp.transports

    def _made(self, profile: Profile, inventories: dict[str, Inventory], revision: int) -> _Kept:
        if not inventories:
            return _Kept(revision, inventories, self._next((), Told()), ())
        names = named(inventories)
        dropped = list(names.dropped)
        tools: list[Tool] = []
        for each in names.tools:
            record = self._servers.record(each.server)
            if record is None:
                continue
            manner = self._manner(profile, inventories[each.server])
            try:
                tools.append(self._tool(record, each.tool, manner))
            except Unusable as wrong:
                dropped.append((each.server, Dropped(each.tool.name, str(wrong))))
        self._warn(dropped)
        if len(self._tools) > _MOST_KEPT * len(names.tools):
            self._tools.clear()
        resources = ResourceTools(inventories, self._servers, profile.mcp.results, self._redact)
        offered = self._next((*resources.tools(), *tools), self._told(profile), inventories)
        return _Kept(revision, inventories, offered, tuple(dropped))

    def _warn(self, dropped: list[tuple[str, Dropped]]) -> None:
        """Once of each: a server may change what it offers each second (F67)."""
        new = [each for each in dropped if each not in self._warned]
        for server, one in new[:_MOST_WARNINGS]:
            said = one_line(one.name, 80), one_line(one.why, 400)
            logger.warning("MCP server %s: %s is left out: %s", server, *said)
        if len(new) > _MOST_WARNINGS:
            logger.warning("tools of MCP servers: %s more are left out", len(new) - _MOST_WARNINGS)
        self._warned = {*dropped} if new else self._warned

    def _tool(self, record: McpServer, remote: RemoteTool, manner: Manner) -> Tool:
        """The tool, made once as long as its server says the same of it."""
        said = digest(remote), manner.results, manner.instructions
        key = (record.name, remote.name, *said, manner.live)
        known = self._tools.get(key)
        if known is None or known[0] is not record:
            known = self._tools[key] = record, made_of(record, remote, self._servers, manner)
        return known[1]

    def _next(
        self,
        tools: tuple[Tool, ...],
        told: Told,
        inventories: Mapping[str, Inventory] | None = None,
    ) -> Offered:
        self._revision += 1
        there = inventories or {}
        return Offered(self._revision, tools, lambda scope: note(there, told, scope))

    def _manner(self, profile: Profile, found: Inventory) -> Manner:
        own = profile.mcp.instructions == "descriptions"
        instructions = instructions_of(found, self._redact) if own else ""
        live = self._servers.follows and profile.mcp.inventory == "live"
        return Manner(profile.mcp.results, instructions, live, self._redact)

    def _told(self, profile: Profile) -> Told:
        names = {card.canonical: card.name for card in profile.tools}
        return Told(
            reads=names.get("read_mcp_resource", ""),
            prompts=names.get("use_prompt", ""),
            instructions=profile.mcp.instructions == "note",
            redact=self._redact,
        )


def _same(one: Mapping[str, Inventory], other: Mapping[str, Inventory]) -> bool:
    """Whether both offer the very same; what a tool's schema holds may be too deep to compare."""
    return one.keys() == other.keys() and all(
        _identical(one[name].tools, other[name].tools)
        and _beside_tools(one[name]) == _beside_tools(other[name])
        for name in one
    )


def _identical(one: tuple[RemoteTool, ...], other: tuple[RemoteTool, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _beside_tools(found: Inventory) -> Inventory:
    return msgspec.structs.replace(found, tools=())
