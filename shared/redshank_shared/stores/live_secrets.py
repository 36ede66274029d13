"""Opens secrets for those who use them, as they are at that moment."""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound, Unavailable
from redshank_shared.domain.oauth_account import secrets_in
from redshank_shared.stores.database import Database
from redshank_shared.stores.secrets import SecretRow, Secrets
from redshank_shared.vault.sealing import Sealed, Vault
from redshank_shared.vault.slots import CHECK_SLOT
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

EVERY_SECONDS = 1.0
CHECK_VALUE = "redshank"
# An account's tokens follow one another every hour: only the latest of them need be known.
PASSING = "mcp.oauth."

LearnPassing = Callable[[str, tuple[str, ...]], None]


class Opened(msgspec.Struct, frozen=True):
    """A slot's value with its version."""

    value: str
    version: int

    def __repr__(self) -> str:
        return f"Opened(***, {self.version})"


class LiveSecrets:
    """What this process knows of the slots. Every value that it opens goes to `learn`, so that no
    text of this process shows it (law 7); the tokens of an OAuth account go to `learn_passing` with
    their slot, where there is one.
    """

    def __init__(
        self,
        database: Database,
        vault: Vault,
        learn: Callable[[str], None],
        learn_passing: LearnPassing | None = None,
    ) -> None:
        self._database = database
        self._secrets = Secrets(database)
        self._vault = vault
        self._learn = learn
        self._learn_passing = learn_passing
        self._versions: dict[str, int] = {}
        self._values: dict[str, str] = {}
        self._refused: dict[str, Misconfigured] = {}

    async def check_master_key(self, at: str, nonce: bytes) -> None:
        """Seal the check value where there is none yet; Misconfigured where our keys do not open
        the one that is there. Nothing is overwritten.

        `at`: RFC 3339 UTC; `nonce`: 12 random bytes.
        """
        found = await self._database.run(self._secrets.find, CHECK_SLOT)
        if found is None and self._vault.key_ids:
            sealed = self._vault.seal(CHECK_SLOT, 1, CHECK_VALUE, nonce)
            row = SecretRow(CHECK_SLOT, "live", 1, sealed.key_id, sealed.text, "", at)
            await self._database.run(self._secrets.put, row)
            found = await self._database.run(self._secrets.find, CHECK_SLOT)
        if found is not None and self._vault.key_ids:
            self._vault.open(CHECK_SLOT, found.version, Sealed(found.key_id, found.sealed))
        await self.refresh()

    async def value(self, slot: str) -> str:
        """The slot's secret. NotFound with code `secret_missing` where it was never set, Conflict
        with code `secret_revoked`, Misconfigured where no key of ours opens it; Unavailable.
        """
        return (await self.opened(slot)).value

    async def opened(self, slot: str) -> Opened:
        """`value`, with the version that a change of it must name."""
        row = await self._database.run(self._secrets.find, slot)
        if row is None:
            raise NotFound(
                f"the slot {slot} is empty: fill it with `redshank secrets set {slot}`",
                code="secret_missing",
                field=slot,
            )
        if row.state == "revoked":
            raise Conflict(
                f"the secret of the slot {slot} was revoked: set a new one with "
                f"`redshank secrets set {slot}`",
                code="secret_revoked",
                field=slot,
            )
        self._take_in(row)
        if slot in self._refused:
            raise self._refused[slot]
        return Opened(self._values[slot], row.version)

    async def refresh(self) -> None:
        """Read what was set or revoked since."""
        for row in await self._database.run(self._secrets.all):
            self._take_in(row)

    async def run(self, end: asyncio.Event) -> None:
        """Go on refreshing until `end`, so that a secret that nobody here used yet is known too."""
        while not end.is_set():
            try:
                await self.refresh()
            except Unavailable as error:
                logger.debug("secrets are read when the database answers: %s", error.detail)
            except Misconfigured as error:
                logger.warning("no secret can be opened: %s", error.detail)
            await happened(end, EVERY_SECONDS)

    def _take_in(self, row: SecretRow) -> None:
        if self._versions.get(row.slot) == row.version and row.slot not in self._refused:
            return
        self._versions[row.slot] = row.version
        self._values.pop(row.slot, None)
        before = self._refused.pop(row.slot, None)
        if row.state == "revoked":
            return
        try:
            value = self._vault.open(row.slot, row.version, Sealed(row.key_id, row.sealed))
        except Misconfigured as error:
            if before is None or before.detail != error.detail:
                logger.warning("a secret cannot be used: %s", error.detail)
            self._refused[row.slot] = error
            return
        self._values[row.slot] = value
        if row.slot != CHECK_SLOT:
            self._know(row.slot, value)

    def _know(self, slot: str, value: str) -> None:
        if not slot.startswith(PASSING):
            self._learn(value)
        elif self._learn_passing is not None:
            self._learn_passing(slot, secrets_in(value))
        else:
            for secret in secrets_in(value):
                self._learn(secret)
