"""Says what a node with these settings would show, with every error; it calls nothing."""

import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from redshank_node.engine.hook_tools import tools_of_hooks
from redshank_node.engine.profiles_in_force import workspace_of
from redshank_node.engine.tools_files import ToolsFiles
from redshank_node.engine.toolsets import Toolsets
from redshank_node.tools.tool import Tool, WebAccess
from redshank_shared.domain.errors import RedshankError
from redshank_shared.profiles.own import check_default, own_profile
from redshank_shared.profiles.profile import Profile, install, known_profiles, load
from redshank_shared.settings.models import check_keys
from redshank_shared.settings.sections import Settings

Found = TypeVar("Found")

_COLUMNS = ("TOOL", "CANONICAL", "EFFECT", "DEFAULT")


class DryRun:
    """One look. `errors` has a line for each thing to mend, its field first, once `lines` ran.
    `servers`: what there is to say of MCP servers, by name.
    """

    def __init__(
        self,
        settings: Settings,
        tools: tuple[Tool, ...],
        servers: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self.errors: list[str] = []
        self._servers = servers
        self._settings = settings
        self._tools = tools

    def lines(self) -> Iterator[str]:
        """The surface of each profile, the MCP servers."""
        settings = self._settings
        workspace = workspace_of(settings, WebAccess(settings.tools))
        self._try(lambda: check_keys(settings))
        self._try(lambda: tools_of_hooks(settings.hooks, self._tools))
        self._install()
        self._try(lambda: check_default(settings.default.profile))
        files = ToolsFiles(settings, workspace.root)
        for watched in files.all().values():
            self._try(watched.read)
        named = str(workspace.root) if settings.node.workspace else ""
        toolsets = Toolsets(self._tools, workspace, files, settings.models, named)
        for name in known_profiles():
            yield from self._surface(load(name), toolsets)
        for server in settings.mcp_servers:
            yield from self._servers.get(server.name, (f"MCP server {server.name}",))

    def _install(self) -> None:
        found: list[Profile] = []
        for name, source in self._settings.profiles.items():
            read = functools.partial(own_profile, name, source.file, source.defaults)
            found.extend(self._try(read))
        install(found)

    def _surface(self, profile: Profile, toolsets: Toolsets) -> Iterator[str]:
        found = self._try(lambda: toolsets.toolset(profile, "interactive"))
        if not found:
            return
        yield f"profile {profile.name} ({profile.title})"
        toolbox = found[0].toolbox
        if toolbox.manner.absent:
            yield f"  {toolbox.manner.absent}"
        cards = {card.canonical: card for card in profile.tools}
        rows = [_COLUMNS]
        for tool, described in toolbox.described():
            card = cards.get(tool.name)
            default = (card.default if card else profile.mcp_default) or "allow"
            labels = ", ".join(f"ask for {label}" for label in card.asks) if card else ""
            said = f"{default}, {labels}" if labels else default
            rows.append((described.name, tool.name, tool.effect, said))
        if len(rows) > 1:
            yield from _aligned(rows)
        yield ""

    def _try(self, act: Callable[[], Found]) -> tuple[Found, ...]:
        """What it gives, alone; nothing where it fails, which is noted."""
        try:
            return (act(),)
        except RedshankError as wrong:
            line = f"{wrong.field}: {wrong.detail}" if wrong.field else wrong.detail
            if line not in self.errors:
                self.errors.append(line)
            return ()


def _aligned(rows: list[tuple[str, str, str, str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(_COLUMNS))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
