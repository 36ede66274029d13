"""Puts a node together: the only place that names its concrete parts."""

import asyncio
import logging
import os
import secrets
import signal
import socket

from redshank_node.api.health import node_api, serving, store_checks
from redshank_node.delivery.notifications import Notifications
from redshank_node.dueclock.clock_lead import ClockLead
from redshank_node.dueclock.collecting import Collecting
from redshank_node.dueclock.due_clock import DueClock
from redshank_node.dueclock.expiring import Expiring
from redshank_node.dueclock.firing import Firing, polling_of
from redshank_node.engine.identity import NodeIdentity
from redshank_node.engine.poll_permission import PollPermission
from redshank_node.engine.recorder import Journal
from redshank_node.engine.tool_cards import encoded_cards
from redshank_node.engine.turn_maker import TurnMaker
from redshank_node.engine.turns import Turns
from redshank_node.engine.web_access import web_access
from redshank_node.heartbeat.lease_keeper import LeaseKeeper
from redshank_node.heartbeat.measures import load, memory_bytes
from redshank_node.heartbeat.reporter import Reporter
from redshank_node.mcp_client.node_servers import Listeners, NodeServers
from redshank_node.mcp_client.resource_tools import HELPERS
from redshank_node.providers.configured import make_all
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.support.dynamic_tools import OfferedLater
from redshank_node.worker.worker import NodeWorker
from redshank_shared import clock
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.ids import new_id
from redshank_shared.ledger.sealing import Sealer
from redshank_shared.ledger.signing import key_of_process
from redshank_shared.metrics import Metrics
from redshank_shared.queue.appended_feed import RESYNC, AppendedFeed
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.connection import connect, refuse_eviction
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.queue.reports import NodeReport, ReportBus, encode_report
from redshank_shared.session_commands import SessionCommands
from redshank_shared.settings.metrics_token import metrics_token
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.folds import Folds
from redshank_shared.stores.idempotency import Idempotency
from redshank_shared.stores.leases import Held, Leases
from redshank_shared.stores.ledger import Ledger
from redshank_shared.stores.migrations.schema import check, migrate
from redshank_shared.stores.opening import live_secrets
from redshank_shared.stores.outbox import Outbox
from redshank_shared.stores.schedules import Schedules
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.stores.watch_pushes import WatchPushes
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import NONCE_BYTES
from redshank_shared.wire.service_token import GATEWAY_AUDIENCE, sign
from redshank_shared.wire.version import VERSION

logger = logging.getLogger(__name__)


