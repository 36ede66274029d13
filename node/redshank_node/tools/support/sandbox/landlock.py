"""Builds the command line that runs a command behind Landlock."""

import pathlib
import sys

import msgspec

from redshank_node.tools.support.sandbox.limits import ProcessLimits, limited
from redshank_node.tools.support.sandbox.view import View
from redshank_node.tools.tool import SandboxLevel

# Imported, not run as a script: so Python keeps its compiled form.
_LAUNCHER = (
    f"import sys; sys.path.append({str(pathlib.Path(__file__).parent)!r}); "
    "import launcher; launcher.main(sys.argv)"
)
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


class Landlock(msgspec.Struct, frozen=True):
    """The launcher, with a folder that stands in for /tmp: one for all commands of a node."""

    scratch: pathlib.Path

    def argv(
        self, inner: tuple[str, ...], view: View, level: SandboxLevel, limits: ProcessLimits
    ) -> tuple[str, ...]:
        """The command line of `inner` at this level, with these limits on each of its processes."""
        network = level == "network_enabled"
        shown = (*view.programs(), *view.configuration(network=network), *view.readable)
        words = [f"r={path}" for path in (*shown, pathlib.Path("/proc"))]
        words += [f"d=/dev/{name}" for name in _DEVICES]
        words.append(f"w={self.scratch}")
        # Without names of their own: Landlock shows the machine's.
        for mount in view.mounts():
            writes = mount.writable and level != "read_only"
            words.append(f"{'w' if writes else 'r'}={mount.folder}")
        if network:
            words.append("network")
        python = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _LAUNCHER)
        # Git takes a file that it may not read for a fault, one that is not there for none.
        homed = ("/usr/bin/env", "GIT_CONFIG_NOSYSTEM=1")
        own = limited(inner, _beside_others(limits), str(self.scratch), (str(view.workspace),))
        return (*python, *words, "--", *homed, *own)


def _beside_others(limits: ProcessLimits) -> ProcessLimits:
    """Without a user namespace the kernel counts every process of the node's user: these may not
    keep a command from its own.
    """
    if not limits.processes:
        return limits
    running = int(pathlib.Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    return msgspec.structs.replace(limits, processes=limits.processes + running)
