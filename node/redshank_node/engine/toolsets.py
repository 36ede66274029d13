"""Puts together the tools of a turn: its profile's names, what tools.toml leaves, its kind."""

from collections.abc import Callable, Iterable

import msgspec

from redshank_node.engine.profile_roots import kept_roots, system_roots
from redshank_node.engine.tools_files import ToolsFiles, ToolsInForce
from redshank_node.tools.support.dynamic_tools import (
    Dynamic,
    Offered,
    no_note,
    offering_nothing,
)
from redshank_node.tools.support.exposure import Scene, exposed, of_kind, shown_in, with_notes
from redshank_node.tools.support.tool_words import other_names, speaking
from redshank_node.tools.tool import Availability, SessionKind, Tool, Workspace
from redshank_node.tools.toolbox import Manner, Toolbox
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.scopes import CapabilityScope
from redshank_shared.domain.tool_deferral import NO_SEARCH, ToolSearch, chosen
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.rules import NETWORK
from redshank_shared.profiles.catalogue import catalogue
from redshank_shared.profiles.exec_options import ExecOptions
from redshank_shared.profiles.profile import Exposure, Profile, load
from redshank_shared.profiles.tools_file import ToolsFile
from redshank_shared.settings.sections import Model

_PLAIN = Exposure()
_Key = tuple[str, SessionKind, int, int]


class Toolset(msgspec.Struct, frozen=True):
    """The tools that a turn begins with, where their calls work, what goes behind the system
    prompt. It keeps them to its end.
    """

    toolbox: Toolbox
    workspace: Workspace
    note: Callable[[CapabilityScope], str] = no_note


class Toolsets:
    """One for a node. The same toolset comes back until the profile's tools.toml changes, or what
    is offered beside the built-in tools (`dynamic`).
    """

    def __init__(
        self,
        tools: tuple[Tool, ...],
        workspace: Workspace,
        files: ToolsFiles,
        models: Iterable[Model],
        named_workspace: str = "",
        search: ToolSearch = NO_SEARCH,
        dynamic: Dynamic = offering_nothing,
    ) -> None:
        can = capabilities(models)
        self.root = workspace.root
        self._tools = tuple(tool for tool in tools if tool.availability in can)
        self._workspace = workspace
        self._files = files
        self._named_workspace = named_workspace
        self._dynamic = dynamic
        self._search = search
        self._kept: dict[_Key, Toolset] = {}

    def of(self, state: Workstream) -> Toolset:
        """The tools of a turn of this workstream that begins now."""
        profile = profile_of(state.created.profile)
        return self.toolset(profile, "task_agent" if state.created.parent else "interactive")

    def toolset(self, profile: Profile, kind: SessionKind) -> Toolset:
        """The profile's tools for sessions of this kind. Misconfigured names the profile's key to
        mend.
        """
        in_force = self._files.current(profile.name)
        offered = self._dynamic(profile)
        key = (profile.name, kind, in_force.revision, offered.revision)
        found = self._kept.get(key)
        if found is None:
            for old in [other for other in self._kept if other[:2] == key[:2]]:
                del self._kept[old]
            found = self._kept[key] = self._made(profile, kind, in_force, offered)
        return found

    def _made(
        self, profile: Profile, kind: SessionKind, in_force: ToolsInForce, offered: Offered
    ) -> Toolset:
        file = in_force.file
        absent = self._absence(profile) if file is None and not profile.unlisted else ""
        workspace = self.workspace_of(profile)
        named = workspace.shown_root if self._named_workspace else ""
        scene = Scene(kind, workspace.shown_root, named)
        names = {card.canonical: card for card in profile.tools}
        words = other_names(profile.tools)
        tools: list[Tool] = []
        shown: dict[str, str] = {}
        # Built-in tools come first (T-71).
        for tool in of_kind((*self._tools, *offered.tools), kind):
            card = names.get(tool.name)
            if card is None and tool.name in catalogue():
                continue
            if not (file or ToolsFile()).enables(tool.name, unlisted=profile.unlisted):
                continue
            name = card.name if card else tool.name
            exposure = _asking(tool, profile.exposures.get(name, _PLAIN), workspace)
            parallel = card.parallel if card else None
            seen = exposed(shown_in(tool, scene), name, exposure, parallel=parallel)
            seen = speaking(seen, words)
            tools.append(with_notes(seen, scene) if profile.folder_notes else seen)
            shown[name] = tool.name
        manner = Manner(
            rescue=profile.rescue,
            max_parallel=profile.max_parallel,
            disable_after_failures=profile.disable_after_failures,
            ends_with=profile.ends_with,
            absent=absent,
            search=chosen(self._search, profile.tool_search),
        )
        options = msgspec.structs.replace(
            file.exec_options if file else ExecOptions(), enabled="exec" in shown.values()
        )
        workspace = msgspec.structs.replace(workspace, exec_options=options)
        # A child that calls one all the same is told why there is none.
        unlisted = frozenset(
            tool.name for tool in tools if kind != "interactive" and tool.top_level
        )
        return Toolset(Toolbox(tuple(tools), shown, manner, unlisted), workspace, offered.note)

    def workspace_of(self, profile: Profile) -> Workspace:
        """Where the profile's calls work: with the folders that it has beside the workspace (C-25),
        its commands confined as it says.
        """
        workspace = self._workspace
        kept = kept_roots(profile.roots, workspace.root, workspace.web.tools.roots)
        roots = (*kept, *system_roots(profile.roots))
        sandbox = workspace.sandbox
        if sandbox is not None and roots:
            sandbox = sandbox.within(kept)
        if sandbox is not None and profile.sandbox.levels:
            sandbox = sandbox.giving(profile.sandbox.levels)
        return msgspec.structs.replace(workspace, roots=roots, sandbox=sandbox)

    def _absence(self, profile: Profile) -> str:
        path = self._files.path_of(profile.name)
        return (
            f"the profile {profile.name} has no tools.toml yet, so none of its tools is on: "
            f"the operator writes {path}, as docs/profiles.md shows"
        )


def _asking(tool: Tool, exposure: Exposure, workspace: Workspace) -> Exposure:
    """The exposure, without asking for the network where that leads to nothing."""
    if NETWORK not in tool.parameters.get("properties", ()) or tool.sandbox == "inherited":
        return exposure
    sandbox = workspace.sandbox
    if sandbox is not None and sandbox.offers_network(tool.name, tool.sandbox):
        return exposure
    return msgspec.structs.replace(exposure, without=(*exposure.without, NETWORK))


def profile_of(name: str) -> Profile:
    """The profile of this name; Redshank's own where this node does not know it (any more)."""
    try:
        return load(name)
    except Invalid:
        return load("default")


def capabilities(models: Iterable[Model]) -> frozenset[Availability]:
    """What some configured model can do, beside what needs none (K-8)."""
    can: set[Availability] = {"always"}
    for model in models:
        if model.capabilities.image_generation:
            can.add("image_generation")
        if model.capabilities.image_edit:
            can.add("image_edit")
        if model.capabilities.audio_generation:
            can.add("audio_generation")
    return frozenset(can)
