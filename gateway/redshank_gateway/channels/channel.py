"""Says what a channel to people is."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class ChannelReport(msgspec.Struct, frozen=True):
    """How a channel stands. `state` is one word; `detail` says the mend where there is one."""

    name: str
    state: str
    detail: str = ""


class Channel(Protocol):
    """Carries texts to one place of a chat."""

    name: str

    async def run(self) -> None:
        """Keep the connection, if there is one, until cancelled."""

    async def send(self, channel_id: str, texts: Sequence[str], key: str) -> None:
        """Show these texts in order; those already shown under this key are not shown again where
        the channel can tell.

        Raises RedshankError, which says why, where it cannot be done.
        """

    def report(self) -> ChannelReport:
        """How it stands now."""
