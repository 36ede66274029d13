"""OAuth accounts in their slots of the vault; every change names the version it was made from."""

from collections.abc import Callable

from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.domain.oauth_account import (
    Account,
    StoredAccount,
    read_account,
    secrets_in,
    write_account,
)
from redshank_shared.domain.oauth_failures import LoginNeeded
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import LearnPassing, LiveSecrets
from redshank_shared.stores.secrets import SecretRow, Secrets
from redshank_shared.vault.sealing import NONCE_BYTES, Vault


class OAuthAccounts:
    """The only road from a slot to an account. What is kept goes to `learn` first, so that no text
    of this process shows it: the slot, its secrets.

    `at`: the present moment, RFC 3339 UTC; `randomness(n)`: n random bytes.
    """

    def __init__(
        self,
        database: Database,
        live: LiveSecrets,
        vault: Vault,
        learn: LearnPassing,
        at: Callable[[], str],
        randomness: Callable[[int], bytes],
    ) -> None:
        self._database = database
        self._secrets = Secrets(database)
        self._live = live
        self._vault = vault
        self._learn = learn
        self._at = at
        self._randomness = randomness

    async def find(self, slot: str, server: str) -> StoredAccount:
        """The account as it is at this moment. LoginNeeded where nobody logged in to the server,
        with code `oauth_revoked` where the account was revoked (K-64); Misconfigured where no key
        of ours opens it, Unavailable.
        """
        login = f"run `redshank mcp login {server}`"
        try:
            opened = await self._live.opened(slot)
        except NotFound:
            raise LoginNeeded(
                f"nobody has logged in to MCP server {server}: {login}", field=slot
            ) from None
        except Conflict:
            raise LoginNeeded(
                f"the account of MCP server {server} was revoked: {login}",
                code="oauth_revoked",
                field=slot,
            ) from None
        return StoredAccount(read_account(opened.value, slot, server), opened.version)

    async def change(self, slot: str, stored: StoredAccount, account: Account, by: str) -> bool:
        """Put the account in the place of the one that was read; False where that has changed."""
        return await self._write(slot, stored.version + 1, account, by)

    async def put(self, slot: str, account: Account, by: str) -> StoredAccount:
        """A new login's account, whatever was there; Conflict where others go on changing it."""
        for _ in range(20):
            row = await self._database.run(self._secrets.find, slot)
            version = 1 if row is None else row.version + 1
            if await self._write(slot, version, account, by):
                return StoredAccount(account, version)
        raise Conflict(f"{slot} is being changed by others again and again; try again", field=slot)

    async def _write(self, slot: str, version: int, account: Account, by: str) -> bool:
        text = write_account(account)
        self._learn(slot, secrets_in(text))
        sealed = self._vault.seal(slot, version, text, self._randomness(NONCE_BYTES))
        row = SecretRow(slot, "live", version, sealed.key_id, sealed.text, by, self._at())
        return await self._database.run(self._secrets.put, row)
