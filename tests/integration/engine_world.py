"""A small cluster in one process: real stores, a real Valkey, the real engine; scripted models."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec

from redshank_node.engine.accepted_tools import AcceptedTools
from redshank_node.engine.answering import Answering, Models
from redshank_node.engine.artifacts import WorkstreamArtifacts
from redshank_node.engine.asking import USUAL
from redshank_node.engine.calls import Pipeline
from redshank_node.engine.execution import Caller, Execution
from redshank_node.engine.hearing import Hearing
from redshank_node.engine.hook_agents import HookAgents
from redshank_node.engine.hook_tools import tools_of_hooks
from redshank_node.engine.hooks import Hooks, burying
from redshank_node.engine.identity import NodeIdentity
from redshank_node.engine.kept_images import KeptImages
from redshank_node.engine.lease import Lease
from redshank_node.engine.limits_in_force import BatchLimits, LimitsInForce, stored_in
from redshank_node.engine.live_text import LiveText
from redshank_node.engine.oversize import keeping
from redshank_node.engine.pipelines import Judging, Pipelines
from redshank_node.engine.policy import policy_over
from redshank_node.engine.recorder import Journal, Recorder
from redshank_node.engine.schedule_reader import ScheduleReader
from redshank_node.engine.side_questions import SideQuestions
from redshank_node.engine.tool_finder import finder_of, nobody_away
from redshank_node.engine.toolsets import Toolsets
from redshank_node.engine.turn import Turn
from redshank_node.engine.turns import Turns
from redshank_node.providers.provider import Answer, ModelCall, ModelSettings, Provider
from redshank_node.providers.retry import RetryPolicy
from redshank_node.providers.scripted import Scripted, Step
from redshank_node.tools.tool import (
    Away,
    BadArguments,
    CallContext,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_node.tools.toolbox import Toolbox
from redshank_shared import clock
from redshank_shared.domain.commands import Command, PostMessage
from redshank_shared.domain.events import (
    AnyFact,
    Effect,
    Mode,
    Preview,
    Recorded,
    WorkstreamCreated,
)
from redshank_shared.domain.ids import WorkstreamId, new_id
from redshank_shared.domain.limits import Limits
from redshank_shared.domain.workstream import Workstream, fold
from redshank_shared.ledger.sealing import Sealer
from redshank_shared.ledger.signing import new_key
from redshank_shared.metrics import Metrics
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.connection import connect
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.session_commands import SessionCommands, first_facts
from redshank_shared.settings.hooks import Hook
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.folds import Folds
from redshank_shared.stores.idempotency import Idempotency
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.schedules import Schedules
from redshank_shared.stores.tables import workstreams

DEADLINE_SECONDS = 60.0
# Nobody renews a lease here, however long the machine takes over a turn: `expire` ends one.
LEASE_SECONDS = 300.0


def now() -> str:
    return clock.rfc3339(clock.now_utc())


def fresh_id(prefix: str) -> str:
    return new_id(prefix, clock.now_ms(), secrets.token_bytes(8))


def says(text: str, *calls: tuple[str, str]) -> Answer:
    """An answer with this text and these (tool, arguments) calls."""
    asked = tuple(ModelCall(f"p{n}", tool, arguments) for n, (tool, arguments) in enumerate(calls))
    return Answer(text, "tool_calls" if calls else "stop", asked, input_tokens=11, output_tokens=7)


class Probe:
    """Tools that note what they were asked to do, and hold on until they are let go."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.entered = asyncio.Event()
        self.let_go = asyncio.Event()
        self.bound = "first"

    def tools(self) -> tuple[Tool, ...]:
        return (
            self.tool("look", "read", parallel=True),
            self.tool("bash", "process"),
            self.tool("hold", "process", waits=True),
            self.tool("write_file", "write"),
        )

    def tool(
        self, name: str, effect: Effect, *, parallel: bool = False, waits: bool = False
    ) -> Tool:
        """One that notes its calls."""

        def prepare(arguments: dict[str, object], _: Workspace) -> Prepared:
            if "text" not in arguments:
                raise BadArguments("text is required")
            return Prepared(
                {**arguments, "_seen": self.bound}, Preview(f"{name} {arguments['text']}")
            )

        async def run(prepared: Prepared, context: CallContext) -> Result:
            self.ran.append(f"{name} {prepared.arguments['text']}")
            self.entered.set()
            if waits:
                await self.let_go.wait()
            return Result(f"did {prepared.arguments['text']}")

        parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
        return Tool(name, name, parameters, effect, prepare, run, "text", parallel=parallel)


