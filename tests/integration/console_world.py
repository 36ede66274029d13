"""A real console on a real port, over real stores: for tests that speak HTTP to it."""

import asyncio
import contextlib
import json
import secrets
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from redshank_console.bootstrap import Console, listening_socket
from redshank_shared import clock
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    AskedCall,
    CallDecided,
    MessageAnswered,
    Preview,
    Recorded,
    TurnStarted,
    encode_recorded,
)
from redshank_shared.domain.ids import WorkstreamId, new_id
from redshank_shared.domain.plan import number, project, with_state
from redshank_shared.domain.workstream import Workstream, advance, fold
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.connection import connect
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.leases import Leases
from tests.fakes.ports import free_port

TOKEN = "admin-token-of-the-tests"
DEADLINE_SECONDS = 30.0
# No test of consoles waits for a lease to run out.
LEASE_SECONDS = 300.0
NO_PAGE = Path("/nonexistent")


def now() -> str:
    return clock.rfc3339(clock.now_utc())


def fresh_id(prefix: str) -> str:
    return new_id(prefix, clock.now_ms(), secrets.token_bytes(8))


def settings_for(folder: Path, database_url: str, redis_url: str, **more: str) -> Settings:
    """Settings as a process would load them. `more`: further variables, without the prefix."""
    token_file = folder / "admin.token"
    token_file.write_text(TOKEN + "\n")
    given = {
        "DATABASE__URL": database_url,
        "DATABASE__SYNCHRONOUS": "NORMAL",
        "REDIS__URL": redis_url,
        "CONSOLE__PORT": str(free_port()),
        "CONSOLE__ADMIN_TOKEN_FILE": str(token_file),
        **more,
    }
    environ = {f"REDSHANK_{name}": value for name, value in given.items()}
    return load(None, {"HOME": str(folder), **environ})


