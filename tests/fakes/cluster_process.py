"""One process of a test's cluster, started, frozen, ended at will."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

_PR_SET_PDEATHSIG = 1
_LOG_TAIL_BYTES = 6000
_libc = ctypes.CDLL(None)


class ClusterProcess:
    """Keeps its port, its environment over every restart; its log goes on in one file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        port: int,
    ) -> None:
        self.name = name
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / f"{name}.log"
        self._command = list(command)
        self._environment = dict(environment)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._told_to_end = False

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id; it must have been started."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Begin it in a process group of its own; it dies with the test run, however that ends."""
        assert not self.running
        self._told_to_end = False
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    def kill(self) -> None:
        """kill -9 of this process alone: what it started must see to itself."""
        if self._process is not None:
            self._told_to_end = True
            self._process.kill()
            self._process.wait()

    def stop(self, seconds: float = 60.0) -> tuple[int, float]:
        """SIGTERM; its exit code, after how many seconds. TimeoutExpired when it does not end."""
        assert self._process is not None
        began = time.monotonic()
        self._told_to_end = True
        self._process.terminate()
        return self._process.wait(seconds), time.monotonic() - began

    def exit_code(self) -> int | None:
        """None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def freeze(self) -> None:
        """SIGSTOP: it does nothing, its sockets stay open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT: it goes on where it was."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def healthy(self) -> bool:
        """Whether its /health answers 200."""
        try:
            # Without reading for each question what certificates to trust.
            with httpx.Client(timeout=5.0, trust_env=False, verify=False) as asking:
                return asking.get(f"{self.url}/health").is_success
        except httpx.TransportError:
            return False

    def wait_healthy(self, seconds: float = 60.0) -> None:
        """Return as soon as it is healthy; AssertionError where it ends or takes longer."""
        deadline = time.monotonic() + seconds
        while not self.healthy():
            assert self.running, f"{self.name} ended with {self.exit_code()}:\n{self.log_tail()}"
            assert time.monotonic() < deadline, f"{self.name} is not healthy:\n{self.log_tail()}"
            time.sleep(0.05)

    def standing(self) -> str:
        """Whether it runs, else how it ended; an end that no test asked for is told."""
        if self._process is None:
            return "not started"
        code = self.exit_code()
        if code is None:
            return "running"
        return f"exit {code}" if self._told_to_end else f"exit {code}, NOT BY THIS TEST"

    def log_tail(self) -> str:
        """The end of what it said."""
        with contextlib.suppress(FileNotFoundError):
            return self.log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace")
        return ""

    def end(self) -> None:
        """At the end of the test: nothing of its group is left."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
