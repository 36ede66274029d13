"""Renews an account's token, alone in the cluster: a refresh token may be good for once only."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.oauth_account import (
    Account,
    StoredAccount,
    check_for,
    is_due,
    refreshed,
)
from redshank_shared.domain.oauth_failures import GrantRefused, LoginNeeded, TokensUnavailable
from redshank_shared.oauth.requests import Requests
from redshank_shared.oauth.tokens import refresh
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.waiting import happened

# Longer than a request for tokens may last, so that who is still at it is not overtaken.
HOLD_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_WRITE_AGAIN_SECONDS = 0.5


class Accounts(Protocol):
    """Where accounts lie. `change` answers False where the account is not what was read."""

    async def find(self, slot: str, server: str) -> StoredAccount:
        """The account as it is at this moment."""

    async def change(self, slot: str, stored: StoredAccount, account: Account, by: str) -> bool:
        """Put the account in the place of the one that was read."""


class Renewal:
    """Who uses a refresh token first says so in its slot by compare-and-swap; the others wait for
    what comes of it (F13). `holder` names this process there; `now`: seconds since the epoch.
    """

    def __init__(
        self,
        accounts: Accounts,
        requests: Requests,
        holder: str,
        now: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        self._accounts = accounts
        self._requests = requests
        self._holder = holder
        self._now = now
        self._monotonic = monotonic
        self._held: dict[str, tuple[int, float]] = {}

    async def found(self, server: McpServer) -> StoredAccount:
        """The server's account, if its token may go there. LoginNeeded, Misconfigured,
        Unavailable.
        """
        stored = await self._accounts.find(server.oauth_slot_ref, server.name)
        check_for(stored.account, server.name, server.url, server.oauth_scopes)
        return stored

    async def renew(self, server: McpServer, unwanted: str, end: asyncio.Event) -> Account:
        """The account with another token than the `unwanted` one, or one that is not due: somebody
        else's by now, or a new one. Once a token is asked for, what comes of it is kept, as long as
        `end` is not set. Raises as `found`, TokensUnavailable.
        """
        slot = server.oauth_slot_ref
        while True:
            stored = await self.found(server)
            account = stored.account
            if account.access_token != unwanted and not is_due(account, self._now()):
                return account
            _check_renewable(account, server)
            if self._is_held(slot, stored):
                if await happened(end, _LOOK_SECONDS):
                    raise TokensUnavailable(
                        f"the token of MCP server {server.name} is being renewed by "
                        f"{account.refreshing}: try again in half a minute"
                    )
                continue
            ours = msgspec.structs.replace(account, refreshing=self._holder)
            if await self._accounts.change(slot, stored, ours, account.logged_in_by):
                return await self._ask(server, StoredAccount(ours, stored.version + 1), end)

    def _is_held(self, slot: str, stored: StoredAccount) -> bool:
        """Whether somebody is at it. Measured on our own clock: those of others may differ."""
        if not stored.account.refreshing:
            return False
        version, since = self._held.get(slot, (0, 0.0))
        if version != stored.version:
            since = self._monotonic()
            self._held[slot] = stored.version, since
        return self._monotonic() - since < HOLD_SECONDS

    async def _ask(self, server: McpServer, held: StoredAccount, end: asyncio.Event) -> Account:
        account = held.account
        idle = msgspec.structs.replace(account, refreshing="")
        try:
            fresh = refreshed(account, await refresh(self._requests, account), self._now())
        except (GrantRefused, LoginNeeded) as error:
            spent = msgspec.structs.replace(idle, spent=error.detail)
            await self._keep(server, held, spent, end)
            raise LoginNeeded(
                f"MCP server {server.name} needs a login: {error.detail}; run "
                f"`redshank mcp login {server.name}`",
                code="oauth_login_needed" if isinstance(error, GrantRefused) else error.code,
            ) from None
        except TokensUnavailable:
            await self._keep(server, held, idle, end)
            raise
        return await self._keep(server, held, fresh, end)

    async def _keep(
        self, server: McpServer, held: StoredAccount, account: Account, end: asyncio.Event
    ) -> Account:
        """Write down what came of a renewal; the account as it is there then.

        A new login in the meantime goes before it. Who overtook us holds the token that we have
        used up already: ours goes before theirs, if we have got one.
        """
        is_new = account.access_token != held.account.access_token
        slot, stored = server.oauth_slot_ref, held
        while True:
            try:
                if await self._accounts.change(slot, stored, account, account.logged_in_by):
                    return account
                stored = await self._accounts.find(slot, server.name)
            except Unavailable:
                # The old refresh token is spent: this one must not be lost to an outage.
                if await happened(end, _WRITE_AGAIN_SECONDS):
                    raise
                continue
            if not is_new or stored.account.refresh_token != held.account.refresh_token:
                return stored.account


def _check_renewable(account: Account, server: McpServer) -> None:
    if not account.refresh_token:
        raise LoginNeeded(
            f"the token of MCP server {server.name} is good for nothing more, and there is none to "
            f"renew it with: run `redshank mcp login {server.name}`",
        )
