"""A server on loopback that makes images and sound, as OpenAI's endpoints answer."""

import base64
import contextlib
import hashlib
from collections.abc import AsyncGenerator
from typing import Any

from aiohttp import web

SOUND = b"ID3\x04" + bytes(60)


def png(seed: str) -> bytes:
    """Bytes that begin as a PNG does, other ones for another seed."""
    return b"\x89PNG\r\n\x1a\n" + hashlib.sha256(seed.encode()).digest()


class MediaServer:
    """`asked` holds each request: its path, its JSON or the fields of its form, files as bytes.

    `refusal` is what it answers with instead, (status, body); `raw` a 200 of these bytes.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str] = []
        self.refusal: tuple[int, str] | None = None
        self.raw: bytes | None = None
        self.url = ""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["MediaServer"]:
        application = web.Application()
        application.router.add_post("/v1/images/generations", self._images)
        application.router.add_post("/v1/images/edits", self._images)
        application.router.add_post("/v1/audio/speech", self._speech)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            yield self
        finally:
            await runner.cleanup()

    async def _images(self, request: web.Request) -> web.StreamResponse:
        fields = await self._noted(request)
        if said := self._said():
            return said
        made = [png(f"{fields['prompt']} {number}") for number in range(int(fields.get("n", 1)))]
        data = [{"b64_json": base64.b64encode(body).decode()} for body in made]
        return web.json_response({"created": 1, "data": data})

    async def _speech(self, request: web.Request) -> web.StreamResponse:
        await self._noted(request)
        return self._said() or web.Response(body=SOUND, content_type="audio/mpeg")

    async def _noted(self, request: web.Request) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if request.content_type == "application/json":
            fields = await request.json()
        else:
            for name, value in (await request.post()).items():
                read = value.file.read() if isinstance(value, web.FileField) else value
                fields.setdefault(name, []).append(read)
            fields = {name: all_[0] if len(all_) == 1 else all_ for name, all_ in fields.items()}
        self.asked.append((request.path, fields))
        self.keys.append(request.headers.get("Authorization", ""))
        return fields

    def _said(self) -> web.Response | None:
        if self.refusal is not None:
            return web.Response(status=self.refusal[0], text=self.refusal[1])
        return None if self.raw is None else web.Response(body=self.raw)


@contextlib.asynccontextmanager
async def media_server() -> AsyncGenerator[MediaServer]:
    """A running server."""
    async with MediaServer().serving() as server:
        yield server
