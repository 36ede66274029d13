"""Says what of the machine a confined command sees, what of it stays covered."""

import pathlib
from collections.abc import Iterable

import msgspec

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


class View(msgspec.Struct, frozen=True):
    """What commands see: the workspace, further folders to read, what is covered in either.

    All paths are absolute and resolved.
    """

    workspace: pathlib.Path
    readable: tuple[pathlib.Path, ...] = ()
    hidden: tuple[pathlib.Path, ...] = ()

    def programs(self) -> list[pathlib.Path]:
        """The folders of programs that this machine has, links among them."""
        return [path for path in map(pathlib.Path, _PROGRAMS) if path.is_symlink() or path.exists()]

    def configuration(self, *, network: bool) -> list[pathlib.Path]:
        """What is shown of /etc."""
        names = _ETC + _NETWORK_ETC if network else _ETC
        found = [pathlib.Path("/etc", name) for name in names]
        return [path for path in found if path.exists()]

    def covered(self) -> list[pathlib.Path]:
        """What is there of `hidden` and would be seen: the outermost of it."""
        shown = (self.workspace, *self.readable, *map(pathlib.Path.resolve, self.programs()))
        seen = sorted({path for path in self.hidden if _beneath(path, shown) and path.exists()})
        return [path for path in seen if not _beneath(path.parent, seen)]

    def held(self) -> list[pathlib.Path]:
        """The folders between the workspace and what is covered in it, outermost first. One that
        a command could rename would be covered under its old name, read under its new one.
        """
        above = {
            folder
            for path in self.covered()
            for folder in path.parents
            if folder != self.workspace and folder.is_relative_to(self.workspace)
        }
        return sorted(above)


def split_folders(text: str) -> tuple[pathlib.Path, ...]:
    """The paths of a setting, resolved; what has none is left out."""
    parts = [part.strip() for part in text.split(":")]
    return tuple(pathlib.Path(part).expanduser().resolve() for part in parts if part)


def _beneath(path: pathlib.Path, folders: Iterable[pathlib.Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
