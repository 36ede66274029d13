"""The tools that a workstream's boundary leaves: what its model sees, what its calls may name."""

import hashlib
from collections import OrderedDict

from redshank_node.providers.provider import Surface
from redshank_node.tools.tool import Tool
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.delegation import UNBOUNDED, Boundary, offered
from redshank_shared.domain.scopes import CapabilityScope
from redshank_shared.permissions.tool_card import server_of

_MOST_KEPT = 256

_Narrowing = tuple[frozenset[str] | None, frozenset[str], CapabilityScope]


class Surfaces:
    """Surfaces by boundary, each made once. The whole toolbox is that of no boundary."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._kept: OrderedDict[_Narrowing, Surface] = OrderedDict()
        self._whole = Surface(toolbox.digest, toolbox.surface())

    def of(self, boundary: Boundary) -> Surface:
        """What a model inside this boundary sees (K-5, K-77)."""
        narrowing = _narrowing(boundary)
        if narrowing == _narrowing(UNBOUNDED):
            return self._whole
        kept = self._kept.get(narrowing)
        if kept is None:
            kept = self._kept[narrowing] = self._narrowed(boundary)
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
            server_of(tool.name),
        )

    def _narrowed(self, boundary: Boundary) -> Surface:
        tools = tuple(
            described
            for tool, described in self._toolbox.described()
            if self.offers(boundary, tool)
        )
        names = "\n".join(described.name for described in tools)
        digest = hashlib.sha256(f"{self._toolbox.digest}\n{names}".encode()).hexdigest()
        return Surface(digest, tools)


def _narrowing(boundary: Boundary) -> _Narrowing:
    return (boundary.tools_allow, boundary.tools_deny, boundary.capability)
