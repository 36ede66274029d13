"""A name server on loopback that answers what it is told, one list a lookup; its client."""

import contextlib
import ipaddress
import secrets
import socket
import socketserver
import struct
import threading
from collections.abc import Generator, Mapping, Sequence

A, AAAA = 1, 28
SECONDS = 5.0


class NameServer:
    """Answers over UDP. `answers`: name to its answers, one list a lookup, the last one repeats."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.asked: list[str] = []
        self._answers = answers
        self._lookups: dict[tuple[str, int], int] = {}
        self._server = socketserver.UDPServer(("127.0.0.1", 0), self._handler())
        self.address: tuple[str, int] = self._server.server_address  # type: ignore[assignment]

    @contextlib.contextmanager
    def running(self) -> Generator["NameServer"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def resolve(self, host: str) -> tuple[str, ...]:
        """What a machine would that has this name server: both kinds of addresses."""
        found = [*_ask(self.address, host, A), *_ask(self.address, host, AAAA)]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return tuple(found)

    def _handler(self) -> type[socketserver.BaseRequestHandler]:
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                query, sock = self.request
                sock.sendto(server._answer(query), self.client_address)

        return Handler

    def _answer(self, query: bytes) -> bytes:
        name, end = _name_in(query, 12)
        kind = struct.unpack(">H", query[end : end + 2])[0]
        question = query[12 : end + 4]
        packed = [ipaddress.ip_address(each).packed for each in self._next(name, kind)]
        mine = [each for each in packed if len(each) == (4 if kind == A else 16)]
        code = 0 if name in self._answers else 3
        head = query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(mine), 0, 0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(each)) + each for each in mine
        )
        return head + question + records

    def _next(self, name: str, kind: int) -> Sequence[str]:
        if kind == A:
            self.asked.append(name)
        lists = self._answers.get(name, [[]])
        at = self._lookups.get((name, kind), 0)
        self._lookups[name, kind] = at + 1
        return lists[min(at, len(lists) - 1)]


def _ask(server: tuple[str, int], host: str, kind: int) -> list[str]:
    number = secrets.token_bytes(2)
    labels = b"".join(bytes([len(each)]) + each.encode() for each in host.split("."))
    query = number + struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(SECONDS)
        asking.sendto(query + struct.pack(">HH", kind, 1), server)
        answer = asking.recv(4096)
    assert answer[:2] == number
    count = struct.unpack(">H", answer[6:8])[0]
    at = _name_in(answer, 12)[1] + 4
    found = []
    for _ in range(count):
        length = struct.unpack(">H", answer[at + 10 : at + 12])[0]
        found.append(str(ipaddress.ip_address(answer[at + 12 : at + 12 + length])))
        at += 12 + length
    return found


def _name_in(message: bytes, at: int) -> tuple[str, int]:
    labels = []
    while length := message[at]:
        labels.append(message[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(labels), at + 1
