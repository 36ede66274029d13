"""Keeps bytes for one workstream; finds those that it refers to."""

import contextlib
from collections.abc import Callable

from redshank_shared.domain.kept_bytes import KeptBytes
from redshank_shared.stores.assets import Assets
from redshank_shared.stores.database import Database
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.streaming import redacted

_BLIND = Redactor()
_TEXTS = ("application/json", "image/svg+xml")


class WorkstreamArtifacts:
    """What the workstream's log does not refer to is nothing of its own."""

    def __init__(
        self,
        database: Database,
        workstream_id: str,
        at: Callable[[], str],
        redactor: Redactor = _BLIND,
    ) -> None:
        self._database = database
        self._redactor = redactor
        self._assets = Assets(database)
        self._workstream_id = workstream_id
        self._at = at

    async def keep(self, body: bytes, media_type: str) -> KeptBytes:
        """The bytes as they are kept, secrets in a text blotted out (law 7); a fact must refer to
        them within a day. Raises Unavailable.
        """
        if _is_text(media_type):
            body = await self._blotted(body)
        digest = await self._database.run(self._assets.put, body, media_type, self._at())
        return KeptBytes(digest, media_type, body)

    async def find(self, digest: str) -> KeptBytes | None:
        """What is kept under this digest for the workstream. Raises Unavailable."""
        asset = await self._database.run(self._assets.referred, digest, self._workstream_id)
        return None if asset is None else KeptBytes(asset.digest, asset.media_type, asset.body)

    async def _blotted(self, body: bytes) -> bytes:
        with contextlib.suppress(UnicodeDecodeError):
            text = body.decode()
            clean = await redacted(self._redactor, text)
            return body if clean == text else clean.encode()
        return body


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.partition(";")[0] in _TEXTS
