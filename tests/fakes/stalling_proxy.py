"""A TCP proxy that can let connections go half open: they stay, and nothing passes."""

import asyncio


class StallingProxy:
    """Passes bytes on until `stall` is called; connections made after that pass again."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._generation = 0
        self._stalled_before = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0

    async def __aenter__(self) -> "StallingProxy":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
        await asyncio.gather(
            *(writer.wait_closed() for writer in self._writers), return_exceptions=True
        )

    def stall(self) -> None:
        """From now on nothing passes on the connections that exist."""
        self._generation += 1
        self._stalled_before = self._generation

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers += [writer, target_writer]
        born = self._generation
        async with asyncio.TaskGroup() as group:
            for source, sink in ((reader, target_writer), (target_reader, writer)):
                task = group.create_task(self._pass_on(source, sink, born))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _pass_on(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, born: int
    ) -> None:
        while data := await source.read(65536):
            if born < self._stalled_before:
                continue
            sink.write(data)
        if born >= self._stalled_before:
            sink.close()
