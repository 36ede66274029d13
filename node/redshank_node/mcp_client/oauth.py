"""Gives each request to an MCP server its token: read live, renewed once for the whole cluster."""

import asyncio
import logging
import shlex
from collections.abc import Callable

import msgspec

from redshank_shared.domain.errors import RedshankError
from redshank_shared.domain.oauth_account import Account, StoredAccount, is_due, is_over
from redshank_shared.domain.oauth_discovery import read_challenge
from redshank_shared.domain.oauth_failures import (
    NEEDS_SCOPE,
    LoginNeeded,
    ScopedUseOnly,
    TokensUnavailable,
)
from redshank_shared.oauth.renewal import Renewal
from redshank_shared.oauth.requests import Requests
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.oauth_accounts import OAuthAccounts

logger = logging.getLogger(__name__)

_TRY_AGAIN_SECONDS = 5.0
# A server that refuses every token must not have one renewed for each call.
_JUST_NOW_SECONDS = 60.0
_MOST_SCOPES = 10


class _Refusal(msgspec.Struct, frozen=True):
    """A server refused a token: the one that was got in its place, or the one that had none."""

    token: str
    at: float


class OAuthAccess:
    """One for a node. Nothing of an account is kept between two requests: a slot that was revoked
    or filled anew counts from the next one on (K-64).

    However many calls need a new token, one renewal of this node brings it (F13).
    `scoped_only`: a server gets no token until a session that may use it has called it (K-63).
    `now`: seconds since the epoch.
    """

    def __init__(
        self,
        accounts: OAuthAccounts,
        requests: Requests,
        holder: str,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        *,
        scoped_only: bool = False,
    ) -> None:
        self._renewal = Renewal(accounts, requests, holder, now, monotonic)
        self._now = now
        self._monotonic = monotonic
        self._scoped_only = scoped_only
        self._admitted: set[tuple[str, str, str]] = set()
        self._given: dict[str, str] = {}
        self._replaced: dict[str, _Refusal] = {}
        self._useless: dict[str, _Refusal] = {}
        self._failed_at: dict[str, float] = {}
        self._doing: dict[str, asyncio.Task[Account | RedshankError]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._stop = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Own the renewals until `stop`, then see the last of them through: a renewal outlives the
        call that needed it, since the token it brings must not be lost.
        """
        async with asyncio.TaskGroup() as group:
            self._group, self._stop = group, stop
            await stop.wait()
            self._group = None

    def admit(self, server: McpServer) -> None:
        """A session whose credential scope allows the server calls it: from then on it is given
        tokens (K-64). The engine holds each call to its scope before it gets here (K-68).
        """
        self._admitted.add(_identity(server))

    def sleeps(self, server: McpServer) -> bool:
        """Whether the server waits for the first such call (K-63)."""
        return bool(
            self._scoped_only and server.oauth_slot_ref and _identity(server) not in self._admitted
        )

    async def authorize(self, server: McpServer) -> str:
        """The bearer token for the next request to the server, good for another minute where it can
        be renewed. LoginNeeded where a person must log in first, ScopedUseOnly where no session
        that may use the server has called it, TokensUnavailable, Unavailable, Misconfigured.
        """
        account = (await self._found(server)).account
        if self._is_lately(self._useless, server, account.access_token):
            raise _refuses_all(server)
        if is_due(account, self._now()):
            account = await self._renewed_in_time(server, account)
        self._given[server.name] = account.access_token
        return account.access_token

    async def refused(self, server: McpServer, www_authenticate: str, token: str = "") -> None:
        """The server answered 401: return where another token is there now, so that the request is
        worth a second try. Raises as `authorize`; a server that refuses a token that was renewed
        for it just now needs a login. `token`: the refused one, without it the one given last.
        """
        unwanted = token or self._given.get(server.name, "")
        stored = await self._found(server)
        challenge = read_challenge(www_authenticate)
        if challenge.error == "insufficient_scope":
            raise _wants_more(server, challenge.scopes)
        if stored.account.access_token != unwanted:
            return
        slot = server.oauth_slot_ref
        try:
            if self._is_lately(self._replaced, server, unwanted):
                raise _refuses_all(server)
            account = await self._renewed(server, unwanted)
        except LoginNeeded:
            self._useless[slot] = _Refusal(unwanted, self._monotonic())
            raise
        self._replaced[slot] = _Refusal(account.access_token, self._monotonic())

    def _is_lately(self, refusals: dict[str, "_Refusal"], server: McpServer, token: str) -> bool:
        """Whether the token is the one of a refusal within the last minute."""
        refusal = refusals.get(server.oauth_slot_ref)
        if refusal is None or refusal.token != token:
            return False
        return self._monotonic() - refusal.at < _JUST_NOW_SECONDS

    async def _found(self, server: McpServer) -> StoredAccount:
        if self.sleeps(server):
            raise ScopedUseOnly(
                f"{NEEDS_SCOPE}: MCP server {server.name} has an account, which is used from "
                f"inside a session that may use it: read or list its resources there"
            )
        return await self._renewal.found(server)

    async def _renewed_in_time(self, server: McpServer, account: Account) -> Account:
        """A token that still lives serves while the authorization server is away."""
        lives = not is_over(account, self._now())
        failed_at = self._failed_at.get(server.oauth_slot_ref)
        lately = failed_at is not None and self._monotonic() - failed_at < _TRY_AGAIN_SECONDS
        if lives and (lately or not account.refresh_token):
            return account
        try:
            return await self._renewed(server, "")
        except TokensUnavailable as error:
            if not lives:
                raise
            logger.info("a token of MCP server %s lives on: %s", server.name, error.detail)
            return account

    async def _renewed(self, server: McpServer, unwanted: str) -> Account:
        """What the renewal under way leads to, or a new one."""
        slot = server.oauth_slot_ref
        while True:
            doing = self._doing.get(slot)
            is_ours = doing is None
            if doing is None:
                if self._group is None:
                    raise TokensUnavailable("this node is ending: no token is renewed any more")
                doing = self._group.create_task(self._renewing(server, unwanted))
                self._doing[slot] = doing
                doing.add_done_callback(lambda _: self._doing.pop(slot, None))
            outcome = await asyncio.shield(doing)
            if isinstance(outcome, RedshankError):
                raise outcome
            if outcome.access_token != unwanted:
                return outcome
            # Somebody else's may have been for another reason; ours brought the refused one again.
            if is_ours:
                raise _refuses_all(server)

    async def _renewing(self, server: McpServer, unwanted: str) -> Account | RedshankError:
        slot = server.oauth_slot_ref
        try:
            account = await self._renewal.renew(server, unwanted, self._stop)
        except RedshankError as error:
            self._failed_at[slot] = self._monotonic()
            return error
        except Exception:  # noqa: BLE001 - a fault here must not end the renewals of others
            logger.exception("a token of MCP server %s could not be renewed", server.name)
            return TokensUnavailable(f"the token of MCP server {server.name} was not renewed")
        self._failed_at.pop(slot, None)
        return account


def _identity(server: McpServer) -> tuple[str, str, str]:
    """Another server under the name of one that was removed is another."""
    return server.name, server.url, server.oauth_slot_ref


def _wants_more(server: McpServer, scopes: tuple[str, ...]) -> LoginNeeded:
    # A stranger's words in what a person may type: a shell must take them as words.
    asked = " ".join(f"--scope {shlex.quote(scope[:100])}" for scope in scopes[:_MOST_SCOPES])
    more = f" (and {len(scopes) - _MOST_SCOPES} more)" if len(scopes) > _MOST_SCOPES else ""
    return LoginNeeded(
        f"MCP server {server.name} wants more scopes: run `redshank mcp login {server.name} "
        f"{asked}`{more}",
        code="oauth_scopes_missing",
    )


def _refuses_all(server: McpServer) -> LoginNeeded:
    return LoginNeeded(
        f"MCP server {server.name} refuses its token, a fresh one too: run `redshank mcp login "
        f"{server.name}`",
        code="oauth_token_refused",
    )
