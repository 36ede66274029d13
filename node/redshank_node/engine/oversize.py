"""Puts an error in the place of an output that is too large, the whole of it into an asset."""

import logging
from collections.abc import Awaitable, Callable

import msgspec

from redshank_node.tools.support.truncate import head_and_tail
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.events import CallFinished
from redshank_shared.domain.limits import Oversize
from redshank_shared.stores.assets import Assets
from redshank_shared.stores.database import Database

logger = logging.getLogger(__name__)

Keep = Callable[[bytes], Awaitable[str]]

_SHOWN_BYTES = 2 * 1024
_MEDIA_TYPE = "text/plain; charset=utf-8"


def keeping(database: Database, at: Callable[[], str]) -> Keep:
    """Keeps outputs as assets of this database, for ever; gives their digests."""
    assets = Assets(database)

    async def keep(body: bytes) -> str:
        return await database.run(assets.put, body, _MEDIA_TYPE, at())

    return keep


async def replaced(finished: CallFinished, oversize: Oversize, keep: Keep | None) -> CallFinished:
    """The error {quota, limit, size, asset} with 2 KiB of the output's head, 2 KiB of its tail
    (O8).
    """
    asset = ""
    if keep is not None:
        try:
            asset = await keep(finished.output.encode())
        except Unavailable as error:
            logger.warning("an oversize output is not kept: %s", error.detail)
    said = msgspec.structs.asdict(oversize)
    if asset:
        said["asset"] = asset
    shown = head_and_tail(finished.output, _SHOWN_BYTES)
    return msgspec.structs.replace(
        finished,
        is_error=True,
        outcome="error",
        truncated=True,
        output=f"{msgspec.json.encode(said).decode()}\n{shown}",
        asset=asset,
    )
