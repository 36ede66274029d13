"""Logs people in to MCP servers, out of them."""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.orders import Clock
from redshank_console.services.secrets import SecretKeeping
from redshank_shared.clock import monotonic, rfc3339
from redshank_shared.domain.errors import Conflict, Invalid, Misconfigured, NotAllowed, NotFound
from redshank_shared.domain.oauth_account import StoredAccount, check_for, facts_of
from redshank_shared.domain.oauth_addresses import checked_address, is_loopback
from redshank_shared.domain.oauth_failures import LoginNeeded, LoginRefused
from redshank_shared.domain.oauth_flow import CallbackAnswer, Pending, random_text
from redshank_shared.oauth.login import LoginAsk, begin, complete
from redshank_shared.oauth.renewal import Renewal
from redshank_shared.oauth.requests import Requests
from redshank_shared.oauth.tokens import revoke
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import LiveSecrets
from redshank_shared.stores.mcp_logins import LIVES_SECONDS, BegunLogin, McpLogins
from redshank_shared.stores.mcp_servers import McpServerRows
from redshank_shared.stores.oauth_accounts import OAuthAccounts
from redshank_shared.stores.opening import vault_of
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import NONCE_BYTES
from redshank_shared.wire.mcp_login_views import (
    McpAccountView,
    McpLoginView,
    McpLogoutView,
    NewMcpLogin,
)

CALLBACK_PATH = "/v1/mcp/oauth/callback"
DOCUMENT_PATH = "/v1/mcp/oauth/client.json"
# Soon enough for who waits for the answer; whoever holds the account keeps it half a minute.
_RENEWAL_SECONDS = 20.0

_decode = msgspec.json.Decoder(McpServer).decode


class KnownServers:
    """The MCP servers that this console knows, by name."""

    def __init__(self, database: Database, configured: Iterable[McpServer]) -> None:
        self._database = database
        self._configured = {server.name: server for server in configured}
        self._rows = McpServerRows(database)

    async def all(self) -> dict[str, McpServer]:
        """Those of the settings go before those that were added."""
        added: dict[str, McpServer] = {}
        for row in await self._database.run(self._rows.servers):
            # What a newer version wrote may not be readable here.
            with contextlib.suppress(msgspec.DecodeError):
                added[row.name] = _decode(row.record)
        return {**added, **self._configured}

    async def with_account(self, name: str) -> McpServer:
        """The server, if it is logged in to by OAuth; NotFound, Conflict say what is missing."""
        server = (await self.all()).get(name)
        if server is None:
            raise NotFound(
                f"this console knows no MCP server {name[:100]}: `redshank mcp ls` lists what "
                f"there is; one of the settings must stand in the console's settings too",
                code="mcp_server_not_found",
                field="name",
            )
        if not server.oauth_slot_ref:
            raise Conflict(
                f"MCP server {name} is not logged in to: give it oauth_slot_ref = "
                f'"mcp.oauth.{name}" if it should be',
                code="mcp_without_oauth",
                field="oauth_slot_ref",
            )
        return server


