"""Remembers which targets a notification has reached, for when it is sent again."""

import asyncio

from redshank_shared.domain.errors import Conflict

KEPT = 1000


class Kept:
    """One notification under its key. Hold `turn` while delivering: one delivery at a time."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        self.reached: set[str] = set()
        self.turn = asyncio.Lock()


class Repeats:
    """The last thousand keys. What it forgot, or another gateway has, is told by the channel."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def under(self, key: str, digest: str) -> Kept:
        """What is known under this key; Conflict where it stands for another body."""
        kept = self._kept.pop(key, None) or Kept(digest)
        self._kept[key] = kept
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        if kept.digest != digest:
            raise Conflict(
                "this Idempotency-Key was used with another body: use a new one",
                code="idempotency_key_reused",
                field="Idempotency-Key",
            )
        return kept
