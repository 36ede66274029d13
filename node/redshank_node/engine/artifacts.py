"""Keeps bytes for one workstream; finds those that it refers to."""

from collections.abc import Callable

from redshank_node.tools.tool import KeptBytes
from redshank_shared.stores.assets import Assets
from redshank_shared.stores.database import Database


class WorkstreamArtifacts:
    """What the workstream's log does not refer to is nothing of its own."""

    def __init__(self, database: Database, workstream_id: str, at: Callable[[], str]) -> None:
        self._database = database
        self._assets = Assets(database)
        self._workstream_id = workstream_id
        self._at = at

    async def keep(self, body: bytes, media_type: str) -> str:
        """The digest of the bytes; a fact must refer to it within a day. Raises Unavailable."""
        return await self._database.run(self._assets.put, body, media_type, self._at())

    async def find(self, digest: str) -> KeptBytes | None:
        """What is kept under this digest for the workstream. Raises Unavailable."""
        asset = await self._database.run(self._assets.referred, digest, self._workstream_id)
        return None if asset is None else KeptBytes(asset.digest, asset.media_type, asset.body)
