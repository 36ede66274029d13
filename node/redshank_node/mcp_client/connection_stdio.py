"""Speaks with the command of a stdio server over its standard streams."""

import asyncio
import contextlib
import os
import pathlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from redshank_node.mcp_client.child import Child, ServerCommand
from redshank_node.mcp_client.connecting import Signals
from redshank_node.mcp_client.failures import ServerUnavailable
from redshank_node.mcp_client.frames import Lines, NotAMessage, messages_of
from redshank_node.mcp_client.last_words import LastWords
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_node.mcp_client.traffic import Traffic
from redshank_node.tools.tool import BadArguments
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.mcp_starting import child_environment
from redshank_shared.waiting import happened

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]

_READ_BYTES = 65536
_WAITING_MESSAGES = 256
_LONGEST_PROBE_SECONDS = 5.0
_ENDING_SECONDS = 0.5
_STEPS = 20
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


@contextlib.asynccontextmanager
async def over_stdio(
    server: McpServer, surroundings: Surroundings, traffic: Traffic, signals: Signals
) -> AsyncIterator[Streams]:
    """The streams of the library's client. Raises ServerUnavailable where the command cannot be
    started; when the context is left, it is gone with all that it started.
    """
    try:
        child = Child(await _command(server, surroundings))
    except (OSError, BadArguments) as error:
        raise ServerUnavailable(server.name, str(error)) from None
    probe_seconds = min(server.startup_timeout_sec / 2, _LONGEST_PROBE_SECONDS)
    speech = _Speech(child, traffic, signals, probe_seconds)
    try:
        async with asyncio.TaskGroup() as group:
            reading = [group.create_task(work) for work in await speech.reading()]
            writing = group.create_task(speech.write())
            try:
                yield speech.from_server, speech.to_server
            finally:
                await speech.hang_up(writing)
                await child.close(is_lost=traffic.is_closed)
                # How it ended by itself stands in what is still read.
                await asyncio.wait(reading, timeout=_ENDING_SECONDS)
                for task in reading:
                    task.cancel()
    finally:
        speech.close()


async def _command(server: McpServer, surroundings: Surroundings) -> ServerCommand:
    values = {slot: await surroundings.value(slot) for slot in server.env_secret_refs.values()}
    environment = child_environment(server, surroundings.inherited, values.__getitem__)
    folder = pathlib.Path(server.cwd).expanduser() if server.cwd else surroundings.folder
    level = server.sandbox or "inherited"
    confine = None
    if surroundings.sandbox is not None:
        confine = surroundings.sandbox.confining(f"MCP server {server.name}", level, level)
    return ServerCommand(
        argv=(server.command, *server.args),
        environment=environment,
        folder=folder,
        search_path=environment.get("PATH") or surroundings.inherited.get("PATH", ""),
        confine=confine,
    )


