"""Finds the folders beside the workspace that a profile gives its workstreams."""

import logging
from pathlib import Path

from redshank_node.tools.support.sandbox.view import View
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.roots import Root
from redshank_shared.profiles.root_choice import NAMES, RootChoice

logger = logging.getLogger(__name__)

_ETC = Path("/etc")


def kept_roots(choice: RootChoice, workspace: Path, folder: str) -> tuple[Root, ...]:
    """Those that hold what agents keep, below `folder` (the setting tools.roots), else beside the
    workspace. Misconfigured where one of them would lie in the workspace, or the other way about:
    an agent could then put a link in its place.
    """
    above = Path(folder).expanduser().resolve() if folder else workspace.parent
    roots = []
    for name in NAMES:
        access = getattr(choice, name)
        if access == "none":
            continue
        root = Root(f"/{name}", (above / name).resolve(), access == "write")
        if not _overlap(root.folder, workspace):
            roots.append(root)
        elif folder:
            raise Misconfigured(
                f"tools.roots: {root.folder} is to be {root.prefix}, but it overlaps the workspace "
                f"{workspace}; name a folder beside it",
                code="roots_invalid",
                field="tools.roots",
            )
        else:
            logger.warning(
                "there is no %s beside the workspace %s, which would be the same folder: "
                "set tools.roots",
                root.prefix,
                workspace,
            )
    return tuple(roots)


def system_roots(choice: RootChoice) -> tuple[Root, ...]:
    """Those of this machine that may be read: the folders of programs as a confined command sees
    them, but /bin, which is made up (C-25), and what it sees of /etc.
    """
    if not choice.system:
        return ()
    view = View(Path("/"))
    programs = (path for path in view.programs() if path != Path("/bin") and path.is_dir())
    shown = tuple(str(path.relative_to(_ETC)) for path in view.configuration(network=False))
    etc = (Root(str(_ETC), _ETC, only=shown),) if shown else ()
    return (*(Root(str(path), path) for path in programs), *etc)


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
