"""Builds the command line that runs a command inside bubblewrap."""

import pathlib

import msgspec

from redshank_node.tools.support.sandbox.limits import ProcessLimits, limited
from redshank_node.tools.support.sandbox.view import Mount, View
from redshank_node.tools.tool import SandboxLevel
from redshank_shared.domain.roots import WORKSPACE

# Without --cap-drop a node that runs as root hands its capabilities on.
_ALWAYS = (
    "--unshare-all",
    "--unshare-user",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--hostname",
    "sandbox",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
)
# A user namespace of its own would give a command capabilities again, with the kernel's doors.
NO_USER_NAMESPACES = "--disable-userns"
# A node that runs as root owns these inside too: without capabilities that is enough to write
# kernel.core_pattern, whose program the kernel runs outside.
_SYSTEM_WIDE = ("acpi", "bus", "fs", "irq", "mtrr", "pressure", "scsi", "sys")
_KERNELS_OWN = ("kcore", "keys", "kmsg", "latency_stats", "sched_debug", "sysrq-trigger")
_SCRATCH = "/tmp"  # noqa: S108 - the command's own


class Bubblewrap(msgspec.Struct, frozen=True):
    """A bwrap program that works here, with the options it takes beside the usual ones."""

    program: str
    options: tuple[str, ...] = (NO_USER_NAMESPACES,)

    def argv(
        self, inner: tuple[str, ...], view: View, level: SandboxLevel, limits: ProcessLimits
    ) -> tuple[str, ...]:
        """The command line of `inner` at this level, with these limits on each of its processes."""
        network = level == "network_enabled"
        words = [self.program, *_ALWAYS, *self.options]
        if network:
            words.append("--share-net")
        for path in view.programs():
            words += _shown(path)
        for path in view.configuration(network=network):
            words += _configured(path)
        words += _devices(limits.scratch_bytes)
        for path in view.readable:
            words += ("--ro-bind-try", str(path), str(path))
        words += _worked_in(view, writes=level != "read_only")
        for path in view.covered():
            for name in view.names(path):
                words += _cover(path, name)
        workspace = str(view.workspace) if view.roots is None else WORKSPACE
        words += ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", workspace)
        return (*words, "--", *limited(inner, limits, _SCRATCH, (workspace, WORKSPACE)))


def _shown(path: pathlib.Path) -> tuple[str, ...]:
    if path.is_symlink():
        return ("--symlink", str(path.readlink()), str(path))
    return ("--ro-bind", str(path), str(path))


def _worked_in(view: View, *, writes: bool) -> list[str]:
    """The workspace with the roots beside it."""
    words = [word for mount in view.mounts() for word in _bound(mount, writes=writes)]
    if view.roots is not None:
        words += ("--setenv", "HOME", WORKSPACE)
    elif not view.workspace.is_relative_to(WORKSPACE):
        words += ("--symlink", str(view.workspace), WORKSPACE)
    return [*words, *(word for mount in view.held() for word in _bound(mount, writes=writes))]


def _bound(mount: Mount, *, writes: bool) -> tuple[str, ...]:
    bind = "--bind" if writes and mount.writable else "--ro-bind"
    return (bind, str(mount.folder), str(mount.name))


def _configured(path: pathlib.Path) -> tuple[str, ...]:
    target = path.resolve()
    if path.is_symlink() and target.is_relative_to("/usr"):
        return ("--symlink", str(target), str(path))
    return ("--ro-bind-try", str(target), str(path))


def _devices(scratch_bytes: int) -> tuple[str, ...]:
    size = str(scratch_bytes)
    room = ("--perms", "1777", "--size", size, "--tmpfs")
    own = [*room, "/dev/shm", *room, _SCRATCH]  # noqa: S108 - the command's own
    for name in _SYSTEM_WIDE:
        if pathlib.Path("/proc", name).exists():
            own += ("--ro-bind", f"/proc/{name}", f"/proc/{name}")
    for name in _KERNELS_OWN:
        if pathlib.Path("/proc", name).exists():
            own += ("--ro-bind", "/dev/null", f"/proc/{name}")
    return ("--proc", "/proc", "--dev", "/dev", *own)


def _cover(path: pathlib.Path, name: pathlib.Path) -> tuple[str, ...]:
    if path.is_dir():
        return ("--perms", "0000", "--tmpfs", str(name), "--remount-ro", str(name))
    return ("--ro-bind", "/dev/null", str(name))
