"""Counts answers by method, by class of status."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redshank_console.services.gauges import Gauges


class Measure:
    """Wraps the app."""

    def __init__(self, app: ASGIApp, gauges: Gauges) -> None:
        self._app = app
        self._gauges = gauges

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the status with which the answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"]

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._gauges.answered(method, message["status"])
            await send(message)

        await self._app(scope, receive, counting)
