"""Finds a tool by any of its names, shows all of them to a model."""

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from redshank_node.tools.tool import Tool
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.tool_deferral import NO_SEARCH, ToolSearch


class Manner(msgspec.Struct, frozen=True):
    """How calls of a toolbox are handled. `rescue`: a bare string stands for the primary key
    (T-10); `max_parallel`: how many run at once, 0 for as many as the limits say (T-16);
    `disable_after_failures`: how often running a tool may fail in a turn, 0 for ever (C-9);
    `absent`: why tools that one might look for are not there, in words for the model; `search`:
    whether tools of MCP servers wait until they are found (T-60); `ends_with`: the tools of which
    a call must end each turn, none where an answer does (C-9).
    """

    rescue: bool = False
    max_parallel: int = 0
    disable_after_failures: int = 0
    absent: str = ""
    ends_with: tuple[str, ...] = ()
    search: ToolSearch = NO_SEARCH


class Toolbox:
    """Tools that a model may call. `exposed` maps a shown name to a canonical one; a tool without
    an entry shows its own name. `unlisted` are found by their canonical names, yet no model is
    shown them.
    """

    def __init__(
        self,
        tools: tuple[Tool, ...],
        exposed: Mapping[str, str] | None = None,
        manner: Manner | None = None,
        unlisted: frozenset[str] = frozenset(),
    ) -> None:
        """Raises Misconfigured where two tools share a name or an exposed name has no tool."""
        self.tools = tools
        self.manner = manner or Manner()
        self._by_name: dict[str, Tool] = {}
        for tool in tools:
            for name in (tool.name, *tool.aliases):
                self._add(name, tool)
        shown: dict[str, str] = {}
        for name, canonical in (exposed or {}).items():
            target = self._by_name.get(canonical)
            if target is None:
                raise Misconfigured(
                    f"the exposed name {name} stands for {canonical}, which is no tool; "
                    f"name one of {', '.join(tool.name for tool in tools)}",
                    field=name,
                )
            if self._by_name.get(name) is not target:
                self._add(name, target)
            shown[target.name] = name
        self._names: dict[str, tuple[str, ...]] = {}
        for name, tool in self._by_name.items():
            self._names[tool.name] = (*self._names.get(tool.name, ()), name)
        self._listed = tuple(tool for tool in tools if tool.name not in unlisted)
        self._surface = tuple(
            ToolDescription(shown.get(tool.name, tool.name), tool.description, tool.parameters)
            for tool in self._listed
        )
        self._ends_with = tuple(
            shown.get(tool.name, tool.name)
            for name in self.manner.ends_with
            for tool in self._listed
            if tool.name == name
        )
        self.digest = hashlib.sha256(msgspec.json.encode(self._surface)).hexdigest()

    def resolve(self, name: str) -> Tool | None:
        """The tool with this exposed, canonical or alias name; None where there is none."""
        return self._by_name.get(name)

    @property
    def ends_with(self) -> tuple[str, ...]:
        """The shown names of the tools that end a turn; empty where an answer does (C-9)."""
        return self._ends_with

    def surface(self) -> tuple[ToolDescription, ...]:
        """What a model sees, in the order given. `digest` names these bytes.

        Equal digests, equal surfaces.
        """
        return self._surface

    def names_of(self, tool: Tool) -> tuple[str, ...]:
        """Every name that leads to this tool."""
        return self._names.get(tool.name, ())

    def described(self) -> Iterable[tuple[Tool, ToolDescription]]:
        """Each tool that a model is shown with what it sees of it."""
        return zip(self._listed, self._surface, strict=True)

    def _add(self, name: str, tool: Tool) -> None:
        other = self._by_name.setdefault(name, tool)
        if other is not tool:
            raise Misconfigured(
                f"the tools {other.name} and {tool.name} share the name {name}; rename one of them",
                field=name,
            )
