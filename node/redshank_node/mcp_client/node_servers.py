"""All that a node has of MCP: its servers, what they offer to turns, what is told about them."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable

import msgspec

from redshank_node.mcp_client.harmless import one_line
from redshank_node.mcp_client.oauth import OAuthAccess
from redshank_node.mcp_client.offered import McpOffer
from redshank_node.mcp_client.overlay import Overlay
from redshank_node.mcp_client.prompt_skills import PromptSkills, ServersSeen
from redshank_node.mcp_client.publishing import Publishing
from redshank_node.mcp_client.reporting import figures, server_reports
from redshank_node.mcp_client.starting import servers_of
from redshank_node.mcp_client.web_searching import McpSearch
from redshank_node.tools.tool import Away, SearchElsewhere, Tool, Workspace
from redshank_shared import clock
from redshank_shared.domain.errors import Misconfigured, RedshankError
from redshank_shared.metrics import Metrics
from redshank_shared.oauth.requests import Requests
from redshank_shared.profiles.profile import Profile, load, shipped_profile
from redshank_shared.queue.reports import NodeReport
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import LiveSecrets
from redshank_shared.stores.oauth_accounts import OAuthAccounts
from redshank_shared.stores.opening import vault_of
from redshank_shared.vault.redaction import Redactor
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_BEGUN_SECONDS = 0.1
_SAID_CHARACTERS = 200


class Listeners(msgspec.Struct, frozen=True):
    """Who is told of tools: `note` hears of all that come into sight, `change` says what the server
    of one changed since it was accepted; `surface` writes down those that there are (K-48).
    """

    note: Callable[[Iterable[Tool]], Awaitable[None]]
    change: Callable[[Tool], Awaitable[str]]
    surface: Callable[[Iterable[Tool]], str]


class NodeServers:
    """One for a node, which begins with it before it takes work."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node_id: str,
        opened: LiveSecrets,
        redactor: Redactor,
        workspace: Workspace,
        listeners: Listeners,
    ) -> None:
        self._profile = settings.default.profile
        self._listeners = listeners
        accounts = OAuthAccounts(
            database,
            opened,
            vault_of(settings),
            redactor.learn_passing,
            _now,
            secrets.token_bytes,
        )
        self._access = OAuthAccess(
            accounts,
            Requests(),
            node_id,
            lambda: clock.now_ms() / 1000,
            clock.monotonic,
            scoped_only=load(self._profile).mcp.accounts == "scoped",
        )
        redact = redactor.of_output
        self.servers = servers_of(
            as_strict_as(settings, load(self._profile)),
            opened.value,
            redact,
            workspace.root,
            workspace.sandbox,
            self._access,
        )
        self.offer = McpOffer(self.servers, redact)
        backend = settings.tools.web_search_backend
        search = McpSearch(backend, self.servers, self.tools, listeners.change)
        self.search = SearchElsewhere(search.to, search.find)
        self._overlay = Overlay(database, node_id, self.servers, settings, redactor.learn)
        revision, inventories = (lambda: self.servers.revision), self.servers.inventories
        around = ServersSeen(revision, inventories, redact, _now, clock.monotonic)
        self._skills = PromptSkills(database, node_id, around)
        self._publishing = Publishing(
            database,
            node_id,
            self.servers,
            self._overlay,
            lambda: listeners.surface(self.tools()),
            redact,
        )

    async def begin(
        self, group: asyncio.TaskGroup, end: asyncio.Event, term: asyncio.Event, metrics: Metrics
    ) -> Misconfigured | None:
        """Start all servers as tasks of this group until `end`, those that were added at run time
        too; return when each is connected, or failed its first try, or `term` came before. What the
        operator must mend before the node may take work, if anything.
        """
        await self._overlay.load()
        group.create_task(self._run(end, metrics))
        started, leaving = group.create_task(self._started()), group.create_task(term.wait())
        await asyncio.wait((started, leaving), return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if started.done():
            return started.result()
        started.cancel()
        return None

    async def _started(self) -> Misconfigured | None:
        try:
            await self._overlay.started()
            self.offer.begin(load(self._profile))
        except Misconfigured as wrong:
            return wrong
        return None

    async def _run(self, stop: asyncio.Event, metrics: Metrics) -> None:
        """Until stop; then every connection is closed, every child gone."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._access.run(stop))
            group.create_task(self.servers.run(stop))
            group.create_task(self._overlay.run(stop))
            group.create_task(self._skills.run(stop))
            while not (stop.is_set() or self.offer.has_begun):
                await happened(stop, _BEGUN_SECONDS)
            # What is told before would lack the tools that turns see from then on.
            group.create_task(self._publishing.run(stop))
            group.create_task(self._notice(stop, metrics))

    def wake(self) -> None:
        """Somebody changed something about servers: look now."""
        self._overlay.wake()

    def tools(self) -> tuple[Tool, ...]:
        """Every tool that is offered now, whatever profiles make of it."""
        return self.offer.offered(shipped_profile("default")).tools

    def away(self) -> tuple[Away, ...]:
        """The servers whose tools cannot be had now."""
        return tuple(
            Away(status.name, status.state, one_line(status.detail, _SAID_CHARACTERS))
            for status in self.servers.statuses()
            if status.state not in ("connected", "disabled")
        )

    def reported(self, report: NodeReport) -> NodeReport:
        """The report with what there is to say of MCP."""
        statuses = self.servers.statuses()
        return msgspec.structs.replace(
            report,
            mcp=figures(statuses),
            tools=(*report.tools, *(tool.name for tool in self.tools())),
            mcp_servers=server_reports(statuses, self.servers.inventories()),
        )

    def health(self) -> dict[str, object]:
        """How much the connected servers offer, as /health has it; nothing without any (T-78)."""
        statuses = self.servers.statuses()
        return {"mcp": msgspec.structs.asdict(figures(statuses))} if statuses else {}

    async def _notice(self, stop: asyncio.Event, metrics: Metrics) -> None:
        """What comes into sight is noted, so that a later change of it is one (F64)."""
        noted = -1
        while not stop.is_set():
            revision = self.servers.revision
            if revision != noted:
                metrics.know_servers(self.servers.inventories())
                await asyncio.to_thread(self.offer.warm)
                try:
                    await self._listeners.note(self.tools())
                    noted = revision
                except RedshankError as error:
                    logger.warning("tools of MCP servers are not noted: %s", error.detail)
            await happened(stop, _LOOK_SECONDS)


def as_strict_as(settings: Settings, profile: Profile) -> Settings:
    """The settings with what the profile of new workstreams does not put up with at a start: one of
    the two being fatal is enough.
    """
    said, manner = settings.mcp, profile.mcp
    collision, failure = said.on_collision, said.on_failure
    mcp = msgspec.structs.replace(
        said,
        on_collision="fatal" if manner.on_collision == "fatal" else collision,
        on_failure="fatal" if manner.on_failure == "fatal" else failure,
    )
    return msgspec.structs.replace(settings, mcp=mcp)


def _now() -> str:
    return clock.rfc3339(clock.now_utc())
