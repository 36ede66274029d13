"""Puts a console together: the only place that names its concrete parts."""

import asyncio
import contextlib
import logging
import resource
import secrets
import signal
import socket
from collections.abc import Generator
from pathlib import Path

import uvicorn

from redshank_console.api.announced import PATH as ANNOUNCED_PATH
from redshank_console.api.app import application
from redshank_console.api.door import DoorRules, rules
from redshank_console.api.page import root_files
from redshank_console.api.parts import Parts
from redshank_console.collector.census import Census
from redshank_console.collector.cluster import Cluster
from redshank_console.services.accounts import Accounts
from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.announcing import Announcing, Verifier
from redshank_console.services.answers import Answers
from redshank_console.services.assets import AssetReading
from redshank_console.services.cluster_feed import ClusterFeeds
from redshank_console.services.cluster_reading import ClusterReading
from redshank_console.services.event_feed import EventFeeds
from redshank_console.services.event_pages import EventPages
from redshank_console.services.gauges import Gauges
from redshank_console.services.health import Health
from redshank_console.services.hook_dead_letters import DeadLetterReading
from redshank_console.services.kept_answers import KeptAnswers
from redshank_console.services.ledger import LedgerReading
from redshank_console.services.mcp import mcp_over
from redshank_console.services.mcp_login import login_over
from redshank_console.services.orders import Clock, Defaults, Orders
from redshank_console.services.overview import Overview
from redshank_console.services.permissions import permissions_over
from redshank_console.services.profiles import install_profiles
from redshank_console.services.reading import Reading
from redshank_console.services.registration import Registration, console_row
from redshank_console.services.schedule_orders import ScheduleOrders
from redshank_console.services.schedules import ScheduleReading
from redshank_console.services.secrets import SecretKeeping
from redshank_console.services.sign_in import SignIn
from redshank_console.services.skills import skills_over
from redshank_console.services.standing import Standing
from redshank_console.services.tool_limits import ToolLimitOrders
from redshank_console.services.watch_hooks import WatchHooks
from redshank_shared import clock
from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.metrics import Metrics
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.connection import connect, refuse_eviction
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.queue.reports import ReportBus, ReportFeed
from redshank_shared.queue.watchers import Watchers
from redshank_shared.session_commands import SessionCommands
from redshank_shared.settings.metrics_token import metrics_token
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.admin_audits import AdminAudits
from redshank_shared.stores.approvals import Approvals
from redshank_shared.stores.assets import Assets
from redshank_shared.stores.audits import Audits
from redshank_shared.stores.backlog import Backlog
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.folds import Folds
from redshank_shared.stores.hook_dead_letters import HookDeadLetters
from redshank_shared.stores.idempotency import Idempotency
from redshank_shared.stores.last_runs import LastRuns
from redshank_shared.stores.ledger import Ledger
from redshank_shared.stores.migrations.schema import check, migrate
from redshank_shared.stores.opening import live_secrets, redactor_of, vault_of
from redshank_shared.stores.questions import Questions
from redshank_shared.stores.schedules import Schedules
from redshank_shared.stores.services import Services
from redshank_shared.stores.tokens import Tokens
from redshank_shared.stores.tool_limits import ToolLimits
from redshank_shared.stores.users import Users
from redshank_shared.stores.watch_pushes import WatchPushes
from redshank_shared.stores.workstreams import Workstreams
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import NONCE_BYTES
from redshank_shared.wire.version import VERSION

logger = logging.getLogger(__name__)

PAGE_FOLDER = Path(__file__).parent / "page"
_GRACE_SECONDS = 3
_BACKLOG = 2048


