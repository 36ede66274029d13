"""Puts requests to one MCP server, whatever becomes of its connections meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable

from redshank_node.mcp_client.calling import Called
from redshank_node.mcp_client.connecting import Connection, NotExecuted
from redshank_node.mcp_client.failures import (
    CallTimedOut,
    McpFailure,
    OutcomeUnknown,
    ServerUnavailable,
)
from redshank_node.mcp_client.figures import Figures
from redshank_node.mcp_client.owner import Owner

Request = Callable[[Connection], Awaitable[Called]]


class Asking:
    """Requests to the server of `owner`, from any task."""

    def __init__(self, owner: Owner, monotonic: Callable[[], float]) -> None:
        self._owner = owner
        self._name = owner.server.name
        self._monotonic = monotonic
        self.figures = Figures(monotonic)

    async def ask(self, request: Request, timeout_seconds: float) -> Called:
        """The answer; raises McpFailure. A server that is away is waited for, within the time.

        Sent again, once, is only what certainly was not executed.
        """
        began = self._monotonic()
        self.figures.asked()
        attempt = _Attempt(self._owner, request)
        try:
            async with asyncio.timeout(timeout_seconds):
                called = await attempt.answer()
        except TimeoutError:
            self.figures.failed()
            if attempt.sent_over is not None:
                self._owner.unanswered(attempt.sent_over)
            raise self._late(timeout_seconds, attempt.sent_over is not None) from None
        except McpFailure:
            self.figures.failed()
            raise
        self.figures.answered(self._monotonic() - began)
        return called

    def _late(self, timeout_seconds: float, is_sent: bool) -> McpFailure:
        if is_sent:
            why = f"no answer within {timeout_seconds:g} s: what the call did is not known"
            return CallTimedOut(self._name, why)
        why = self._owner.detail or "it is not connected"
        return ServerUnavailable(self._name, f"not there within {timeout_seconds:g} s: {why}")


class _Attempt:
    """One request, sent at most twice."""

    def __init__(self, owner: Owner, request: Request) -> None:
        self._owner = owner
        self._request = request
        self.sent_over: Connection | None = None

    async def answer(self) -> Called:
        try:
            return await self._send()
        except NotExecuted:
            pass
        try:
            return await self._send()
        except NotExecuted as error:
            raise ServerUnavailable(self._owner.server.name, error.cause) from None

    async def _send(self) -> Called:
        connection = self.sent_over = await self._owner.ready()
        try:
            return await self._request(connection)
        except NotExecuted as error:
            self.sent_over = None
            self._owner.lose(connection, error.cause)
            raise
        except OutcomeUnknown:
            self._owner.doubt()
            raise
