"""Logins to MCP servers that have begun: each found by its state, each used once."""

import hashlib

import msgspec
from sqlalchemy import delete, insert, select

from redshank_shared.domain.oauth_flow import Pending
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tables import mcp_logins
from redshank_shared.stores.text import storable
from redshank_shared.vault.sealing import Sealed, Vault

LIVES_SECONDS = 600.0


class BegunLogin(msgspec.Struct, frozen=True):
    """A login with who began it. `expires_at`: seconds since the epoch."""

    pending: Pending
    began_by: str
    began_at: str
    expires_at: float


class McpLogins:
    """The table holds a digest of the state, the rest sealed: who reads it can finish no login."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    def add(self, state: str, login: BegunLogin, nonce: bytes) -> None:
        """Keep a login that begins; those that are over go. Misconfigured without a master key.

        `nonce`: 12 random bytes.
        """
        key = _digest(state)
        text = msgspec.json.encode(login.pending).decode()
        sealed = self._vault.seal(_slot(key), 1, text, nonce)
        values = {
            "state": key,
            "server": login.pending.server,
            "sealed": f"{sealed.key_id}:{sealed.text}",
            "began_by": storable(login.began_by),
            "began_at": login.began_at,
            "expires_at": login.expires_at,
        }
        began = _seconds_before(login.expires_at)
        with self._database.begin() as connection:
            connection.execute(delete(mcp_logins).where(mcp_logins.c.expires_at < began))
            connection.execute(insert(mcp_logins).values(**values))

    def find(self, state: str, now: float) -> BegunLogin | None:
        """The login of this state, if it has begun, is not used, not over. `now`: seconds since the
        epoch. Misconfigured where no key of ours opens it.
        """
        key = _digest(state)
        with self._database.read() as connection:
            row = connection.execute(select(mcp_logins).where(mcp_logins.c.state == key)).first()
        if row is None or row.expires_at < now:
            return None
        key_id, _, text = row.sealed.partition(":")
        opened = self._vault.open(_slot(key), 1, Sealed(key_id, text))
        pending = msgspec.json.decode(opened, type=Pending)
        return BegunLogin(pending, row.began_by, row.began_at, row.expires_at)

    def take(self, state: str) -> bool:
        """Use the login up; False where somebody else did."""
        with self._database.begin() as connection:
            taken = delete(mcp_logins).where(mcp_logins.c.state == _digest(state))
            return connection.execute(taken).rowcount == 1


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode(errors="surrogatepass")).hexdigest()


def _slot(key: str) -> str:
    return f"vault.login.{key}"


def _seconds_before(expires_at: float) -> float:
    return expires_at - LIVES_SECONDS
