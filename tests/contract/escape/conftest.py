"""Fixtures of the escapes: the grounds, a process to spy on, servers to reach."""

import contextlib
import pathlib
import socket
import subprocess
import threading
from collections.abc import Iterator

import msgspec
import pytest

from tests.contract.escape.confined import SECRET, Grounds, laid_out, new_top, removed


@pytest.fixture
def grounds() -> Iterator[Grounds]:
    """A workspace among what nobody in it may see."""
    top = new_top()
    try:
        yield laid_out(top)
    finally:
        removed(top)


@pytest.fixture
def victim(grounds: Grounds) -> Iterator[subprocess.Popen[bytes]]:
    """A process of this user with a secret in its environment."""
    argv = ["/bin/sh", "-c", "echo up; exec sleep 300"]
    environment = {"PATH": "/usr/bin:/bin", "VICTIM": SECRET}
    with subprocess.Popen(
        argv, env=environment, cwd=grounds.other, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        yield process
        process.kill()


class Servers(msgspec.Struct, frozen=True):
    """Where they listen; `reached` holds what came in by which of them."""

    tcp: int
    udp: int
    abstract: str
    path: pathlib.Path
    reached: list[str]


@pytest.fixture
def servers(grounds: Grounds) -> Iterator[Servers]:
    """Servers on loopback and on local sockets; each tells the secret to whoever connects."""
    reached: list[str] = []
    with contextlib.ExitStack() as stack:
        made = {
            "tcp": socket.socket(socket.AF_INET, socket.SOCK_STREAM),
            "udp": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "abstract": socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
            "path": socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        }
        path = grounds.other / "server.sock"
        abstract = f"escape-{grounds.top.name}"
        made["tcp"].bind(("127.0.0.1", 0))
        made["udp"].bind(("127.0.0.1", 0))
        made["abstract"].bind(f"\0{abstract}")
        made["path"].bind(str(path))
        threads = [
            threading.Thread(target=_serve, args=(name, listener, reached))
            for name, listener in made.items()
        ]
        for thread in threads:
            thread.start()
        try:
            yield Servers(
                made["tcp"].getsockname()[1], made["udp"].getsockname()[1], abstract, path, reached
            )
        finally:
            for listener in made.values():
                with contextlib.suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)
                _wake(listener)
            for thread in threads:
                thread.join(10)
            for listener in made.values():
                stack.callback(listener.close)


def _wake(listener: socket.socket) -> None:
    """A datagram socket that waits is not woken by its shutdown."""
    if listener.type == socket.SOCK_DGRAM:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"end", listener.getsockname())


def _serve(name: str, listener: socket.socket, reached: list[str]) -> None:
    if listener.type == socket.SOCK_DGRAM:
        with contextlib.suppress(OSError):
            while listener.recv(100) not in (b"end", b""):
                reached.append(name)
        return
    listener.listen()
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                reached.append(name)
                connection.sendall(SECRET.encode())
