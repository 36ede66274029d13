"""Prints to the gateway's standard output."""

import asyncio
from collections.abc import Sequence
from typing import TextIO

from redshank_gateway.channels.channel import ChannelReport
from redshank_shared.domain.errors import Unavailable


class TerminalChannel:
    """Every place is the same one: the terminal that the gateway runs in."""

    name = "terminal"

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    async def run(self) -> None:
        """Nothing to keep."""

    async def send(self, channel_id: str, texts: Sequence[str], key: str) -> None:
        """Print the texts, a line or more each; Unavailable where nobody reads them any more."""
        try:
            # A pipe that nobody empties would hold up the loop.
            await asyncio.to_thread(self._print, "".join(f"{text}\n" for text in texts))
        except (OSError, ValueError) as error:
            raise Unavailable(f"standard output takes nothing more: {error}") from error

    def report(self) -> ChannelReport:
        """Always ready."""
        return ChannelReport(self.name, "ready")

    def _print(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