class Console:
    """One console process."""

    def __init__(
        self,
        settings: Settings,
        page_folder: Path = PAGE_FOLDER,
        redactor: Redactor | None = None,
    ) -> None:
        self._settings = settings
        install_profiles(settings.profiles, settings.default.profile)
        self._redactor = redactor or redactor_of(settings)
        self._database = Database(
            settings.database.url,
            synchronous=settings.database.synchronous,
            pool_size=settings.database.pool_size,
        )
        self._redis = connect(settings.redis.url)
        self.watchers = Watchers(settings.redis.url)
        self._services = Services(self._database)
        self._cluster = self._new_cluster()
        self._standing = Standing(self._database, Tokens(self._database))
        self._secrets = live_secrets(settings, self._database, self._redactor)
        self.parts = self._assembled(page_folder)

    async def run(self, *, migrates: bool = True) -> None:
        """Until SIGTERM or SIGINT; Misconfigured or Unavailable where it cannot start."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        try:
            await self.prepare(migrates=migrates)
            with listening_socket(self._settings) as listening:
                await self.serve(listening, stop)
        finally:
            await self.close()

    async def prepare(self, *, migrates: bool = True) -> None:
        """Check all that a start depends on; nothing is served before."""
        _allow_many_streams()
        if migrates:
            await self._database.run(migrate, self._database)
        await self._database.run(check, self._database)
        await self._secrets.check_master_key(_at(), secrets.token_bytes(NONCE_BYTES))
        try:
            await refuse_eviction(self._redis)
        except Unavailable as error:
            logger.warning("started without Redis: %s", error.detail)
        if self._settings.console.auth == "token":
            await self.parts.sign_in.adopt_admin_token(_token_file(self._settings))

    async def serve(self, listening: socket.socket, stop: asyncio.Event) -> None:
        """Answer requests until `stop`; then end the streams at once, the rest within 3 s."""
        server = _QuietServer(
            uvicorn.Config(
                application(self.parts),
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                backlog=_BACKLOG,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(self.watchers.run()),
                group.create_task(self._cluster.run()),
                group.create_task(self._registration().run()),
                group.create_task(self._refuse_eviction_later()),
                group.create_task(self._standing.run()),
                group.create_task(self._secrets.run(stop)),
            ]
            serving = group.create_task(server.serve(sockets=[listening]))
            logger.info("console answers at %s", self.parts.address)
            await stop.wait()
            self.parts.feeds.close()
            self.parts.cluster_feeds.close()
            server.should_exit = True
            await asyncio.wait((serving,))
            for helper in helpers:
                helper.cancel()

    async def close(self) -> None:
        """Let go of database and Redis."""
        await self._redis.aclose()
        await self._database.settled()
        self._database.close()

    def _assembled(self, page_folder: Path) -> Parts:
        settings, database = self._settings, self._database
        log, approvals = EventLog(database), Approvals(database)
        workstreams, dispatch, bus = Workstreams(database), Dispatch(self._redis), Bus(self._redis)
        cluster = self._cluster
        commands = SessionCommands(database, log, Folds(log), Idempotency(database), dispatch, bus)
        ours = Clock(_at, clock.now_ms, secrets.token_bytes)
        questions, audits = Questions(database), Audits(database)
        reading = Reading(
            database, workstreams, approvals, questions, audits, cluster, ours.seconds
        )
        orders = Orders(commands, reading, database, log, _defaults(settings), ours)
        schedules = ScheduleReading(database, Schedules(database), LastRuns(database))
        pages = EventPages(database, log)
        audit = AdminAudit(database, AdminAudits(database), _at, clock.now_ms, secrets.token_bytes)
        sign_in = self._sign_in(audit)
        permissions = permissions_over(database, commands, audit, ours)
        overview, backlog = Overview(cluster, VERSION), Backlog(database)
        measured = ClusterReading(database, backlog, overview, clock.monotonic, clock.now_utc)
        return Parts(
            orders=orders,
            reading=reading,
            answers=Answers(
                orders, database, approvals, questions, permissions.rules.allowed_always
            ),
            schedule_orders=ScheduleOrders(commands, schedules, ours),
            schedules=schedules,
            secrets=self._secret_keeping(audit),
            redactor=self._redactor,
            pages=pages,
            feeds=EventFeeds(pages, self.watchers, bus),
            sign_in=sign_in,
            admin_audit=audit,
            accounts=self._accounts(audit),
            standing=self._standing,
            overview=overview,
            cluster_feeds=ClusterFeeds(overview),
            tool_limits=self._tool_limit_orders(ours),
            permissions=permissions,
            mcp=mcp_over(
                database, cluster, settings, permissions.dry_runs, audit, ours, clock.monotonic, bus
            ),
            mcp_login=login_over(
                settings, database, self._secrets, self._redactor, audit, ours, address_of(settings)
            ),
            skills=skills_over(database, audit, ours),
            assets=AssetReading(database, Assets(database)),
            hook_dead_letters=DeadLetterReading(database, HookDeadLetters(database)),
            announcing=Announcing(database, self._services, sign_in, self._verifier(), _at),
            ledger=LedgerReading(database, Ledger(database)),
            watch_hooks=self._watch_hooks(schedules, bus, ours),
            health=Health(database, dispatch, VERSION),
            gauges=Gauges(Metrics(), measured),
            door_rules=self._door_rules(page_folder),
            page_folder=page_folder,
            address=address_of(settings),
            version=VERSION,
        )

    def _door_rules(self, page_folder: Path) -> DoorRules:
        console = self._settings.console
        open_paths = ("/assets/", ANNOUNCED_PATH, *root_files(page_folder))
        token = metrics_token(self._settings.metrics)
        return rules(console.host, console.auth, console.public_url, open_paths, token)

    def _secret_keeping(self, audit: AdminAudit) -> SecretKeeping:
        vault, redactor = vault_of(self._settings), self._redactor
        return SecretKeeping(self._database, vault, redactor, audit, _at, secrets.token_bytes)

    def _sign_in(self, audit: AdminAudit) -> SignIn:
        tokens, users = Tokens(self._database), Users(self._database)
        return SignIn(self._database, tokens, users, audit, _seconds, _at, _new_secret)

    def _accounts(self, audit: AdminAudit) -> Accounts:
        return Accounts(
            self._database,
            Users(self._database),
            Tokens(self._database),
            audit,
            KeptAnswers(self._database, Idempotency(self._database)),
            _seconds,
            _at,
            _new_secret,
            clock.now_ms,
            secrets.token_bytes,
        )

    def _tool_limit_orders(self, ours: Clock) -> ToolLimitOrders:
        database, configured = self._database, self._settings.limits
        audits = AdminAudits(database)
        audit = AdminAudit(database, audits, ours.at, ours.milliseconds, ours.random_bytes)
        store, answers = ToolLimits(database), Idempotency(database)
        return ToolLimitOrders(database, store, answers, configured, audit, ours)

    def _watch_hooks(self, schedules: ScheduleReading, bus: Bus, ours: Clock) -> WatchHooks:
        return WatchHooks(
            self._database,
            WatchPushes(self._database),
            schedules,
            bus,
            ours,
            _new_secret,
            address_of(self._settings),
            self._redactor.of_output,
        )

    def _verifier(self) -> Verifier:
        return Verifier(self._settings.gateway_keys.service_secret.reveal(), clock.now_utc)

    def _new_cluster(self) -> Cluster:
        database, services = self._database, self._services
        feed, bus = ReportFeed(self._settings.redis.url), ReportBus(self._redis)
        census = Census(database, services, clock.monotonic, feed, bus)
        dispatch = Dispatch(self._redis)
        workstreams = Workstreams(database)
        return Cluster(database, services, workstreams, dispatch, clock.monotonic, census)

    def _registration(self) -> Registration:
        host = socket.gethostname()
        row = console_row(
            f"{host}.{secrets.token_hex(6)}", self.parts.address, VERSION, _at(), host
        )
        return Registration(self._database, self._services, row)

    async def _refuse_eviction_later(self) -> None:
        """A Redis that was away at the start is looked at as soon as it answers (F55)."""
        while True:
            try:
                return await refuse_eviction(self._redis)
            except Unavailable:
                await asyncio.sleep(1)


class _QuietServer(uvicorn.Server):
    """Signals are the console's own: stopping ends the streams first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def address_of(settings: Settings) -> str:
    """Where people open this console."""
    console = settings.console
    if console.public_url:
        return console.public_url.rstrip("/")
    host = f"[{console.host}]" if ":" in console.host else console.host
    return f"http://{host}:{console.port}"


