"""Keeps secrets out of the answers that say what is wrong."""

from collections.abc import Callable

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redshank_shared.wire.problems import PROBLEM_TYPE

_TYPE = (b"content-type", PROBLEM_TYPE.encode())


class Redacted:
    """Wraps the app. The detail of a problem goes through `redact` (F12); other answers pass by."""

    def __init__(self, app: ASGIApp, redact: Callable[[str], str]) -> None:
        self._app = app
        self._redact = redact

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold the beginning of a problem back until its body is known."""
        begun: Message | None = None
        body = b""

        async def redacting(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start" and _TYPE in message["headers"]:
                begun = message
                return
            if begun is None:
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            start, begun = begun, None
            content = self._redacted(body)
            headers = [each for each in start["headers"] if each[0] != b"content-length"]
            headers.append((b"content-length", str(len(content)).encode()))
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": content})

        await self._app(scope, receive, redacting)

    def _redacted(self, body: bytes) -> bytes:
        if not body:
            return body
        problem = msgspec.json.decode(body, type=dict[str, object])
        said = str(problem.get("detail", ""))
        shown = self._redact(said)
        return body if shown == said else msgspec.json.encode({**problem, "detail": shown})
