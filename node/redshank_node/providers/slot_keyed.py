"""Asks a model whose key lies in the vault: the key is looked up at each question."""

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec

from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    ModelSettings,
    Provider,
)
from redshank_shared.domain.errors import Misconfigured, RedshankError, Unavailable

logger = logging.getLogger(__name__)

FindKey = Callable[[], Awaitable[str]]


class _Keyed(msgspec.Struct):
    """A provider made for one key, with the questions that it answers now."""

    key: str
    provider: Provider
    asked: int = 0


class SlotKeyed:
    """A model's provider for whatever key its slot holds. A key that is set anew or revoked counts
    from the next question on; questions under way end under the key that they began with.

    `find_key` raises the RedshankError that says why there is none.
    """

    def __init__(
        self, settings: ModelSettings, find_key: FindKey, make: Callable[[ModelSettings], Provider]
    ) -> None:
        self.settings = settings
        self._find_key = find_key
        self._make = make
        self._keyed: _Keyed | None = None
        self._replaced: list[_Keyed] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """Deltas, then the Answer; raises ModelFailed, with code `secret_revoked` or
        `secret_missing` where the slot holds no key.
        """
        keyed = await self._current()
        keyed.asked += 1
        try:
            stream = keyed.provider.stream(request)
            async with contextlib.aclosing(stream) as items:  # type: ignore[type-var]  # a generator
                async for item in items:
                    yield item
        finally:
            keyed.asked -= 1
            await self._close_replaced()

    async def close(self) -> None:
        """Let every connection go."""
        for keyed in [*self._replaced, *([self._keyed] if self._keyed else [])]:
            await keyed.provider.close()

    async def _current(self) -> _Keyed:
        try:
            key = await self._find_key()
            if self._keyed is None or self._keyed.key != key:
                made = self._make(msgspec.structs.replace(self.settings, api_key=key))
                if self._keyed is not None:
                    self._replaced.append(self._keyed)
                self._keyed = _Keyed(key, made)
                await self._close_replaced()
        except RedshankError as error:
            raise _failed(self.settings, error) from error
        return self._keyed

    async def _close_replaced(self) -> None:
        idle = [keyed for keyed in self._replaced if not keyed.asked]
        self._replaced = [keyed for keyed in self._replaced if keyed.asked]
        for keyed in idle:
            await keyed.provider.close()


def _failed(settings: ModelSettings, error: RedshankError) -> ModelFailed:
    """Only a database that does not answer is worth another try."""
    code = "secret_unreadable" if isinstance(error, Misconfigured) else error.code
    return ModelFailed(
        f"Model {settings.model} has no key: {error.detail}",
        code=code,
        retry=isinstance(error, Unavailable),
    )
