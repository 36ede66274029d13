"""Tells the paths whose loss is the loss of a machine: system folders, homes, disks."""

import fnmatch
import posixpath
import re

from redshank_node.tools.support.danger.words import (
    HOME,
    MAYBE_EMPTY,
    SOMETHING,
    literal,
)

_FOLDERS = (
    *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc"),
    *("/root", "/sbin", "/srv", "/sys", "/usr", "/var", "/Users", "/usr/bin", "/usr/lib"),
    *("/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/var/lib", "/nix", "/run", "/mnt"),
    *("/media", "/lib/modules", "/System", "/Applications", "/Library"),
)
_VITAL = tuple(f"/etc/{name}" for name in ("passwd", "shadow", "group", "gshadow", "sudoers"))
# Ways into the root, or into where a process stands, by the names that the kernel gives them.
_BY_PROCESS = re.compile(r"^/proc/(?:self|thread-self|\d+|\*)/root(?=/|$)")
# Nobody is so deep below the root that this does not reach it.
_CLIMB = re.compile(r"(?:\.\./){6,}")
_ONE_HOME = re.compile(r"/(home|Users)/[^/]+")
_DISK = re.compile(
    r"/dev/((s|h|v|xv)d[a-z?*\[]|(nvme|mmcblk)[\d?*\[]|disk|md[\d?*\[]|dm-[\d?*\[]|mapper/|rdisk"
    r"|mem$|kmem$|port$)|/proc/sysrq-trigger$"
)
_PROBES = ("a", "Library", "zeta9")


def is_everything(operand: str, folder: str) -> str:
    """Which system folder or home this means, itself or all in it, seen from the folder; empty
    where it means none. `folder` is empty where it is not known.
    """
    whole = _whole(operand, folder)
    meant = _meant(_without_globs(whole)) if whole else ""
    # Of `/home/$NAME/build` nothing but a folder called build would go.
    return "" if unguarded(operand) and _ONE_HOME.fullmatch(meant) else meant


def is_vital(operand: str, folder: str) -> bool:
    """Whether this is a file without which nobody can log in."""
    return not unguarded(operand) and _whole(operand, folder) in _VITAL


def unguarded(operand: str) -> bool:
    """Whether the operand means this only while a variable that nobody checks is empty."""
    return MAYBE_EMPTY in operand


def is_disk(path: str) -> bool:
    """Whether writing here overwrites a disk or the machine's memory."""
    return _DISK.match(_normal(literal(path))) is not None


def _whole(operand: str, folder: str) -> str:
    """The path from the root, empty where nobody can tell."""
    path = operand.replace(MAYBE_EMPTY, "")
    if not path:
        return ""
    climbed = _CLIMB.match(posixpath.normpath(path) + "/")
    if climbed:
        path = "/" + (posixpath.normpath(path) + "/")[climbed.end() :]
    whole = path if path.startswith("/") else folder and posixpath.join(folder, path)
    if not whole or SOMETHING in whole or not whole.startswith("/"):
        return ""
    return _normal(whole)


def _normal(path: str) -> str:
    plain = re.sub(r"^/+", "/", posixpath.normpath(path))
    return posixpath.normpath(_BY_PROCESS.sub("/", plain)) if "/proc/" in plain else plain


def _without_globs(path: str) -> str:
    """The folder whose whole contents the path's last globs stand for."""
    above, _, last = path.rpartition("/")
    while last and all(fnmatch.fnmatchcase(probe, last) for probe in _PROBES):
        path = above or "/"
        above, _, last = path.rpartition("/")
    if last in (".*", ".??*", ".[!.]*") or (last and _all_letters(last)):
        return above or "/"
    return path


def _all_letters(pattern: str) -> bool:
    """Whether the glob takes any name of the alphabet, as `[a-z]*` does."""
    return pattern.startswith("[") and all(
        fnmatch.fnmatchcase(probe, pattern) for probe in ("a", "m", "z")
    )


def _meant(path: str) -> str:
    if path == "/" or _ONE_HOME.fullmatch(path):
        return path.replace(HOME, "~")
    for folder in _FOLDERS:
        same_depth = path.count("/") == folder.count("/")
        if same_depth and fnmatch.fnmatchcase(folder, path):
            return folder
    return ""