def listening_socket(settings: Settings) -> socket.socket:
    """The socket to serve on; Misconfigured where it cannot be had."""
    host, port = settings.console.host, settings.console.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise Misconfigured(
            f"the console cannot listen on {host} port {port} ({error.strerror}): stop what "
            f"uses it, or set console.port (REDSHANK_CONSOLE__PORT) to another",
            code="port_in_use",
            field="console.port",
        ) from error
    # asyncio asks for this only where a socket names its protocol, which create_server's do not:
    # without it each answer waits 40 ms for the acknowledgement of its headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _token_file(settings: Settings) -> Path:
    if not settings.console.admin_token_file:
        raise Misconfigured(
            "console.admin_token_file names no file, so nobody could sign in: name one that holds "
            'a token of 16 characters or more, or set console.auth = "off" on loopback',
            field="console.admin_token_file",
        )
    return Path(settings.console.admin_token_file).expanduser()


def _defaults(settings: Settings) -> Defaults:
    default = settings.default
    models = tuple(model.name for model in settings.models)
    return Defaults(default.model, default.mode, default.profile, models)


def _allow_many_streams() -> None:
    """A stream is a file descriptor; the usual soft limit would end at a thousand (F31)."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _at() -> str:
    return clock.rfc3339(clock.now_utc())


def _seconds() -> float:
    return clock.now_utc().timestamp()


def _new_secret() -> str:
    return secrets.token_urlsafe(32)