class RunningConsole:
    """A console that serves in a thread of its own, with a client that is signed in as admin."""

    def __init__(self, settings: Settings, thread: "ServingThread") -> None:
        self.settings = settings
        self.thread = thread
        self.url = f"http://127.0.0.1:{settings.console.port}"
        self.database = Database(settings.database.url, synchronous="NORMAL")
        self.redis = connect(settings.redis.url)
        self.client = self.new_client({"Authorization": f"Bearer {TOKEN}"})

    def new_client(self, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
        """Another client; close it."""
        # No TLS here: what certificates to trust need not be read for each client.
        return httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=DEADLINE_SECONDS, verify=False
        )

    async def create(self, **body: Any) -> WorkstreamId:
        """A workstream's id."""
        answer = await self.client.post("/v1/workstreams", json=body)
        assert answer.status_code == 201, answer.text
        return WorkstreamId(answer.json()["id"])

    async def view(self, ws: WorkstreamId) -> dict[str, Any]:
        answer = await self.client.get(f"/v1/workstreams/{ws}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def events(self, ws: WorkstreamId) -> list[dict[str, Any]]:
        """The whole log as the API gives it."""
        answer = await self.client.get(f"/v1/workstreams/{ws}/events", params={"limit": 1000})
        assert answer.status_code == 200, answer.text
        return list(answer.json()["items"])

    async def close(self) -> None:
        await self.client.aclose()
        await self.redis.aclose()
        await self.database.settled()
        self.database.close()


class ServingThread(threading.Thread):
    """Runs a console as its process does, apart from signals."""

    def __init__(self, settings: Settings, page_folder: Path) -> None:
        super().__init__(name="console")
        self._settings = settings
        self._page_folder = page_folder
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self.listens = threading.Event()
        self.fault: BaseException | None = None

    def run(self) -> None:
        """Serve until `end`."""
        try:
            asyncio.run(self._serve())
        except BaseException as fault:  # noqa: BLE001 - told to the test that waits for the thread
            self.fault = fault
        finally:
            self.listens.set()

    def end(self) -> None:
        """Stop it in order; raise what it fell over."""
        if self._loop is not None and self.is_alive():
            self._loop.call_soon_threadsafe(self._ending.set)
        self.join(DEADLINE_SECONDS)
        assert not self.is_alive(), "the console did not stop"
        if self.fault is not None:
            raise self.fault

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        console = Console(self._settings, self._page_folder)
        try:
            await console.prepare()
            with listening_socket(self._settings) as listening:
                self.listens.set()
                await console.serve(listening, self._ending)
        finally:
            await console.close()


@contextlib.asynccontextmanager
async def running(settings: Settings, page_folder: Path = NO_PAGE) -> AsyncIterator[RunningConsole]:
    """A console that answers inside the block and has stopped behind it."""
    thread = ServingThread(settings, page_folder)
    thread.start()
    thread.listens.wait(DEADLINE_SECONDS)
    world = RunningConsole(settings, thread)
    try:
        if thread.fault is None:
            await world.client.get("/health")
            yield world
    finally:
        await world.close()
        thread.end()


class NodeSide:
    """What a node does to one workstream: it claims it, appends, announces. Runs no model."""

    def __init__(self, world: RunningConsole, ws: WorkstreamId, node_id: str = "nd_1") -> None:
        self._log = EventLog(world.database)
        self._leases = Leases(world.database)
        self.bus = Bus(world.redis)
        self.ws = ws
        self.node_id = node_id
        self.state = Workstream(id=ws)
        self._epoch = 0

    def claim(self) -> None:
        claim = self._leases.claim(self.ws, self.node_id, LEASE_SECONDS)
        assert claim is not None, "nothing to claim"
        self._epoch = claim.epoch
        self.state = fold(self.ws, self._log.read(self.ws))

    def append(self, *facts: AnyFact, release: bool = False) -> list[Recorded]:
        """Append behind the state in hand, `state` last where it changes; nobody is told."""
        at = now()
        whole = with_state(self.state, list(facts), at)
        recorded = number(self.state.version, at, whole)
        after = advance(self.state, recorded)
        self._log.append(
            Append(
                workstream_id=self.ws,
                expected_version=self.state.version,
                facts=tuple(whole),
                at=at,
                projection=project(after),
                epoch=self._epoch,
                node_id=self.node_id,
                release=release,
            )
        )
        self.state = after
        return recorded

    async def announce(self, recorded: list[Recorded]) -> None:
        frames = [encode_recorded(fact) for fact in recorded]
        await self.bus.publish_events(self.ws, recorded[-1].seq, frames, by=self.node_id)

    async def tell(self, *facts: AnyFact, release: bool = False) -> None:
        """Append, then announce."""
        await self.announce(self.append(*facts, release=release))

    async def answer(self, text: str) -> None:
        """Answer what is owed, come to rest."""
        answered = MessageAnswered(read=self.state.version, text=text, finish="stop")
        await self.tell(answered, release=True)

    async def ask_to_run(self, *commands: str) -> list[str]:
        """Take the workstream up, ask a person about bash calls; their request ids."""
        self.claim()
        calls = tuple(
            AskedCall(fresh_id("cl"), "bash", json.dumps({"command": command}))
            for command in commands
        )
        await self.tell(
            TurnStarted(self.node_id, self._epoch),
            MessageAnswered(read=self.state.version, calls=calls, finish="tool_calls"),
        )
        requests = [requested(call) for call in calls]
        decisions = [decided(call) for call in calls]
        await self.tell(*decisions, *requests, release=True)
        return [request.request_id for request in requests]


def decided(call: AskedCall) -> CallDecided:
    return CallDecided(
        call_id=call.call_id,
        tool="bash",
        canonical="bash",
        effect="process",
        decision="ask",
        base_decision="ask",
        effective_mode="default",
        pattern="*",
        scope="builtin",
        origin="builtin",
        why="a process may do anything",
        input_digest="sha256:0",
    )


def requested(call: AskedCall) -> ApprovalRequested:
    command = json.loads(call.arguments)["command"]
    preview = Preview(title=f"run {command}", kind="command", body=command)
    return ApprovalRequested(
        fresh_id("apr"), call.call_id, "bash", call.arguments, "sha256:0", preview
    )


class Frame:
    """One server-sent event."""

    def __init__(self, block: str) -> None:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        self.id = int(fields["id"]) if "id" in fields else None
        self.event = fields.get("event", "")
        self.data: dict[str, Any] = json.loads(fields["data"])


class Stream:
    """A watcher's connection, read frame by frame."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._text = response.aiter_text()
        self._rest = ""

    async def next(self) -> Frame:
        """The next frame; EOFError when the console has ended the stream."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while "\n\n" not in self._rest:
                try:
                    self._rest += await anext(self._text)
                except StopAsyncIteration:
                    raise EOFError from None
        block, self._rest = self._rest.split("\n\n", 1)
        return Frame(block)

    async def until(self, kind: str, seq: int | None = None) -> list[Frame]:
        """All frames up to the one of this kind (and number)."""
        frames = [await self.next()]
        while frames[-1].event != kind or (seq is not None and frames[-1].id != seq):
            frames.append(await self.next())
        return frames


@contextlib.asynccontextmanager
async def watching(
    world: RunningConsole, ws: WorkstreamId, after: int | None = None, **headers: str
) -> AsyncIterator[Stream]:
    """A stream of events; its response may be a refusal."""
    params = {} if after is None else {"after": str(after)}
    async with world.client.stream(
        "GET",
        f"/v1/workstreams/{ws}/events",
        params=params,
        headers={"Accept": "text/event-stream", **headers},
    ) as response:
        yield Stream(response)
