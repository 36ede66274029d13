"""MCP servers die and come back at random while many workstreams call them."""

import asyncio
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_node.mcp_client.calling import TextContent
from redshank_node.mcp_client.failures import OutcomeUnknown, ServerUnavailable
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.database import Database
from tests.fakes.mcp_node import connected
from tests.fakes.ports import free_port
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World
from tests.integration.mcp_turns import McpTurns, folder_of, results

SEED = 20261130
ECHO = Path(__file__).parents[1] / "fakes" / "mcp_echo.py"
WORKSTREAMS = 100
KILLS = 40
# A call that nobody ends lasts so long: longer than the whole test may.
CALL_SECONDS = 600.0
DEADLINE_SECONDS = 150.0


class Fleet:
    """Ten servers: six commands, four behind ports; each leaves word of what it did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._ports = {f"far{number}": free_port() for number in range(4)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.near = [f"near{number}" for number in range(6)]
        self.names = [*self.near, *self._ports]

    def records(self) -> list[McpServer]:
        """As an operator would describe them."""
        far = [
            McpServer(name=name, url=f"http://127.0.0.1:{port}/mcp", startup_timeout_sec=30)
            for name, port in self._ports.items()
        ]
        near = [
            McpServer(
                name=name,
                command=sys.executable,
                args=("-I", str(ECHO), str(self.folder), name, "stdio"),
                startup_timeout_sec=30,
            )
            for name in self.near
        ]
        return near + far

    def start_far(self, name: str) -> None:
        """Start one behind its port."""
        arguments = ("-I", str(ECHO), str(self.folder), name, "http", str(self._ports[name]))
        self._running[name] = subprocess.Popen(
            (sys.executable, *arguments), stdout=subprocess.DEVNULL
        )

    def start_all_far(self) -> None:
        for name in self._ports:
            self.start_far(name)

    def kill(self, name: str) -> None:
        """KILL; a command is started anew by who called it, one behind a port by `start_far`."""
        if name in self._running:
            self._running[name].kill()
            self._running.pop(name).wait()
            return
        with contextlib.suppress(ProcessLookupError, FileNotFoundError, IndexError):
            pid = int((self.folder / f"{name}.pids").read_text().split()[-1])
            if pid in self.alive():
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        for name in list(self._running):
            self.kill(name)

    def done(self, name: str) -> Counter[str]:
        """How often the server acted on each word."""
        return Counter((self.folder / f"{name}.done").read_text().split())

    def alive(self) -> set[int]:
        """Every process that names our folder, servers and who watches over them."""
        found = set()
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and int(process.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if str(self.folder).encode() in (process / "cmdline").read_bytes():
                        found.add(int(process.name))
        return found


class Tally:
    """What the workstreams got."""

    def __init__(self) -> None:
        self.answered: set[tuple[str, str]] = set()
        self.failed: Counter[str] = Counter()

    async def call(self, servers: McpServers, name: str, word: str, pause_ms: int) -> bool:
        """Whether there was an answer; it must be this call's own. A server that is down, or dies
        meanwhile, says so: anything else is raised.
        """
        arguments = {"word": word, "pause_ms": pause_ms}
        try:
            called = await servers.call(name, "echo", arguments, CALL_SECONDS)
        except (ServerUnavailable, OutcomeUnknown) as failure:
            if name not in str(failure):
                raise
            self.failed[type(failure).__name__] += 1
            return False
        assert called.content == (TextContent(f"{name} {word}"),)
        self.answered.add((name, word))
        return True


@pytest.fixture
async def world(sqlite_template: Path, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    """An engine over SQLite."""
    shutil.copy(sqlite_template, tmp_path / "redshank.db")
    database = Database(f"sqlite:///{tmp_path}/redshank.db", synchronous="NORMAL")
    made = World(database, valkey.url)
    made.folder = folder_of(tmp_path)
    yield made
    await made.redis.aclose()
    database.close()


@pytest.mark.req("C-55")
@pytest.mark.fault("F9")
@pytest.mark.fault("F10")
@pytest.mark.fault("F11")
@pytest.mark.timeout(240)
async def test_no_call_hangs_none_gets_anothers_answer_no_process_is_left(
    tmp_path: Path, world: World
) -> None:
    fleet, tally = Fleet(tmp_path / "fleet"), Tally()
    fleet.start_all_far()
    try:
        async with (
            asyncio.timeout(DEADLINE_SECONDS),
            connected(fleet.folder, *fleet.records(), seed=SEED) as servers,
            asyncio.TaskGroup() as group,
        ):
            over = asyncio.Event()
            for number in range(WORKSTREAMS):
                group.create_task(workstream(number, servers, fleet, tally, over))
            turns = group.create_task(turn_after_turn(McpTurns(world, servers), fleet, over))
            await kill_at_random(fleet)
            over.set()
        # Leaving the group: every call that was made has ended, and every server answered again.
    finally:
        fleet.stop()
    assert fleet.alive() == set()
    for name in fleet.names:
        done = fleet.done(name)
        answered = {word for server, word in tally.answered if server == name}
        assert set(done.values()) == {1}, "a call was carried out twice"
        assert answered <= set(done)
    sys.stdout.write(
        f"\n{len(tally.answered)} calls answered, {dict(tally.failed)}; in turns of the engine "
        f"{turns.result()}\n"
    )
    # Otherwise nothing was shown.
    assert turns.result()["ok"] > 0
    assert tally.failed["OutcomeUnknown"] > 0
    assert len(tally.answered) > WORKSTREAMS * len(fleet.names)


async def workstream(
    number: int, servers: McpServers, fleet: Fleet, tally: Tally, over: asyncio.Event
) -> None:
    """Calls one server after the other until `over`; then each once more until it answers."""
    chance = random.Random(SEED + number)
    words = (f"{number}-{count}" for count in range(1_000_000))
    while not over.is_set():
        await tally.call(
            servers, chance.choice(fleet.names), next(words), chance.choice((0, 5, 40))
        )
        await asyncio.sleep(chance.random() / 10)
    for name in fleet.names:
        while not await tally.call(servers, name, next(words), 0):
            await asyncio.sleep(chance.random() / 2)


async def turn_after_turn(turns: McpTurns, fleet: Fleet, over: asyncio.Event) -> Counter[str]:
    """The same through the whole engine, until `over`: how the calls of its turns ended."""
    chance, ended = random.Random(SEED), Counter[str]()
    for number in itertools.count():
        if over.is_set():
            return ended
        asked = [(chance.choice(fleet.names), f"turn-{number}-{call}") for call in range(4)]
        calls = [
            (f"mcp__{name}__echo", json.dumps({"word": word, "pause_ms": chance.choice((0, 40))}))
            for name, word in asked
        ]
        workstream = await turns.begun("bypassPermissions")
        found = results(await turns.go_on(workstream, *calls))
        assert len(found) == len(asked)
        for (name, word), result in zip(asked, found, strict=True):
            ended[result.outcome] += 1
            said = f"{name} {word}" if result.outcome == "ok" else name
            assert said in result.output
    return ended


async def kill_at_random(fleet: Fleet) -> None:
    """One after the other, some of them two at a time."""
    chance = random.Random(SEED)
    for _ in range(KILLS):
        names = chance.sample(fleet.names, chance.choice((1, 1, 2)))
        for name in names:
            await asyncio.to_thread(fleet.kill, name)
        await asyncio.sleep(chance.random() / 4)
        for name in names:
            if name not in fleet.near:
                fleet.start_far(name)
