"""Logins that have begun, OAuth accounts: in each database, sealed, each written once."""

import base64
import secrets

import msgspec
import pytest

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.oauth_account import Account, Client
from redshank_shared.domain.oauth_failures import LoginNeeded
from redshank_shared.domain.oauth_flow import Pending
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import LiveSecrets
from redshank_shared.stores.mcp_logins import LIVES_SECONDS, BegunLogin, McpLogins
from redshank_shared.stores.mcp_tables import mcp_logins
from redshank_shared.stores.oauth_accounts import OAuthAccounts
from redshank_shared.stores.secrets import SecretRow, Secrets
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import Vault

AT = "2026-11-30T08:15:00.250Z"
NONCE = bytes(range(12))
SLOT = "mcp.oauth.acme"
PENDING = Pending(
    server="acme",
    url="https://mcp.example/mcp",
    resource="https://mcp.example/mcp",
    issuer="https://login.example",
    token_endpoint="https://login.example/token",
    revocation_endpoint="",
    names_issuer=True,
    client=Client("client-1", "canary-client-secret", "client_secret_post"),
    redirect_uri="http://127.0.0.1:1/callback",
    verifier="canary-verifier",
)
ACCOUNT = Account(
    url="https://mcp.example/mcp",
    resource="https://mcp.example/mcp",
    issuer="https://login.example",
    token_endpoint="https://login.example/token",
    client=Client("client-1"),
    access_token="canary-access",
    refresh_token="canary-refresh",
)


def vault_of_key(byte: int) -> Vault:
    return Vault(lambda: base64.b64encode(bytes([byte]) * 32).decode())


def login(expires_at: float) -> BegunLogin:
    return BegunLogin(PENDING, "ana", AT, expires_at)


@pytest.mark.req("K-71")
def test_a_login_is_found_by_its_state_used_once_over_in_time(database: Database) -> None:
    logins = McpLogins(database, vault_of_key(1))
    logins.add("the-state", login(1000.0), NONCE)
    assert logins.find("another", 500.0) is None
    assert logins.find("the-state", 500.0) == login(1000.0)
    assert logins.find("the-state", 1000.5) is None
    logins.add("later", login(1000.0 + LIVES_SECONDS + 1), NONCE)
    assert logins.find("the-state", 500.0) is None
    assert logins.take("later")
    assert not logins.take("later")
    assert logins.find("later", 500.0) is None


@pytest.mark.fault("F-12")
def test_a_login_lies_there_sealed_without_its_state(database: Database) -> None:
    logins = McpLogins(database, vault_of_key(1))
    logins.add("the-state", login(1000.0), NONCE)
    with database.read() as connection:
        (row,) = connection.execute(mcp_logins.select()).all()
    assert "the-state" not in str(row)
    assert "canary" not in str(row)
    with pytest.raises(Misconfigured):
        McpLogins(database, vault_of_key(2)).find("the-state", 500.0)
    with pytest.raises(Misconfigured) as caught:
        McpLogins(database, Vault(lambda: "")).add("x", login(1000.0), NONCE)
    assert caught.value.code == "vault_without_key"


@pytest.mark.fault("F-13")
async def test_an_account_is_changed_only_as_it_was_read(database: Database) -> None:
    redactor, vault = Redactor(), vault_of_key(1)
    live = LiveSecrets(database, vault, redactor.learn, redactor.learn_passing)
    accounts = OAuthAccounts(
        database, live, vault, redactor.learn_passing, lambda: AT, secrets.token_bytes
    )
    with pytest.raises(LoginNeeded):
        await accounts.find(SLOT, "acme")
    await accounts.put(SLOT, ACCOUNT, "ana")
    first = await accounts.find(SLOT, "acme")
    assert (first.account, first.version) == (ACCOUNT, 1)
    assert redactor.of_log("canary-access canary-refresh") == "*** ***"
    one = msgspec.structs.replace(ACCOUNT, access_token="canary-one")
    other = msgspec.structs.replace(ACCOUNT, access_token="canary-other")
    assert await accounts.change(SLOT, first, one, "ana")
    assert not await accounts.change(SLOT, first, other, "ana")
    second = await accounts.find(SLOT, "acme")
    assert (second.account, second.version) == (one, 2)
    assert Secrets(database).put(SecretRow(SLOT, "revoked", 3, "", "", "ana", AT))
    assert not await accounts.change(SLOT, second, other, "ana")
    with pytest.raises(LoginNeeded) as caught:
        await accounts.find(SLOT, "acme")
    assert caught.value.code == "oauth_revoked"
    assert (await accounts.put(SLOT, other, "bo")).version == 4