class McpLogin:
    """`address`: where people open this console, to which their browsers come back."""

    def __init__(  # noqa: PLR0913 - what a login stands on, handed in
        self,
        database: Database,
        servers: KnownServers,
        logins: McpLogins,
        accounts: OAuthAccounts,
        keeping: SecretKeeping,
        audit: AdminAudit,
        clock: Clock,
        address: str,
    ) -> None:
        self._database = database
        self._servers = servers
        self._logins = logins
        self._accounts = accounts
        self._keeping = keeping
        self._audit = audit
        self._clock = clock
        self._address = address
        self._requests = Requests()
        self._renewal = Renewal(accounts, self._requests, "a console", clock.seconds, monotonic)

    @property
    def document_address(self) -> str:
        """Where our client metadata document can be fetched, empty where nobody could."""
        own = f"{self._address}{DOCUMENT_PATH}"
        return own if own.startswith("https://") and not is_loopback(own) else ""

    async def begin(self, name: str, asked: NewMcpLogin, by: str, browser: str) -> McpLoginView:
        """Begin a login that is over in 10 minutes. `browser`: a secret that the browser which
        began it holds; a command line, which names its own address, holds none.

        Raises NotFound, Conflict, Invalid, LoginRefused, TokensUnavailable.
        """
        server = await self._servers.with_account(name)
        redirect_uri = self._redirect_uri(asked.redirect_uri)
        ask = LoginAsk(
            server=name,
            url=server.url,
            resource=server.oauth_resource or server.url,
            redirect_uri=redirect_uri,
            scopes=tuple(dict.fromkeys((*server.oauth_scopes, *asked.scopes))),
            client_id=asked.client_id,
            client_secret=asked.client_secret,
            client_document=self.document_address,
            browser="" if asked.redirect_uri else digest_of(browser),
        )
        state = random_text(self._clock.random_bytes(32))
        begun = await begin(self._requests, ask, state, self._clock.random_bytes(32))
        expires_at = self._clock.seconds() + LIVES_SECONDS
        login = BegunLogin(begun.pending, by, self._clock.at(), expires_at)
        await self._kept(self._logins.add, state, login, self._clock.random_bytes(NONCE_BYTES))
        return McpLoginView(
            server=name,
            authorization_url=begun.authorization_url,
            state=state,
            expires_at=_text_of(expires_at),
        )

    async def come_back(self, state: str, answer: CallbackAnswer, browser: str) -> McpAccountView:
        """Finish a login that this browser began; NotAllowed for another browser, which might have
        been sent here with a stranger's login.
        """
        login = await self._begun(state)
        if not login.pending.browser or digest_of(browser) != login.pending.browser:
            raise NotAllowed(
                f"this browser did not begin the login: begin it on the MCP page of "
                f"{self._address}, or with `redshank mcp login {login.pending.server}`",
                code="oauth_other_browser",
            )
        return await self._finish(state, login, answer)

    async def complete(self, state: str, answer: CallbackAnswer, by: str) -> McpAccountView:
        """Finish a login that `by` began with an address of their own; NotAllowed for others."""
        login = await self._begun(state)
        if login.pending.browser or login.began_by != by:
            raise NotAllowed(
                "somebody else began this login: begin it yourself", code="oauth_other_person"
            )
        return await self._finish(state, login, answer)

    async def accounts(self) -> list[McpAccountView]:
        """Every server that is logged in to by OAuth, with its account."""
        servers = (await self._servers.all()).values()
        ours = sorted((each for each in servers if each.oauth_slot_ref), key=lambda each: each.name)
        return [await self._account(server) for server in ours]

    async def account(self, name: str) -> McpAccountView:
        """A server's account. Raises NotFound, Conflict for a server without."""
        return await self._account(await self._servers.with_account(name))

    async def renew(self, name: str, by: str) -> McpAccountView:
        """Have an account's token renewed now, due or not, under the lock that nodes renew it under
        (F13). Raises NotFound, Conflict for a server without, LoginNeeded, TokensUnavailable.
        """
        server = await self._servers.with_account(name)
        end = asyncio.Event()
        giving_up = asyncio.get_running_loop().call_later(_RENEWAL_SECONDS, end.set)
        try:
            stored = await self._renewal.found(server)
            await self._renewal.renew(server, stored.account.access_token, end)
            view = _view(server, await self._accounts.find(server.oauth_slot_ref, name))
        except Misconfigured as error:
            raise Conflict(error.detail, code=error.code, field=error.field) from error
        finally:
            giving_up.cancel()
        await self._audit.record(by, "mcp_account.renewed", name, f"version {view.version}")
        return view

    async def log_out(self, name: str, by: str) -> McpLogoutView:
        """End a server's account, at its authorization server first where that takes it; from then
        on its slot is revoked. Raises NotFound, Conflict.
        """
        server = await self._servers.with_account(name)
        try:
            stored = await self._accounts.find(server.oauth_slot_ref, name)
            ended = await revoke(self._requests, stored.account)
        except (LoginNeeded, Misconfigured):
            ended = False
        detail = "ended at its server" if ended else "not ended at its server"
        slot = server.oauth_slot_ref
        await self._keeping.revoke(slot, by, "mcp_account.logged_out", name, detail)
        return McpLogoutView(server=name, slot=server.oauth_slot_ref, ended_at_server=ended)

    def _redirect_uri(self, own: str) -> str:
        if own:
            if not is_loopback(own):
                raise Invalid(
                    "redirect_uri is an address of this machine, such as "
                    "http://127.0.0.1:PORT/callback: codes are sent nowhere else",
                    field="redirect_uri",
                )
            return checked_address(own, "redirect_uri", loopback=True)
        return checked_address(
            f"{self._address}{CALLBACK_PATH}",
            "the console's address, to which the browser comes back (console.public_url),",
            loopback=True,
        )

    async def _begun(self, state: str) -> BegunLogin:
        login = await self._kept(self._logins.find, state, self._clock.seconds())
        if login is None:
            raise NotFound(
                "no such login is under way: it is over after 10 minutes, good for one answer; "
                "begin again",
                code="oauth_login_not_found",
                field="state",
            )
        return login

    async def _finish(
        self, state: str, login: BegunLogin, answer: CallbackAnswer
    ) -> McpAccountView:
        if not await self._database.run(self._logins.take, state):
            raise NotFound(
                "this login was answered already: begin again",
                code="oauth_login_not_found",
                field="state",
            )
        pending, by = login.pending, login.began_by
        server = await self._servers.with_account(pending.server)
        _check_unchanged(server, pending)
        account = await complete(
            self._requests, pending, answer, by, self._clock.at(), self._clock.seconds()
        )
        try:
            stored = await self._accounts.put(server.oauth_slot_ref, account, by)
        except Misconfigured as error:
            raise Conflict(error.detail, code=error.code, field=error.field) from error
        scopes = " ".join(account.scopes) or "no scopes"
        view = _view(server, stored)
        detail = f"{view.issuer}, {scopes}, version {stored.version}"
        await self._audit.record(by, "mcp_account.logged_in", pending.server, detail)
        return view

    async def _account(self, server: McpServer) -> McpAccountView:
        slot = server.oauth_slot_ref
        try:
            return _view(server, await self._accounts.find(slot, server.name))
        except LoginNeeded as error:
            if error.code == "oauth_revoked":
                return McpAccountView(server=server.name, slot=slot, state="revoked")
            why = error.detail
            return McpAccountView(server=server.name, slot=slot, state="none", needs_login=why)
        except Misconfigured as error:
            raise Conflict(error.detail, code=error.code, field=error.field) from error

    async def _kept(
        self, work: Callable[..., BegunLogin | None], *args: object
    ) -> BegunLogin | None:
        """What is sealed can be kept, found only with a master key."""
        try:
            return await self._database.run(work, *args)
        except Misconfigured as error:
            raise Conflict(error.detail, code=error.code, field=error.field) from error


