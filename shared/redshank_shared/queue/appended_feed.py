"""Tells a node which logs have grown, for the workstreams that it runs."""

import logging
from collections.abc import AsyncIterator
from typing import Final, Literal

import msgspec

from redshank_shared.queue import keys
from redshank_shared.queue.bus import Appended
from redshank_shared.queue.subscription import Begun, Heard, Subscription

logger = logging.getLogger(__name__)

Resync = Literal["resync"]
RESYNC: Final[Resync] = "resync"

_decoder = msgspec.json.Decoder(Appended)


class AppendedFeed:
    """The channel of all appends."""

    def __init__(self, url: str) -> None:
        self._subscription = Subscription(url, keys.APPENDED)

    async def listen(self) -> AsyncIterator[Appended | Resync]:
        """Every append of every workstream, without an end and through every loss of Redis.

        RESYNC stands at the start and after each lost connection: appends before it were not heard,
        so look at the log of whatever you run.
        """
        async for message in self._subscription.messages():
            match message:
                case Begun():
                    yield RESYNC
                case Heard(_, data):
                    try:
                        yield _decoder.decode(data)
                    except msgspec.DecodeError:
                        logger.warning(
                            "a message on %s is not of our form; passed over", keys.APPENDED
                        )
