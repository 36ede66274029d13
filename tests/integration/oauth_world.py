"""Nodes of one cluster that use an OAuth account, without a node's other parts."""

import asyncio
import base64
import contextlib
import secrets
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlsplit

import aiohttp

from redshank_node.mcp_client.oauth import OAuthAccess
from redshank_shared import clock
from redshank_shared.domain.oauth_account import Account
from redshank_shared.domain.oauth_flow import CallbackAnswer
from redshank_shared.oauth.login import LoginAsk, begin, complete
from redshank_shared.oauth.requests import Requests
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import LiveSecrets
from redshank_shared.stores.oauth_accounts import OAuthAccounts
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import Vault
from tests.fakes.authorization_server import ProtectedServer

SLOT = "mcp.oauth.acme"
REDIRECT = "http://127.0.0.1:1/callback"
KEY = base64.b64encode(bytes(32)).decode()


def now() -> float:
    return clock.now_utc().timestamp()


def at() -> str:
    return clock.rfc3339(clock.now_utc())


def record(server: ProtectedServer, **more: object) -> McpServer:
    """The server as an operator describes it."""
    return McpServer(name="acme", url=server.url, oauth_slot_ref=SLOT, **more)  # type: ignore[arg-type]  # fields of the record


class OAuthNode:
    """What a node process has of accounts, over a database of its own opening. `ahead_seconds`: how
    far its clock goes ahead.
    """

    def __init__(self, database_url: str, name: str = "nd_1", **more: bool) -> None:
        self.database = Database(database_url, synchronous="NORMAL")
        self.redactor = Redactor()
        vault = Vault(lambda: KEY)
        learn = self.redactor.learn_passing
        self.live = LiveSecrets(self.database, vault, self.redactor.learn, learn)
        self.accounts = OAuthAccounts(
            self.database, self.live, vault, learn, at, secrets.token_bytes
        )
        self.ahead_seconds = 0.0
        self.monotonic_ahead_seconds = 0.0
        self.access = OAuthAccess(
            self.accounts,
            Requests(),
            name,
            lambda: now() + self.ahead_seconds,
            lambda: clock.monotonic() + self.monotonic_ahead_seconds,
            **more,
        )

    async def account(self) -> Account:
        """What the slot holds."""
        return (await self.accounts.find(SLOT, "acme")).account

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["OAuthNode"]:
        """Owns its renewals inside the block."""
        stop = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.access.run(stop))
                await asyncio.sleep(0)
                try:
                    yield self
                finally:
                    stop.set()
        finally:
            await self.database.settled()
            self.database.close()


async def login(node: OAuthNode, server: ProtectedServer, *scopes: str) -> Account:
    """Log in as a person would, keep the account."""
    ask = LoginAsk("acme", server.url, server.url, REDIRECT, scopes)
    begun = await begin(Requests(), ask, "the-state", secrets.token_bytes(32))
    answer = await browse(begun.authorization_url)
    assert answer.pop("state") == "the-state"
    came = CallbackAnswer(code=answer["code"], issuer=answer.get("iss", ""))
    account = await complete(Requests(), begun.pending, came, "ana", at(), now())
    await node.accounts.put(SLOT, account, "ana")
    return account


async def browse(address: str) -> dict[str, str]:
    """What a browser that goes there brings back to us."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(address, allow_redirects=False) as response,
    ):
        assert response.status == 302, await response.text()
        return dict(parse_qsl(urlsplit(response.headers["location"]).query))