class WorldNode:
    """One node's engine, taken up by hand: no queue decides when."""

    def __init__(
        self,
        world: "World",
        name: str,
        steps: Sequence[Step],
        tools: tuple[Tool, ...],
    ) -> None:
        self.identity = NodeIdentity(f"{name}.{secrets.token_hex(4)}", name, 8, LEASE_SECONDS)
        self.model = Scripted(ModelSettings("main", "scripted", "scripted"), steps)
        self.metrics = Metrics(tools=[tool.name for tool in tools], models=["main"])
        self._world = world
        limits = LimitsInForce(world.limits, stored_in(world.database), clock.monotonic, 0.0)
        policy = policy_over(world.database, tools, clock.monotonic)
        hooks = Hooks(
            world.hooks, burying(world.database), fresh_id, now, clock.monotonic, world.redact
        )
        self._tools_of_hooks = tools_of_hooks(world.hooks, tools)
        self._pipeline = Pipeline(
            Toolbox(tools), Workspace(world.folder), limits, fresh_id, policy, hooks, world.asking
        )
        self._pipelines = (
            Pipelines(
                world.toolsets,
                Judging(limits, fresh_id, policy, hooks, world.asking, world.accepted),
            )
            if world.toolsets
            else None
        )
        self._images = KeptImages(world.database, now)
        self._models = Models(
            {"main": world.provider or self.model, **world.models},
            "main",
            RetryPolicy(attempts=3, first_seconds=0.01),
            world.redact,
            self._images,
        )
        folds = Folds(world.log)
        self.turns = Turns(
            Journal(
                world.database, world.log, folds, world.bus, now, Sealer(world.ledger_key).sealed
            ),
            world.leases,
            world.dispatch,
            self._turn,
            self.metrics,
            self.identity,
            clock.monotonic,
        )

    def _turn(self, recorder: Recorder, lease: Lease) -> Turn:
        live = LiveText(self._world.bus, recorder.state.id)
        pipeline = self._pipelines.of(recorder.state) if self._pipelines else self._pipeline
        caller = Caller(
            recorder.state.id,
            recorder.state.created.owner,
            ScheduleReader(self._world.database, Schedules(self._world.database)),
            keeping(self._world.database, now),
            ask_model=SideQuestions(recorder, self._models, self.metrics).ask,
            images=self._images,
            pins=lambda: recorder.state.pins,
            parent=recorder.state.created.parent,
            artifacts=WorkstreamArtifacts(self._world.database, recorder.state.id, now),
            finder=finder_of(pipeline, recorder.state.created.boundary, self._world.away),
        )
        execution = Execution(
            msgspec.structs.replace(pipeline.workspace, boundary=recorder.state.created.boundary),
            BatchLimits(pipeline.limits),
            live.add,
            clock.monotonic,
            caller,
        )
        answering = Answering(recorder, self._models, pipeline, live, self.metrics, clock.monotonic)
        agents = HookAgents(
            recorder,
            self._models,
            pipeline,
            self._tools_of_hooks,
            caller,
            self.metrics,
            clock.monotonic,
        )
        hearing = Hearing(pipeline, agents.ask)
        return Turn(recorder, lease, hearing, execution, answering, live, self.metrics)


class World:
    """Stores, bus and commands that the nodes of one test share."""

    def __init__(self, database: Database, redis_url: str) -> None:
        self.database = database
        self.log = EventLog(database)
        self.leases = Leases(database)
        self.redis = connect(redis_url)
        self.bus = Bus(self.redis)
        self.dispatch = Dispatch(self.redis)
        self.ledger_key = new_key()
        self.limits = Limits()
        self.hooks: tuple[Hook, ...] = ()
        self.redact: Callable[[str], str] = lambda text: text
        self.folder = Path("/")
        self.asking = USUAL
        self.provider: Provider | None = None
        self.models: dict[str, Provider] = {}
        self.toolsets: Toolsets | None = None
        self.accepted = AcceptedTools(database, now)
        self.away: Callable[[], tuple[Away, ...]] = nobody_away
        self.commands = SessionCommands(
            database, self.log, Folds(self.log), Idempotency(database), self.dispatch, self.bus
        )

    async def create(
        self, text: str, mode: Mode = "default", profile: str = "default"
    ) -> WorkstreamId:
        """A workstream with a first message."""
        workstream = WorkstreamId(fresh_id("ws"))
        created = WorkstreamCreated(name="test", owner="ines", mode=mode, profile=profile)
        facts = first_facts(created, PostMessage(text, "ines"), now())
        await self.commands.create(workstream, facts, now())
        return workstream

    async def do(self, workstream: WorkstreamId, command: Command) -> None:
        await self.commands.execute(workstream, command, now())

    def facts(self, workstream: WorkstreamId) -> list[AnyFact]:
        return [recorded.fact for recorded in self.recorded(workstream)]

    def recorded(self, workstream: WorkstreamId) -> list[Recorded]:
        return self.log.read(workstream)

    def state(self, workstream: WorkstreamId) -> Workstream:
        return fold(workstream, self.log.read(workstream))

    def expire(self, workstream: WorkstreamId) -> None:
        """Time passes: the lease that is held has run out."""
        with self.database.begin() as connection:
            row = workstreams.c
            connection.execute(
                workstreams.update().where(row.id == workstream).values(lease_until=1.0)
            )

    @contextlib.asynccontextmanager
    async def node(
        self, steps: Sequence[Step], tools: tuple[Tool, ...], name: str = "marsh-1"
    ) -> AsyncIterator[WorldNode]:
        """A node's engine until the block ends; then its tasks are cancelled, as by a kill."""
        node = WorldNode(self, name, steps, tools)
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(node.turns.run(stop))
            await asyncio.sleep(0)
            try:
                yield node
            finally:
                stop.set()
        await self.database.settled()

    async def until(self, met: Callable[[], bool], what: str) -> None:
        """Wait for something that must come to be; fail with `what` after 20 s."""
        end = clock.monotonic() + DEADLINE_SECONDS
        while not met():
            assert clock.monotonic() < end, f"never came to be: {what}"
            await asyncio.sleep(0.005)

    async def until_rest(self, workstream: WorkstreamId) -> Workstream:
        def rests() -> bool:
            shown = self.state(workstream).shown
            return shown is not None and shown.state != "running"

        await self.until(rests, f"{workstream} rests")
        return self.state(workstream)
