"""A real cluster of real processes: Valkey, consoles, nodes, over either database."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from redshank_shared.settings.environment import process_environment
from tests.fakes.cluster_client import ClusterClient
from tests.fakes.cluster_process import ClusterProcess
from tests.fakes.ports import free_port
from tests.fakes.valkey import Valkey

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = os.pathsep.join(str(_ROOT / name) for name in ("shared", "node", "console", "gateway"))
_TOKEN = "a-token-for-tests-of-some-length"
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR")


class Cluster:
    """Asks the demo model unless `settings` say otherwise.

    `settings` are further variables of every process, such as REDSHANK_NODE__LEASE_SECONDS.
    """

    def __init__(
        self,
        folder: Path,
        database_url: str,
        *,
        nodes: int = 2,
        consoles: int = 1,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.valkey_folder = folder / "valkey"
        for each in (folder, self.workspace, self.valkey_folder):
            each.mkdir(parents=True)
        self.valkey = Valkey(self.valkey_folder, durable=True)
        (folder / "admin.token").write_text(_TOKEN)
        self._environment = self._shared_environment(database_url) | dict(settings or {})
        self.consoles = [self._console(number) for number in range(consoles)]
        self.nodes = [self._node(number) for number in range(nodes)]

    @property
    def processes(self) -> list[ClusterProcess]:
        """The consoles, then the nodes."""
        return [*self.consoles, *self.nodes]

    def start(self) -> None:
        """Begin everything at once; return when all of it is healthy."""
        self.valkey.start()
        for process in self.processes:
            process.start()
        for process in self.processes:
            process.wait_healthy()

    def kill_everything(self) -> None:
        """kill -9 of every process, Valkey too."""
        for process in self.processes:
            process.kill()
        self.valkey.kill()

    def forget_valkey(self) -> None:
        """Delete what Valkey keeps on disk; it must be down."""
        shutil.rmtree(self.valkey_folder)
        self.valkey_folder.mkdir()

    def close(self) -> None:
        """End everything, whatever state it is in."""
        for process in self.processes:
            process.end()
        self.valkey.kill()

    def client(self) -> ClusterClient:
        """A person with the admin token, who asks the consoles in turn."""
        return ClusterClient([console.url for console in self.consoles], _TOKEN)

    def node(self, name: str) -> ClusterProcess:
        """The node of this name."""
        return next(node for node in self.nodes if node.name == name)

    def lines(self, name: str) -> list[str]:
        """The lines of a file of the workspace; none where there is no such file."""
        path = self.workspace / name
        return path.read_text().splitlines() if path.exists() else []

    def tool_processes(self) -> list[int]:
        """Every live process that works in the workspace: tools, what they started, supervisors."""
        workspace = str(self.workspace)
        return [pid for pid in _pids() if _is_in(pid, workspace)]

    def log_tails(self) -> str:
        """The end of every process's log, to be shown beside a failure."""
        return "\n".join(
            f"--- {process.name} ({process.standing()})\n{process.log_tail()}"
            for process in self.processes
        )

    def _shared_environment(self, database_url: str) -> dict[str, str]:
        environ = process_environment()
        return {
            **{name: environ[name] for name in _KEPT if name in environ},
            "PYTHONPATH": _PACKAGES,
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "REDSHANK_DATABASE__URL": database_url,
            "REDSHANK_REDIS__URL": self.valkey.url,
            "REDSHANK_CONSOLE__ADMIN_TOKEN_FILE": str(self.folder / "admin.token"),
            "REDSHANK_NODE__WORKSPACE": str(self.workspace),
        }

    def _console(self, number: int) -> ClusterProcess:
        port = free_port()
        return self._process(
            f"console-{number + 1}", "redshank_console", port, {"REDSHANK_CONSOLE__PORT": str(port)}
        )

    def _node(self, number: int) -> ClusterProcess:
        port, name = free_port(), f"node-{number + 1}"
        own = {"REDSHANK_NODE__PORT": str(port), "REDSHANK_NODE__NAME": name}
        return self._process(name, "redshank_node", port, own)

    def _process(self, name: str, module: str, port: int, own: Mapping[str, str]) -> ClusterProcess:
        command = (sys.executable, "-m", module)
        return ClusterProcess(name, command, {**self._environment, **own}, self.folder, port)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _is_in(pid: int, folder: str) -> bool:
    try:
        where = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return False
    return where == folder or where.startswith(f"{folder}/")
