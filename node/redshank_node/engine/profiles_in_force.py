"""Makes the profiles of a node known, checks that each of them can be shown."""

from pathlib import Path

from redshank_node.engine.tools_files import ToolsFiles
from redshank_node.engine.toolsets import Toolsets
from redshank_node.tools.support.dynamic_tools import Dynamic, offering_nothing
from redshank_node.tools.tool import Tool, WebAccess, Workspace
from redshank_shared.domain.tool_deferral import ToolSearch
from redshank_shared.profiles.own import check_default, own_profile
from redshank_shared.profiles.profile import install, known_profiles, load
from redshank_shared.settings.sections import Settings


def workspace_of(settings: Settings, web: WebAccess) -> Workspace:
    """The folder that calls work in."""
    return Workspace(Path(settings.node.workspace or ".").resolve(), web)


def search_of(settings: Settings) -> ToolSearch:
    """When tools wait to be found, unless a profile says otherwise (T-60)."""
    tools = settings.tools
    return ToolSearch(tools.search, tools.search_threshold, tools.search_max_results)


def toolsets_of(
    settings: Settings,
    tools: tuple[Tool, ...],
    workspace: Workspace,
    dynamic: Dynamic = offering_nothing,
) -> Toolsets:
    """The toolsets of a node, every profile's looked at once. Misconfigured names the field of a
    profile or of a tools.toml to mend.
    """
    install(
        own_profile(name, source.file, source.defaults)
        for name, source in settings.profiles.items()
    )
    check_default(settings.default.profile)
    files = ToolsFiles(settings, workspace.root)
    for watched in files.all().values():
        watched.read()
    named = str(workspace.root) if settings.node.workspace else ""
    search = search_of(settings)
    toolsets = Toolsets(tools, workspace, files, settings.models, named, search, dynamic)
    for name in known_profiles():
        toolsets.toolset(load(name), "interactive")
    return toolsets