class Node:
    """One worker process."""

    def __init__(self, settings: Settings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        name = settings.node.name or socket.gethostname()
        self.identity = NodeIdentity(
            node_id=f"{name}.{secrets.token_hex(6)}",
            name=name,
            slots=settings.node.slots,
            lease_seconds=settings.node.lease_seconds,
        )
        self._tool_names = tuple(tool.name for tool in BUILTIN)
        self.metrics = Metrics(
            tools=[*self._tool_names, *HELPERS],
            models=[model.name for model in settings.models],
            servers=[server.name for server in settings.mcp_servers],
        )
        self._metrics_token = metrics_token(settings.metrics)
        self._database = Database(
            settings.database.url,
            synchronous=settings.database.synchronous,
            pool_size=settings.database.pool_size,
        )
        self._leases = Leases(self._database)
        self._redis = connect(settings.redis.url)
        self._bus = Bus(self._redis)
        dispatch = Dispatch(self._redis)
        log = EventLog(self._database)
        self._ledger_key = key_of_process(settings.ledger.key_file)
        seal = Sealer(self._ledger_key).sealed
        self._journal = Journal(self._database, log, Folds(log), self._bus, _now, seal)
        self._secrets = live_secrets(settings, self._database, redactor)
        self._providers = make_all(settings, self._secrets.value)
        offered = OfferedLater()
        self._maker = self._made_maker(offered)
        self._mcp = self._made_mcp()
        offered.behind = self._mcp.offer.offered
        self.turns = Turns(
            self._journal,
            self._leases,
            dispatch,
            self._maker.make,
            self.metrics,
            self.identity,
            clock.monotonic,
        )
        self._clock = ClockLead(self._database, self._leases, dispatch, self.identity.node_id)
        schedules, outbox = Schedules(self._database), Outbox(self._database)
        pushes = WatchPushes(self._database)
        commands = self._made_commands(log, dispatch)
        self._firing = self._made_firing(schedules, pushes, commands)
        self._expiring = Expiring(self._database, commands, self._clock, clock.now_utc)
        self._notifications = self._made_notifications(outbox, commands)
        self._due_clock = self._made_due_clock(schedules, pushes, outbox, dispatch)
        self._draining = False
        self._keeper: LeaseKeeper[dict[str, Held]] | None = None

    def _made_maker(self, offered: OfferedLater) -> TurnMaker:
        return TurnMaker(
            self._settings,
            BUILTIN,
            self._database,
            self._bus,
            self._providers,
            self._redactor,
            self.metrics,
            _new_id,
            web_access(self._settings, self._secrets.value),
            lambda: self._mcp.away(),
            offered,
        )

    def _made_mcp(self) -> NodeServers:
        accepted = self._maker.accepted
        return NodeServers(
            self._settings,
            self._database,
            self.identity.node_id,
            self._secrets,
            self._redactor,
            self._maker.workspace,
            Listeners(
                accepted.note, accepted.change, lambda tools: encoded_cards((*BUILTIN, *tools))
            ),
        )

    def _made_commands(self, log: EventLog, dispatch: Dispatch) -> SessionCommands:
        answers = Idempotency(self._database)
        folds = self._journal.folds
        return SessionCommands(self._database, log, folds, answers, dispatch, self._bus)

    def _made_collecting(self) -> Collecting:
        return Collecting(self._database, self._clock, clock.now_utc)

    def _made_notifications(self, outbox: Outbox, commands: SessionCommands) -> Notifications:
        return Notifications(
            self._database,
            outbox,
            Services(self._database),
            commands,
            self.metrics,
            self._gateway_token,
            clock.now_utc,
        )

    def _gateway_token(self) -> str:
        secret = self._settings.gateway_keys.service_secret.reveal()
        return sign(secret, self.identity.name, GATEWAY_AUDIENCE, clock.now_utc())

    def _made_due_clock(
        self, schedules: Schedules, pushes: WatchPushes, outbox: Outbox, dispatch: Dispatch
    ) -> DueClock:
        return DueClock(
            self._database,
            schedules,
            pushes,
            outbox,
            dispatch,
            self._clock,
            lambda: _new_id("run"),
            self._notifications.give_up,
        )

    def _made_firing(
        self, schedules: Schedules, pushes: WatchPushes, commands: SessionCommands
    ) -> Firing:
        return Firing(
            self._database,
            schedules,
            pushes,
            commands,
            self.metrics,
            polling_of(
                self._settings,
                self._maker.toolsets,
                self._redactor.of_output,
                PollPermission(self._database, self._journal.folds, self._maker.policy),
            ),
            self.identity.name,
            clock.now_utc,
        )

    async def run(self) -> None:
        """Until SIGTERM or SIGINT: then drain, hand over, leave."""
        await self._database.run(migrate, self._database)
        await self._database.run(check, self._database)
        await self._secrets.check_master_key(_now(), secrets.token_bytes(NONCE_BYTES))
        await self._database.run(
            Ledger(self._database).register,
            self._ledger_key.key_id,
            self._ledger_key.public_key,
            _now(),
        )
        await self._until_redis_answers()
        term = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, term.set)
        try:
            await self._serve(term)
        finally:
            await asyncio.gather(*(provider.close() for provider in self._providers.values()))
            await self._redis.aclose()
            await self._database.settled()
            self._database.close()

    async def _serve(self, term: asyncio.Event) -> None:
        settings = self._settings
        intake_stop, turns_stop, end = asyncio.Event(), asyncio.Event(), asyncio.Event()
        worker = NodeWorker(
            self.identity.node_id,
            settings.redis.url,
            directed=(self.identity.name,),
            slots=self.turns,
            advance=self.turns.take_up,
            kept={
                "fire": self._firing.fire,
                "poll": self._firing.poll,
                "push": self._firing.push,
                "deliver": self._notifications.deliver,
            },
        )
        api = node_api(self._health, self.metrics, self._metrics_token)
        server = serving(api, settings.node.host, settings.node.port)
        async with asyncio.TaskGroup() as group:
            keeper = self._lease_keeper(group)
            self._keeper = keeper
            group.create_task(self.turns.run(turns_stop))
            group.create_task(keeper.run(end))
            group.create_task(self._reporter().run(end))
            group.create_task(self._secrets.run(end))
            group.create_task(self._maker.background.run(self.identity.node_id, end))
            refused = await self._mcp.begin(group, end, term, self.metrics)
            if refused is not None:
                intake_stop.set()
                term.set()
            group.create_task(self._clock.run(intake_stop))
            group.create_task(self._due_clock.run(intake_stop))
            group.create_task(self._expiring.run(intake_stop))
            group.create_task(self._made_collecting().run(intake_stop))
            listening = group.create_task(self._listen())
            working = group.create_task(worker.run(intake_stop))
            answering = group.create_task(server.serve())
            logger.info(
                "node %s takes work: %d slots, workspace %s, models %s",
                self.identity.name,
                self.identity.slots,
                self._maker.workspace.root,
                ", ".join(self._providers),
            )
            await term.wait()
            self._draining = True
            intake_stop.set()
            await self.turns.drain(settings.node.grace_seconds)
            await asyncio.wait((working,), timeout=2)
            working.cancel()
            listening.cancel()
            turns_stop.set()
            end.set()
            server.should_exit = True
            await asyncio.wait((answering,), timeout=1)
            answering.cancel()
        if refused is not None:
            raise refused

    def _lease_keeper(self, group: asyncio.TaskGroup) -> "LeaseKeeper[dict[str, Held]]":
        def renewed(asked_at: float, held: dict[str, Held]) -> None:
            self.turns.renewed(asked_at, held)
            group.create_task(self.turns.give_back_strays(held))

        return LeaseKeeper(
            renew=lambda: self._leases.renew(self.identity.node_id, self.identity.lease_seconds),
            renewed=renewed,
            silent=self.turns.fence_expired,
            monotonic=clock.monotonic,
            # Every 4 s under the usual lease of 15 s: a shorter lease is renewed as often in its
            # life, or its node would fence itself between two renewals.
            every_seconds=min(4.0, self.identity.lease_seconds * 4 / 15),
        )

    async def _listen(self) -> None:
        async for heard in AppendedFeed(self._settings.redis.url).listen():
            if heard == RESYNC:
                self.turns.poke_all()
            elif not isinstance(heard, str):
                if heard.mcp:
                    self._mcp.wake()
                if heard.scheduled:
                    self._due_clock.wake()
                if heard.by != self.identity.node_id:
                    self.turns.poke(heard.ws, heard.version)

    async def _until_redis_answers(self) -> None:
        """A Redis that starts beside us is waited for; one that evicts is refused (F55)."""
        while True:
            try:
                return await refuse_eviction(self._redis)
            except Unavailable as error:
                logger.warning("waiting for Redis: %s", error.detail)
                await asyncio.sleep(0.5)

    async def _health(self) -> dict[str, object]:
        checks = await store_checks(self._database, self._redis.ping)
        well = all(value == "ok" for value in checks.values()) and not self._draining
        return {
            "status": "ok" if well else "draining" if self._draining else "degraded",
            "version": VERSION,
            **checks,
            **self._figures(),
        }

    def _figures(self) -> dict[str, object]:
        return {
            "node": self.identity.name,
            "slots": self.identity.slots,
            "busy": self.turns.busy,
            "draining": self._draining,
            "leads_clock": self._clock.leads,
            "loop_lag_ms": self._loop_lag_ms(),
            "pid": os.getpid(),
            "ledger_key": self._ledger_key.key_id,
            "ledger_key_kept": bool(self._settings.ledger.key_file),
            "sandbox": self._maker.sandbox.report(),
            **self._mcp.health(),
        }

    def _reporter(self) -> Reporter:
        services, bus = Services(self._database), ReportBus(self._redis)
        return Reporter(self._database, services, self._row(), self._report, bus)

    def _report(self) -> str:
        return encode_report(
            self._mcp.reported(
                NodeReport(
                    node=self.identity.name,
                    slots=self.identity.slots,
                    busy=self.turns.busy,
                    free=self.turns.free(),
                    load=load(),
                    draining=self._draining,
                    leads_clock=self._clock.leads,
                    loop_lag_ms=self._loop_lag_ms(),
                    memory_bytes=memory_bytes(),
                    pid=os.getpid(),
                    sandbox=self._maker.sandbox.given.backend,
                    tools=self._tool_names,
                    workstreams=self.turns.in_hand,
                )
            )
        )

    def _loop_lag_ms(self) -> int:
        return round(self._keeper.loop_lag_seconds * 1000) if self._keeper else 0

    def _row(self) -> ServiceRow:
        return ServiceRow(
            service_id=self.identity.node_id,
            kind="node",
            address=f"http://{self._settings.node.host}:{self._settings.node.port}",
            version=VERSION,
            started_at=_now(),
            report=self._report(),
            surface=encoded_cards(BUILTIN),
        )


def _now() -> str:
    return clock.rfc3339(clock.now_utc())


def _new_id(prefix: str) -> str:
    return new_id(prefix, clock.now_ms(), secrets.token_bytes(8))