def digest_of(browser: str) -> str:
    """What is kept of a browser's secret."""
    return hashlib.sha256(browser.encode(errors="surrogatepass")).hexdigest() if browser else ""


def redirect_addresses(address: str) -> Sequence[str]:
    """Where browsers may come back to a console at this address, or to its command line."""
    return (f"{address}{CALLBACK_PATH}", "http://127.0.0.1/callback")


def _check_unchanged(server: McpServer, pending: Pending) -> None:
    if server.url != pending.url:
        raise LoginRefused(
            f"MCP server {server.name} got another url since the login began: begin again",
            code="oauth_wrong_resource",
        )


def _view(server: McpServer, stored: StoredAccount) -> McpAccountView:
    facts = facts_of(stored.account, _text_of)
    needs = facts.needs_login
    try:
        check_for(stored.account, server.name, server.url, server.oauth_scopes)
    except LoginNeeded as error:
        needs = needs or error.detail
    return McpAccountView(
        server=server.name,
        slot=server.oauth_slot_ref,
        state="needs_login" if needs else "live",
        version=stored.version,
        **{**msgspec.structs.asdict(facts), "needs_login": needs, "scopes": list(facts.scopes)},
    )


def _text_of(seconds: float) -> str:
    return rfc3339(datetime.fromtimestamp(seconds, UTC))


def login_over(
    settings: Settings,
    database: Database,
    live: LiveSecrets,
    redactor: Redactor,
    audit: AdminAudit,
    clock: Clock,
    address: str,
) -> McpLogin:
    """Logins over a console's database with its vault."""
    vault, learn = vault_of(settings), redactor.learn_passing
    keeping = SecretKeeping(database, vault, redactor, audit, clock.at, clock.random_bytes)
    return McpLogin(
        database,
        KnownServers(database, settings.mcp_servers),
        McpLogins(database, vault),
        OAuthAccounts(database, live, vault, learn, clock.at, clock.random_bytes),
        keeping,
        audit,
        clock,
        address,
    )