class _Speech:
    """Both directions, standard error beside them."""

    def __init__(
        self, child: Child, traffic: Traffic, signals: Signals, probe_seconds: float
    ) -> None:
        self._child = child
        self._traffic = traffic
        self._signals = signals
        self._probe_seconds = probe_seconds
        self._hanging_up = False
        self._all_said = asyncio.Event()
        self._last_line = ""
        # So many wait without making their senders wait: a command may be slow to read.
        self._into, self.from_server = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](16)
        self.to_server, self._outgoing = anyio.create_memory_object_stream[SessionMessage](
            _WAITING_MESSAGES
        )
        self._loop = asyncio.get_running_loop()
        self._transports: list[asyncio.BaseTransport] = []
        self._probe: asyncio.TimerHandle | None = None

    async def reading(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """What is to run beside each other, to hear it."""
        stdout = await self._reader(self._child.stdout)
        stderr = await self._reader(self._child.stderr)
        return self._read(stdout), self._read_errors(stderr)

    async def _reader(self, descriptor: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=_READ_BYTES)
        transport, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
        )
        self._transports.append(transport)
        return reader

    async def hang_up(self, writing: asyncio.Task[None]) -> None:
        """Close its standard input: it is asked to leave."""
        self._hanging_up = True
        writing.cancel()
        await asyncio.wait((writing,))
        os.close(self._child.stdin)

    def close(self) -> None:
        """Let go of all streams."""
        if self._probe is not None:
            self._probe.cancel()
        for transport in self._transports:
            transport.close()
        for stream in (self._into, self._outgoing, self.from_server, self.to_server):
            stream.close()

    async def write(self) -> None:
        """Hand on what the library sends, as fast as the command reads."""
        os.set_blocking(self._child.stdin, False)
        async with self._outgoing:
            async for item in self._outgoing:
                self._note(item.message)
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await self._write_all(line.encode(errors="replace") + b"\n")
                except OSError as error:
                    await self._refuse(item, f"it reads no more: {error.strerror}")
                    return

    async def _refuse(self, item: SessionMessage, why: str) -> None:
        """What was not read to its end was not acted on: it may be sent to the next process."""
        self._traffic.is_closed = True
        self._answer_unread(item, why)
        # Some are still on their way here. Those who wait hear this before they hear that the
        # connection is gone.
        for _ in range(_STEPS):
            with contextlib.suppress(anyio.WouldBlock, anyio.EndOfStream, *_CLOSED):
                while True:
                    self._answer_unread(self._outgoing.receive_nowait(), why)
            await asyncio.sleep(0)
        self._signals.lost(why)

    def _answer_unread(self, item: SessionMessage, why: str) -> None:
        if not isinstance(item.message, mcp_types.JSONRPCRequest):
            return
        request_id = item.message.id
        self._traffic.forget(request_id)
        what = mcp_types.ErrorData(
            code=mcp_types.INTERNAL_ERROR,
            message=why,
            data=self._traffic.verdicts.data("not_executed"),
        )
        self._answer(mcp_types.JSONRPCError(jsonrpc="2.0", id=request_id, error=what))

    def _answer(self, answer: mcp_types.JSONRPCError) -> None:
        with contextlib.suppress(anyio.WouldBlock, *_CLOSED):
            self._into.send_nowait(SessionMessage(answer))

    def _note(self, message: mcp_types.JSONRPCMessage) -> None:
        if not isinstance(message, mcp_types.JSONRPCRequest | mcp_types.JSONRPCNotification):
            return
        request_id = message.id if isinstance(message, mcp_types.JSONRPCRequest) else None
        self._traffic.sent(message.method, request_id, message.params)
        if message.method == "server/discover" and request_id is not None:
            self._probe = self._loop.call_later(
                self._probe_seconds, self._unknown_method, request_id
            )

    async def _write_all(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._child.stdin, left) :]
            except BlockingIOError:
                writable = asyncio.Event()
                self._loop.add_writer(self._child.stdin, writable.set)
                try:
                    await writable.wait()
                finally:
                    self._loop.remove_writer(self._child.stdin)

    async def _read(self, stdout: asyncio.StreamReader) -> None:
        lines = Lines()
        async with self._into:
            while data := await stdout.read(_READ_BYTES):
                for line in lines.feed(data):
                    await self._take(line)
            self._traffic.is_closed = True
        if not self._hanging_up:
            self._signals.lost(await self._ending())

    async def _ending(self) -> str:
        """Why it says nothing more. The command may have closed its output only: that is as bad."""
        if not await happened(self._child.ended, _ENDING_SECONDS):
            return "it closed its standard output"
        await happened(self._all_said, _ENDING_SECONDS)
        ending = self._child.end()
        return f"{ending}; its last words: {self._last_line}" if self._last_line else ending

    async def _read_errors(self, stderr: asyncio.StreamReader) -> None:
        words = LastWords()
        while data := await stderr.read(_READ_BYTES):
            words.add(data)
            if len(data) < _READ_BYTES:
                self._warn(words.said())
        self._warn(words.said(last=True))
        self._all_said.set()

    def _warn(self, lines: list[str]) -> None:
        for line in lines:
            self._last_line = line
            self._signals.warned(f"stderr: {line}")

    async def _take(self, line: bytes | NotAMessage) -> None:
        try:
            if isinstance(line, NotAMessage):
                raise line
            values = messages_of(line)
        except NotAMessage as error:
            self._traffic.junk(error.why, b"" if isinstance(line, NotAMessage) else line[:200])
            await self._fail(error)
            await self._traffic.breathe()
            return
        for value in values:
            message = _message(value, self._traffic)
            if message is not None:
                await self._into.send(SessionMessage(message))
            await self._traffic.breathe()

    async def _fail(self, error: NotAMessage) -> None:
        """Only the request that it was to answer fails, at once."""
        if error.answers is not None and self._traffic.is_open(error.answers):
            self._traffic.answered(error.answers, None)
            what = mcp_types.ErrorData(
                code=mcp_types.PARSE_ERROR, message=f"its answer cannot be taken: {error.why}"
            )
            answer = mcp_types.JSONRPCError(jsonrpc="2.0", id=error.answers, error=what)
            await self._into.send(SessionMessage(answer))

    def _unknown_method(self, request_id: int | str) -> None:
        """A server that does not answer a method that it does not know gets the older handshake."""
        if not self._traffic.is_open(request_id):
            return
        self._traffic.answered(request_id, None)
        what = mcp_types.ErrorData(code=mcp_types.METHOD_NOT_FOUND, message="no answer")
        answer = mcp_types.JSONRPCError(jsonrpc="2.0", id=request_id, error=what)
        self._answer(answer)


def _message(value: Any, traffic: Traffic) -> mcp_types.JSONRPCMessage | None:
    """What goes on to the library."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        traffic.junk("what is no JSON-RPC message", repr(value)[:200])
        return None
    method, request_id = value.get("method"), value.get("id")
    if isinstance(method, str):
        return _said(method, request_id, value, traffic)
    result, error = value.get("result"), value.get("error")
    if (result is None) == (error is None) or not isinstance(result or error or {}, dict):
        traffic.junk("an answer that is neither result nor error", repr(value)[:200])
        return None
    kept = traffic.answered(request_id, result)
    if kept is None or request_id is None:
        return None
    if error is not None:
        return mcp_types.JSONRPCError(jsonrpc="2.0", id=request_id, error=_error(error))
    return mcp_types.JSONRPCResponse(jsonrpc="2.0", id=request_id, result=kept)


def _said(
    method: str, request_id: Any, value: dict[str, Any], traffic: Traffic
) -> mcp_types.JSONRPCMessage | None:
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        traffic.junk("a message whose params are no object", method)
        return None
    if not traffic.heard(method):
        return None
    if request_id is None:
        return mcp_types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
    if not isinstance(request_id, int | str) or isinstance(request_id, bool):
        traffic.junk("a request without a usable id", method)
        return None
    return mcp_types.JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params)


def _error(value: dict[str, Any]) -> mcp_types.ErrorData:
    code, message = value.get("code"), value.get("message")
    return mcp_types.ErrorData(
        code=code if isinstance(code, int) else mcp_types.INTERNAL_ERROR,
        message=message if isinstance(message, str) else "an error without a message",
        data=value.get("data"),
    )
