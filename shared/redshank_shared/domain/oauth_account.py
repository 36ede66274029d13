"""An account at an authorization server, as it lies in its slot; what may become of it."""

from collections.abc import Callable

import msgspec

from redshank_shared.domain.masking import shown_url
from redshank_shared.domain.oauth_addresses import canonical
from redshank_shared.domain.oauth_failures import LoginNeeded

REFRESH_BEFORE_SECONDS = 60.0
_NOT_TOLD_SECONDS = 3600.0
_LONGEST_SECONDS = 10 * 366 * 86_400.0


class Tokens(msgspec.Struct, frozen=True):
    """What a token endpoint gave. `scopes` None: those that were asked for."""

    access_token: str
    expires_in: float | None = None
    refresh_token: str = ""
    scopes: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return "Tokens(***)"


class Client(msgspec.Struct, frozen=True):
    """What the authorization server knows us as. `method`: how the token endpoint is shown it."""

    client_id: str
    client_secret: str = ""
    method: str = "none"

    def __repr__(self) -> str:
        return f"Client({self.client_id!r})"


class Account(msgspec.Struct, frozen=True, omit_defaults=True):
    """One login. `url`: the only address its tokens are for; `scopes`: those that a person
    approved; `expires_at`: seconds since the epoch, None where nobody knows; `refreshing`: who is
    about to use the refresh token; `spent`: why a person must log in again.
    """

    url: str
    resource: str
    issuer: str
    token_endpoint: str
    client: Client
    access_token: str
    scopes: tuple[str, ...] = ()
    expires_at: float | None = None
    refresh_token: str = ""
    revocation_endpoint: str = ""
    logged_in_at: str = ""
    logged_in_by: str = ""
    refreshing: str = ""
    spent: str = ""

    def __repr__(self) -> str:
        return f"Account({shown_url(self.url)!r}, ***)"


class StoredAccount(msgspec.Struct, frozen=True):
    """An account with the version of its slot, which counts its changes."""

    account: Account
    version: int


def write_account(account: Account) -> str:
    """The text that a slot holds."""
    return msgspec.json.encode(account).decode()


def read_account(text: str, slot: str, server: str) -> Account:
    """The account that a slot holds; LoginNeeded where it holds something else."""
    try:
        return msgspec.json.decode(text, type=Account)
    except (msgspec.DecodeError, RecursionError):
        raise LoginNeeded(
            f"the slot {slot} holds no account: run `redshank mcp login {server}`",
            field=slot,
        ) from None


def secrets_in(text: str) -> tuple[str, ...]:
    """What of a slot's text must never be shown: an account's tokens, or all of it."""
    try:
        account = msgspec.json.decode(text, type=Account)
    except (msgspec.DecodeError, RecursionError):
        return (text,)
    found = (account.access_token, account.refresh_token, account.client.client_secret)
    return tuple(secret for secret in found if secret)


def check_for(account: Account, server: str, url: str, scopes: tuple[str, ...]) -> None:
    """Return where the account's token may go to this address with these scopes; LoginNeeded where
    it was given for another server (F66) or fewer scopes (K-65), or is spent.
    """
    again = f"run `redshank mcp login {server}`"
    if canonical(account.url) != canonical(url):
        raise LoginNeeded(
            f"the account of MCP server {server} is for {shown_url(account.url)}, not for "
            f"{shown_url(url)}, so its token is not sent: {again}",
            code="oauth_wrong_resource",
            field="oauth_slot_ref",
        )
    missing = [scope for scope in scopes if scope not in account.scopes]
    if missing:
        raise LoginNeeded(
            f"nobody approved {', '.join(missing)[:200]} for MCP server {server}: {again}, or take "
            f"them out of oauth_scopes",
            code="oauth_scopes_not_approved",
            field="oauth_scopes",
        )
    if account.spent:
        raise LoginNeeded(f"MCP server {server} needs a login: {account.spent}; {again}")


def is_due(account: Account, now: float) -> bool:
    """Whether the access token ends within a minute. `now`: seconds since the epoch."""
    return account.expires_at is not None and account.expires_at - now < REFRESH_BEFORE_SECONDS


def is_over(account: Account, now: float) -> bool:
    """Whether the access token has ended."""
    return account.expires_at is not None and account.expires_at <= now


def refreshed(account: Account, tokens: Tokens, now: float) -> Account:
    """The account with new tokens; LoginNeeded where they are for more than a person approved, so
    that a refresh never widens what was granted (K-65). `now`: seconds since the epoch.
    """
    wider = sorted(set(tokens.scopes or ()) - set(account.scopes))
    if wider and account.scopes:
        raise LoginNeeded(
            f"a refresh brought the scopes {', '.join(wider)[:200]}, which nobody approved",
            code="oauth_scopes_widened",
        )
    return msgspec.structs.replace(
        account,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token or account.refresh_token,
        scopes=tokens.scopes if account.scopes and tokens.scopes is not None else account.scopes,
        expires_at=ends_at(tokens, now),
        refreshing="",
        spent="",
    )


def ends_at(tokens: Tokens, now: float) -> float | None:
    """When the access token ends, in seconds since the epoch, in ten years at the latest. One that
    can be renewed and does not say is taken to live an hour.
    """
    if tokens.expires_in is not None:
        return now + min(max(0.0, tokens.expires_in), _LONGEST_SECONDS)
    return now + _NOT_TOLD_SECONDS if tokens.refresh_token else None


class AccountFacts(msgspec.Struct, frozen=True):
    """What may be read of an account (K-65): no token, no secret of the client."""

    issuer: str
    resource: str
    client_id: str
    scopes: tuple[str, ...]
    expires_at: str | None
    renews: bool
    logged_in_at: str
    logged_in_by: str
    needs_login: str


def facts_of(account: Account, rfc3339: Callable[[float], str]) -> AccountFacts:
    """The account as it may be shown. `rfc3339`: seconds since the epoch as text."""
    return AccountFacts(
        issuer=shown_url(account.issuer),
        resource=shown_url(account.resource),
        client_id=account.client.client_id,
        scopes=account.scopes,
        expires_at=None if account.expires_at is None else rfc3339(account.expires_at),
        renews=bool(account.refresh_token),
        logged_in_at=account.logged_in_at,
        logged_in_by=account.logged_in_by,
        needs_login=account.spent,
    )
