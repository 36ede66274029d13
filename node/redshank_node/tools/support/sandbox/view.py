"""Says what of the machine a confined command sees, what of it stays covered."""

import pathlib
from collections.abc import Iterable

import msgspec

from redshank_shared.domain.roots import WORKSPACE, Root

# Programs with what they load. Nobody's own files lie there, so not /opt, /srv, /home or /var.
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# File by file: a node that runs as root would show /etc/shadow with the whole folder. Only what
# programs need, for each costs a mount at every command.
_ETC = (
    "alternatives",
    "crypto-policies",
    "fonts",
    "group",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "localtime",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
)
_NETWORK_ETC = ("gai.conf", "hosts", "resolv.conf")


class Mount(msgspec.Struct, frozen=True):
    """A folder of this machine with the name that it has inside."""

    folder: pathlib.Path
    name: pathlib.Path
    writable: bool = True


class View(msgspec.Struct, frozen=True):
    """What commands see: the workspace, further folders to read, what is covered in either.

    All paths are absolute and resolved. `roots`: the folders beside the workspace that have names
    of their own inside, as the workspace then has; None: it keeps its name.
    """

    workspace: pathlib.Path
    readable: tuple[pathlib.Path, ...] = ()
    hidden: tuple[pathlib.Path, ...] = ()
    roots: tuple[Root, ...] | None = None

    def mounts(self) -> list[Mount]:
        """The workspace, then the roots that are there, each with its name inside."""
        if self.roots is None:
            return [Mount(self.workspace, self.workspace)]
        own = Mount(self.workspace, pathlib.Path(WORKSPACE))
        there = (root for root in self.roots if root.folder.is_dir())
        beside = (Mount(root.folder, pathlib.Path(root.prefix), root.writable) for root in there)
        return [own, *beside]

    def programs(self) -> list[pathlib.Path]:
        """The folders of programs that this machine has, links among them."""
        return [path for path in map(pathlib.Path, _PROGRAMS) if path.is_symlink() or path.exists()]

    def configuration(self, *, network: bool) -> list[pathlib.Path]:
        """What is shown of /etc."""
        names = _ETC + _NETWORK_ETC if network else _ETC
        found = [pathlib.Path("/etc", name) for name in names]
        return [path for path in found if path.exists()]

    def covered(self) -> list[pathlib.Path]:
        """What is there of `hidden` and would be seen: the outermost of it, by the machine's own
        names.
        """
        agents = (mount.folder for mount in self.mounts())
        shown = (*agents, *self._under_own_names())
        seen = sorted({path for path in self.hidden if _beneath(path, shown) and path.exists()})
        return [path for path in seen if not _beneath(path.parent, seen)]

    def names(self, path: pathlib.Path) -> list[pathlib.Path]:
        """What a path is called inside: each of its names there."""
        found = [
            mount.name / path.relative_to(mount.folder)
            for mount in self.mounts()
            if path.is_relative_to(mount.folder)
        ]
        if _beneath(path, self._under_own_names()) and path not in found:
            found.append(path)
        return found

    def held(self) -> list[Mount]:
        """The folders between the workspace or a root and what is covered in it, outermost first.
        One that a command could rename would be covered under its old name, read under its new one.
        """
        above = {
            (mount.name / folder.relative_to(mount.folder), folder, mount.writable)
            for mount in self.mounts()
            for path in self.covered()
            for folder in path.parents
            if folder != mount.folder and folder.is_relative_to(mount.folder)
        }
        return [Mount(folder, name, writable) for name, folder, writable in sorted(above)]

    def _under_own_names(self) -> tuple[pathlib.Path, ...]:
        return (*self.readable, *map(pathlib.Path.resolve, self.programs()))


def split_folders(text: str) -> tuple[pathlib.Path, ...]:
    """The paths of a setting, resolved; what has none is left out."""
    parts = [part.strip() for part in text.split(":")]
    return tuple(pathlib.Path(part).expanduser().resolve() for part in parts if part)


def _beneath(path: pathlib.Path, folders: Iterable[pathlib.Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
