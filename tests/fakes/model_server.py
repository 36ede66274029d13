"""A model server over real HTTP that answers with given bytes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Reply:
    """One answer. Each part is sent as a piece of its own.

    `end`: "close" ends the answer and the connection, "keep" only the answer, "cut" breaks the
    connection off inside the answer, "silent" sends nothing more until the client leaves, "mute"
    not even a status.
    """

    parts: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    end: Literal["close", "keep", "cut", "silent", "mute"] = "close"


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    connection: int

    @property
    def body(self) -> Any:
        """The request's JSON."""
        return json.loads(self.raw)


class ModelServer:
    """Gives its replies in order, the last one for ever; keeps what it was asked.

    `url` is its address without a path; `left` is set when a client went away unasked.
    """

    def __init__(self, *replies: Reply) -> None:
        self.requests: list[Asked] = []
        self.left = asyncio.Event()
        self.url = ""
        self._replies = list(replies)
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self._serving: list[asyncio.Task[Any]] = []

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Stop listening and break every connection off."""
        if self._server is not None:
            self._server.close()
            for writer in self._writers:
                writer.close()
            if self._serving:
                await asyncio.wait(self._serving, timeout=5.0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        task = asyncio.current_task()
        assert task is not None
        self._serving.append(task)
        number = len(self._writers)
        try:
            while asked := await _request(reader, number):
                self.requests.append(asked)
                place = min(len(self.requests), len(self._replies)) - 1
                if not await self._answer(self._replies[place], reader, writer):
                    break
        except ConnectionError:
            self.left.set()
        finally:
            writer.close()

    async def _answer(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection goes on after it."""
        headers = {
            "content-type": reply.content_type,
            "transfer-encoding": "chunked",
            "connection": "close" if reply.end == "close" else "keep-alive",
            **reply.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if reply.end != "mute":
            writer.write(f"HTTP/1.1 {reply.status} Said\r\n{lines}\r\n".encode("latin-1"))
        for part in reply.parts:
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
        if reply.end in ("silent", "mute"):
            with contextlib.suppress(ConnectionError):
                await reader.read(1)
            self.left.set()
            return False
        if reply.end != "cut":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        return reply.end == "keep"


async def _request(reader: asyncio.StreamReader, connection: int) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(head[0].split(" ")[1], headers, raw, connection)


@contextlib.asynccontextmanager
async def model_server(*replies: Reply) -> AsyncIterator[ModelServer]:
    """A running server."""
    server = ModelServer(*replies)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def events(*payloads: object) -> list[bytes]:
    """Each payload as one event of a chat completion's stream; text stands as it is."""
    return [
        f"data: {payload if isinstance(payload, str) else json.dumps(payload)}\n\n".encode()
        for payload in payloads
    ]


def chunk(delta: object = None, finish: str | None = None, **more: object) -> dict[str, object]:
    """One chunk of a chat completion."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice], **more}


def call_delta(arguments: object, **more: Any) -> dict[str, object]:
    """A fragment of a call for read_file; `more` stands beside `function`."""
    function = {"name": "read_file", "arguments": arguments}
    return {"tool_calls": [{"function": function, **more}]}


def named(*payloads: dict[str, Any]) -> list[bytes]:
    """Each payload as one event of a message's stream, under its type's name."""
    return [
        f"event: {payload['type']}\ndata: {json.dumps(payload)}\n\n".encode()
        for payload in payloads
    ]
