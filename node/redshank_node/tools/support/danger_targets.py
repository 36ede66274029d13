"""Tells the paths whose loss is the loss of a machine: system folders, homes, disks."""

import fnmatch
import posixpath
import re

from redshank_node.tools.support.danger_words import (
    HOME,
    MAYBE_EMPTY,
    SOMETHING,
    literal,
)

_FOLDERS = (
    *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc"),
    *("/root", "/sbin", "/srv", "/sys", "/usr", "/var", "/Users", "/usr/bin", "/usr/lib"),
    *("/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/var/lib", "/nix", "/run", "/mnt"),
)
_ONE_HOME = re.compile(r"/(home|Users)/[^/]+")
_DISK = re.compile(
    r"/dev/(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk|md\d|dm-\d|mapper/|rdisk"
    r"|mem$|kmem$|port$)|/proc/sysrq-trigger$"
)
_PROBES = ("a", "Library", "zeta9")


def is_everything(operand: str, folder: str) -> str:
    """Which system folder or home this means, itself or all in it, seen from the folder; empty
    where it means none. `folder` is empty where it is not known.
    """
    path = operand.replace(MAYBE_EMPTY, "")
    if SOMETHING in path or not path:
        return ""
    whole = path if path.startswith("/") else folder and posixpath.join(folder, path)
    if not whole or SOMETHING in whole or not whole.startswith("/"):
        return ""
    return _meant(_without_globs(_normal(whole)))


def unguarded(operand: str) -> bool:
    """Whether the operand means this only while a variable that nobody checks is empty."""
    return MAYBE_EMPTY in operand


def is_disk(path: str) -> bool:
    """Whether writing here overwrites a disk or the machine's memory."""
    return _DISK.match(_normal(literal(path))) is not None


def _normal(path: str) -> str:
    return re.sub(r"^/+", "/", posixpath.normpath(path))


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
