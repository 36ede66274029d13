"""The images of results: kept as assets, given back to models that see."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from redshank_node.tools.tool import ImagePart
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.images import KeptImage
from redshank_shared.domain.messages import Message, ResultMessage
from redshank_shared.stores.assets import Assets
from redshank_shared.stores.database import Database

logger = logging.getLogger(__name__)

# What one question carries at most: servers refuse requests beyond some 30 MB, and base64 takes a
# third more than the bytes.
MOST_IMAGES = 20
MOST_BYTES = 16 * 1024 * 1024
_REMEMBERED_BYTES = 64 * 1024 * 1024


class KeptImages:
    """One for a node. Bytes that were read or kept lately are remembered, 64 MiB of them."""

    def __init__(self, database: Database, at: Callable[[], str]) -> None:
        self._database = database
        self._assets = Assets(database)
        self._at = at
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    async def keep(self, images: Sequence[ImagePart]) -> tuple[KeptImage, ...]:
        """The images as their assets; one that cannot be kept now is left out, the result's words
        stay.
        """
        kept = []
        for image in images:
            try:
                digest = await self._database.run(
                    self._assets.put, image.body, image.media_type, self._at()
                )
            except Unavailable as error:
                logger.warning("an image of a result is not kept: %s", error.detail)
                continue
            self._remember(digest, image.body)
            kept.append(KeptImage(digest, image.media_type, len(image.body)))
        return tuple(kept)

    async def bodies(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The bytes of the newest images of these messages by digest, within what one question may
        carry. An image that cannot be read now is left out.
        """
        found: dict[str, bytes] = {}
        for image in newest(messages):
            body = self._bodies.get(image.digest) or await self._read(image.digest)
            if body is not None:
                self._remember(image.digest, body)
                found[image.digest] = body
        return found

    async def _read(self, digest: str) -> bytes | None:
        try:
            asset = await self._database.run(self._assets.get, digest)
        except Unavailable as error:
            logger.warning("an image cannot be read: %s", error.detail)
            return None
        return None if asset is None else asset.body

    def _remember(self, digest: str, body: bytes) -> None:
        if digest in self._bodies:
            self._bodies.move_to_end(digest)
            return
        self._bodies[digest] = body
        self._size += len(body)
        while self._size > _REMEMBERED_BYTES:
            _, dropped = self._bodies.popitem(last=False)
            self._size -= len(dropped)


def newest(messages: Sequence[Message]) -> list[KeptImage]:
    """The images that one question may carry: the newest, each once, at most 20 with 16 MiB."""
    chosen: dict[str, KeptImage] = {}
    size = 0
    for message in reversed(messages):
        for image in message.images if isinstance(message, ResultMessage) else ():
            if image.digest in chosen:
                continue
            if len(chosen) >= MOST_IMAGES or size + image.size > MOST_BYTES:
                return list(chosen.values())
            chosen[image.digest] = image
            size += image.size
    return list(chosen.values())
