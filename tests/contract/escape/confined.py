"""A machine with secrets around a workspace, the bash tool that works in it behind real walls."""

import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping

import msgspec
import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.support.sandbox.groups import Groups
from redshank_node.tools.support.sandbox.limits import ProcessLimits
from redshank_node.tools.support.sandbox.probe import given_here
from redshank_node.tools.support.sandbox.sandbox import Given, Sandbox
from redshank_node.tools.support.sandbox.view import View
from redshank_node.tools.tool import CallContext, Result, SandboxLevel, Workspace

SECRET = "outside-4711"
NO_LEVELS: Mapping[str, SandboxLevel] = {}


class Grounds(msgspec.Struct, frozen=True):
    """`other` is another agent's workspace, `data` the node's folder, `settings` its file."""

    top: pathlib.Path
    workspace: pathlib.Path
    other: pathlib.Path
    data: pathlib.Path
    settings: pathlib.Path

    def outside(self) -> str:
        """A digest of everything outside the workspace: names, modes, contents."""
        found = hashlib.sha256()
        for path in sorted(self.top.rglob("*")):
            if not path.is_relative_to(self.workspace):
                found.update(f"{path} {path.lstat().st_mode}".encode())
                if path.is_file() and not path.is_symlink():
                    found.update(path.read_bytes())
        return found.hexdigest()


def laid_out(top: pathlib.Path) -> Grounds:
    """The grounds below this folder. Links of all sorts lead out of the workspace."""
    grounds = Grounds(
        top, top / "workspace", top / "other", top / "data", top / "conf" / "redshank.toml"
    )
    for folder in (grounds.workspace / "src", grounds.other, grounds.data, top / "conf"):
        folder.mkdir(parents=True)
    (grounds.workspace / "src" / "main.py").write_text("inside\n")
    (grounds.other / "secret.txt").write_text(SECRET)
    (grounds.data / "vault.key").write_text(SECRET)
    (grounds.data / "redshank.db").write_text(SECRET)
    grounds.settings.write_text(f'key = "{SECRET}"')
    links = {
        "out": "../other",
        "out_absolute": str(grounds.other),
        "secret": "../other/secret.txt",
        "root": "/proc/self/root",
        "parent": "/proc/self/cwd/..",
        "chain": "src/up",
        "src/up": "../out",
        "gone_outside": "../other/new.txt",
    }
    for name, target in links.items():
        (grounds.workspace / name).symlink_to(target)
    return grounds


def given(backend: str, grounds: Grounds) -> Given:
    """What this backend gives here; the test is skipped where the machine has no means for it."""
    if not _machine_has_means(backend):
        pytest.skip(f"this machine has no means for {backend}")
    found = given_here(backend, View(grounds.workspace))
    assert found.walls is not None, found.reason
    return found


@functools.cache
def _machine_has_means(backend: str) -> bool:
    """By the kernel's own word, so that a fault of ours skips nothing."""
    if backend == "landlock":
        ask_version = (444, None, 0, 1)
        return int(ctypes.CDLL(None).syscall(*ask_version)) >= 3
    if shutil.which("unshare") is None:
        return False
    namespaces = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    return subprocess.run(namespaces, capture_output=True, check=False).returncode == 0


def sandbox(
    backend: str,
    grounds: Grounds,
    limits: ProcessLimits | None = None,
    levels: Mapping[str, SandboxLevel] = NO_LEVELS,
    groups: Groups | None = None,
    covered: tuple[pathlib.Path, ...] = (),
) -> Sandbox:
    """The sandbox of a node whose workspace this is; `covered`: what else no command may see."""
    hidden = (grounds.data, grounds.settings, *covered)
    view = View(grounds.workspace, (), hidden)
    walls = given(backend, grounds)
    return Sandbox(walls, view, limits or ProcessLimits(processes=512), levels, groups)


async def ran(
    command: str,
    grounds: Grounds,
    confined: Sandbox | None,
    max_sandbox: SandboxLevel = "network_enabled",
    timeout: int = 20,
) -> Result:
    """The result of this command of the bash tool; bare where nothing confines it."""
    workspace = Workspace(grounds.workspace, sandbox=confined)
    prepared = bash.prepare({"command": command, "timeout": timeout}, workspace)
    context = CallContext("call_1", workspace, lambda _: None, max_sandbox=max_sandbox)
    return await bash.run(prepared, context)


def python(code: str) -> str:
    """A command that runs this code with the system's Python."""
    return f"/usr/bin/python3 - <<'END'\n{code}\nEND"


def new_top() -> pathlib.Path:
    """A folder that is not below /tmp where that can be: a private /tmp alone must not be what
    keeps a test's secrets.
    """
    parent = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None  # noqa: S108 - see above
    return pathlib.Path(tempfile.mkdtemp(prefix="escape-", dir=parent)).resolve()


def removed(top: pathlib.Path) -> None:
    """The folder is gone."""
    shutil.rmtree(top, ignore_errors=True)
