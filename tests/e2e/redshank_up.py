"""A real `redshank up` for tests: in a home of its own, on free ports, with its output kept."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import redshank_console
import redshank_node
import redshank_shared
from redshank_shared.settings.environment import process_environment
from tests.fakes.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
STOP_SECONDS = 40.0
COMMAND = "import sys; from redshank_console.cli.main import app; sys.argv[0] = 'redshank'; app()"
KEYS_OF_MODELS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY")


class Home:
    """A person's home with a workspace; commands run there see nothing else of this machine's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        self.console_port, self.node_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.console_port}"
        packages = (redshank_shared, redshank_node, redshank_console)
        inherited = {
            name: value
            for name, value in process_environment().items()
            if name not in KEYS_OF_MODELS
            and not name.startswith(("REDSHANK_", "XDG_", "MAKE", "MFLAGS"))
        }
        self.environ = {
            **inherited,
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join(str(Path(p.__path__[0]).parent) for p in packages),
            "XDG_DATA_HOME": str(folder / "share"),
            "REDSHANK_CONSOLE__PORT": str(self.console_port),
            "REDSHANK_NODE__PORT": str(self.node_port),
            "REDSHANK_NODE__WORKSPACE": str(self.workspace),
        }

    def command(self, *words: str) -> list[str]:
        """The command line that runs `redshank` with these words."""
        return [sys.executable, "-P", "-c", COMMAND, *words]

    def run(self, *words: str, seconds: float = 90.0) -> subprocess.CompletedProcess[str]:
        """`redshank` with these words, to its end, in the workspace."""
        return subprocess.run(
            self.command(*words),
            cwd=self.workspace,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
        )

    def up(self, *words: str) -> "Up":
        """`redshank up` with these words, not yet waited for."""
        return Up(self.command("up", "--data", str(self.data), *words), self, self.workspace)

    def log(self, name: str) -> str:
        """What a child has logged so far."""
        return (self.data / "logs" / f"{name}.log").read_text()


class Up:
    """A started `redshank up`, or what starts one; its whole group ends with the test."""

    def __init__(self, command: Sequence[str], home: Home, folder: Path) -> None:
        self.output = home.folder / "up.out"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=home.environ,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def __enter__(self) -> "Up":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def text(self) -> str:
        """What it has printed so far."""
        return self.output.read_text(errors="replace")

    def wait_for(self, words: str, seconds: float = START_SECONDS) -> None:
        """Until it has printed these words; fails with its output when it ends or is late."""
        end = time.monotonic() + seconds
        while words not in self.text:
            assert self.process.poll() is None, f"ended early:\n{self.text}"
            assert time.monotonic() < end, f"no {words!r} in time:\n{self.text}"
            time.sleep(0.02)

    def ready(self) -> "Up":
        """Until everything is up."""
        self.wait_for("Ctrl-C stops all.")
        return self

    def interrupt(self) -> None:
        """Ctrl-C, as a terminal sends it: to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def stop(self) -> int:
        """Ctrl-C, then its exit code; killed when it takes too long."""
        if self.process.poll() is None:
            self.interrupt()
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise

    def children(self) -> dict[str, int]:
        """The running children's process ids, by what they run."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                words = folder.joinpath("cmdline").read_bytes().decode().split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == self.process.pid:
                found[_role(words)] = int(folder.name)
        return found


def _role(words: Sequence[str]) -> str:
    line = " ".join(words)
    found = re.search(r"redshank_(node|console)|valkey", line)
    return found[0].removeprefix("redshank_") if found else line


def is_gone(pid: int) -> bool:
    """Whether a process has ended (a zombie has)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def wait_until_gone(pids: Sequence[int], seconds: float) -> None:
    """Until all of them have ended; fails with those that have not."""
    end = time.monotonic() + seconds
    while left := [pid for pid in pids if not is_gone(pid)]:
        assert time.monotonic() < end, f"still running: {left}"
        time.sleep(0.02)
