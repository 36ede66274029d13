"""Makes a node's sandbox as it is set, from what this machine can give."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from redshank_node.tools.support.files import own_files as own_paths
from redshank_node.tools.support.sandbox.groups import groups_here
from redshank_node.tools.support.sandbox.limits import ProcessLimits
from redshank_node.tools.support.sandbox.probe import given_here
from redshank_node.tools.support.sandbox.sandbox import MEND, Sandbox
from redshank_node.tools.support.sandbox.view import View, split_folders
from redshank_shared import clock
from redshank_shared.settings.environment import config_folder, data_folder, process_environment
from redshank_shared.settings.sections import Sandbox as Set
from redshank_shared.settings.sections import Settings

logger = logging.getLogger(__name__)

_MIB = 1024 * 1024
_SQLITE = "sqlite:///"


def sandbox_of(settings: Settings, workspace: Path) -> Sandbox:
    """The sandbox of commands in this workspace, tried once; takes up to a few tenths of a second.

    Where none works the node starts all the same: it says so, and refuses what needs one.
    """
    chosen = settings.sandbox
    hidden = own_files(settings, process_environment())
    view = View(workspace, split_folders(chosen.readable), hidden)
    own_paths.keep(hidden)
    for path in view.covered():
        logger.warning("%s lies where agents work; no tool may touch it: move one of both", path)
    given = given_here(chosen.backend, view)
    if given.backend == "missing":
        said = "commands cannot be confined here (%s), so bash is refused; %s"
        logger.warning(said, given.reason, MEND)
    elif given.backend == "none":
        logger.warning("commands run unconfined, as sandbox.backend says")
    groups = None
    if given.walls is not None:
        memory_bytes = chosen.memory_mb * _MIB
        groups = groups_here(memory_bytes, chosen.processes, os.getpid(), clock.monotonic)
    levels = {"bash": chosen.bash, "exec": chosen.exec}
    limits, asks = limits_of(chosen), chosen.ask_network
    return Sandbox(given, view, limits, levels, groups, ask_network=asks)


def limits_of(chosen: Set) -> ProcessLimits:
    """The limits on each process, as they are set."""
    return ProcessLimits(
        address_space_bytes=chosen.address_space_mb * _MIB,
        cpu_seconds=chosen.cpu_seconds,
        file_bytes=chosen.file_mb * _MIB,
        scratch_bytes=chosen.scratch_mb * _MIB,
        processes=chosen.processes,
        open_files=chosen.open_files,
    )


def own_files(settings: Settings, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """What no command may see: Redshank's own files, what the operator hides."""
    files = [
        settings.source,
        settings.console.admin_token_file,
        settings.ledger.key_file,
        settings.mcp.config,
        settings.metrics.token_file,
        settings.vault.key_file,
    ]
    if settings.database.url.startswith(_SQLITE):
        database = settings.database.url.removeprefix(_SQLITE)
        files += [database, f"{database}-wal", f"{database}-shm", f"{database}-journal"]
    paths = [Path(file).expanduser().resolve() for file in files if file]
    folders = [config_folder(environ).resolve(), data_folder(environ).resolve()]
    return (*paths, *folders, *split_folders(settings.sandbox.hidden))
