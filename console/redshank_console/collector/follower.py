"""Stores what one who follows the cluster has not taken yet."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final, Literal

from redshank_console.collector.changes import Change
from redshank_shared.waiting import happened

MOST_BYTES = 4 * 1024 * 1024

Gap = Literal["gap"]
GAP: Final[Gap] = "gap"


class Follower:
    """Bounded (F60): one that is too slow finds GAP in place of what it missed."""

    def __init__(self) -> None:
        self._waiting: deque[Change | Gap] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()

    def offer(self, changes: Sequence[Change]) -> None:
        """Store these, or a gap in place of everything when there is no room."""
        size = sum(len(change.data) for change in changes)
        if self._bytes + size > MOST_BYTES:
            self.gap()
            return
        self._waiting.extend(changes)
        self._bytes += size
        if changes:
            self._filled.set()

    def gap(self) -> None:
        """Forget what waits: something is missing."""
        self._waiting.clear()
        self._waiting.append(GAP)
        self._bytes = 0
        self._filled.set()

    async def take(self, patience_seconds: float) -> list[Change | Gap]:
        """All that waits, as soon as there is anything; nothing after a silence."""
        if not await happened(self._filled, patience_seconds):
            return []
        self._filled.clear()
        taken = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return taken
