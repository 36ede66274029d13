"""Reads bytes that are kept under their digest."""

from redshank_shared.domain.asset_digests import checked_digest
from redshank_shared.domain.errors import NotFound
from redshank_shared.stores.assets import Asset, Assets
from redshank_shared.stores.database import Database


class AssetReading:
    """Bytes by their digest."""

    def __init__(self, database: Database, assets: Assets) -> None:
        self._database = database
        self._assets = assets

    async def asset(self, digest: str) -> Asset:
        """What is kept under it for a workstream that is there: who may read those may read it.
        NotFound, or Invalid where it is no digest.
        """
        asset = await self._database.run(self._assets.referred, checked_digest(digest))
        if asset is None:
            raise NotFound(
                "nothing is kept under this digest; copy it from the call's result", field="digest"
            )
        return asset
