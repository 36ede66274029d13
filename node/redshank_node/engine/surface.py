"""The tools that a workstream's boundary leaves: what its model sees, what its calls may name."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import msgspec

from redshank_node.providers.provider import Surface
from redshank_node.tools.tool import Tool
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.delegation import UNBOUNDED, Boundary, offered
from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.scopes import CapabilityScope
from redshank_shared.domain.tool_deferral import Sorted, sorted_out
from redshank_shared.domain.tool_index import ToolIndex

SEARCH_TOOL = "tool_search"
_MOST_KEPT = 256
_MOST_NAMED = 40

_Narrowing = tuple[frozenset[str] | None, frozenset[str], CapabilityScope]


class Inside:
    """One boundary's tools: `whole` has all that its calls may name, `sorted` says which of them
    wait until they are found.
    """

    def __init__(
        self, digest: str, tools: tuple[ToolDescription, ...], out: Sorted, search_tool: str
    ) -> None:
        self.whole = Surface(digest, tools)
        self.sorted = out
        self.search_tool = search_tool
        self._by_name = {tool.name: tool for tool in tools}
        self._index: ToolIndex | None = None

    def of(self, names: Iterable[str]) -> tuple[ToolDescription, ...]:
        """The tools with these names; one that is not there any more is passed over."""
        return tuple(self._by_name[name] for name in names if name in self._by_name)

    def listed(self) -> str:
        """The names of what is there, for a model that named something else."""
        known = ", ".join(sorted(self.sorted.shown)) or "none"
        waiting = len(self.sorted.waiting)
        return f"{known}, and {waiting} more that {self.search_tool} finds" if waiting else known

    def index(self) -> ToolIndex:
        """Looks through the tools that wait; made when it is first asked for."""
        if self._index is None:
            self._index = ToolIndex(self.of(self.sorted.waiting))
        return self._index

    def seen(self, found: Mapping[str, bool], *, native: bool) -> Surface:
        """What a model sees after its searches have found these tools (T-62). `native`: its
        provider searches by itself, so it is given what waits too, marked (T-61).
        """
        if not self.sorted.waiting:
            return self.whole if self.sorted.searched else self._surface(self.sorted.shown)
        waiting = frozenset(self.sorted.waiting)
        out = tuple(
            name
            for name, by_blocks in found.items()
            if name in waiting and not (native and by_blocks)
        )
        if not native:
            return self._surface((*self.sorted.shown, *out))
        shown = tuple(name for name in self.sorted.shown if name != self.search_tool)
        kept_back = tuple(name for name in self.sorted.waiting if name not in out)
        return self._surface((*shown, *out), kept_back)

    def _surface(self, names: tuple[str, ...], deferred: tuple[str, ...] = ()) -> Surface:
        if names == tuple(self._by_name) and not deferred:
            return self.whole
        text = "\n".join((self.whole.digest, *names, "", *deferred))
        marked = (msgspec.structs.replace(tool, deferred=True) for tool in self.of(deferred))
        return Surface(hashlib.sha256(text.encode()).hexdigest(), (*self.of(names), *marked))


class Surfaces:
    """Surfaces by boundary, each made once."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._kept: OrderedDict[_Narrowing, Inside] = OrderedDict()
        self._seen: OrderedDict[tuple[_Narrowing, bool, tuple[str, ...]], Surface] = OrderedDict()

    def of(self, boundary: Boundary) -> Surface:
        """All that calls inside this boundary may name (K-5, K-77)."""
        return self.inside(boundary).whole

    def seen(self, boundary: Boundary, found: Mapping[str, bool], *, native: bool) -> Surface:
        """What a model inside this boundary sees, once searches have found these tools. An exact
        set of tools is searched by us, whatever the provider could do (T-63).
        """
        native = native and boundary.tools_allow is None
        names = tuple(name for name, by_blocks in found.items() if not (native and by_blocks))
        key = (_narrowing(boundary), native, names)
        surface = self._seen.get(key)
        if surface is None:
            surface = self.inside(boundary).seen(found, native=native)
            self._seen[key] = surface
            if len(self._seen) > _MOST_KEPT:
                self._seen.popitem(last=False)
        return surface

    def inside(self, boundary: Boundary) -> Inside:
        """The boundary's tools."""
        narrowing = _narrowing(boundary)
        kept = self._kept.get(narrowing)
        if kept is None:
            kept = self._kept[narrowing] = self._made(boundary)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept

    def offers(self, boundary: Boundary, tool: Tool) -> bool:
        """Whether a tool is in the boundary's surface, by any of its names."""
        return _narrowing(boundary) == _narrowing(UNBOUNDED) or offered(
            boundary,
            tool.name,
            self._toolbox.names_of(tool),
            tool.effect,
            tool.server,
        )

    def _made(self, boundary: Boundary) -> Inside:
        described = [each for each in self._toolbox.described() if self.offers(boundary, each[0])]
        tools = tuple(shown for _, shown in described)
        names = [shown.name for shown in tools]
        search_tool = next(
            (shown.name for tool, shown in described if tool.name == SEARCH_TOOL), ""
        )
        out = sorted_out(
            self._toolbox.manner.search,
            names,
            [shown.name for tool, shown in described if tool.server],
            search_tool,
        )
        if out.waiting:
            servers = dict.fromkeys(tool.server for tool, _ in described if tool.server)
            said = _said_of_waiting(len(out.waiting), tuple(servers))
            tools = tuple(
                msgspec.structs.replace(tool, description=f"{tool.description} {said}")
                if tool.name == search_tool
                else tool
                for tool in tools
            )
        digest = self._toolbox.digest
        if out.waiting or _narrowing(boundary) != _narrowing(UNBOUNDED):
            text = "\n".join((digest, *names, "", *out.waiting))
            digest = hashlib.sha256(text.encode()).hexdigest()
        return Inside(digest, tools, out, search_tool)


def _said_of_waiting(count: int, servers: tuple[str, ...]) -> str:
    """What a model must know to think of a search at all."""
    more = f" and {len(servers) - _MOST_NAMED} more" if len(servers) > _MOST_NAMED else ""
    return f"{count} wait, from: {', '.join(servers[:_MOST_NAMED])}{more}."


def _narrowing(boundary: Boundary) -> _Narrowing:
    return (boundary.tools_allow, boundary.tools_deny, boundary.capability)
