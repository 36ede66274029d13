"""A command has the network where its profile says so, or a person or a rule lets that one call."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest

from redshank_node.dueclock.firing import polling_of
from redshank_node.engine.policy import policy_over
from redshank_node.engine.poll_permission import PollPermission
from redshank_node.engine.profiles_in_force import toolsets_of, workspace_of
from redshank_node.engine.sandboxing import sandbox_of
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import WebAccess
from redshank_shared import clock
from redshank_shared.domain.commands import Resolution, ResolveApprovals
from redshank_shared.domain.events import ApprovalRequested, CallDecided, CallFinished
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.limits import Limits
from redshank_shared.profiles.profile import install
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from redshank_shared.stores.folds import Folds
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says
from tests.integration.mcp_turns import allow

# Nothing here differs between the stores.
pytestmark = [
    pytest.mark.req("K-81"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

SAID = "the tide is low"


class Shore:
    """A world whose commands are confined for real, a server on loopback that they may reach."""

    def __init__(self, world: World, port: int) -> None:
        self.world = world
        self.line = f"cat </dev/tcp/127.0.0.1/{port}"

    def set_up(self, settings: str = "") -> None:
        """A node that was started with these settings; the test is skipped where none confines."""
        file = self.world.folder.parent / "redshank.toml"
        file.write_text(f'[node]\nworkspace = "{self.world.folder}"\n{settings}')
        read = load(file, {})
        sandbox = sandbox_of(read, self.world.folder)
        if sandbox.given.walls is None:
            pytest.skip(f"nothing confines commands on this machine: {sandbox.given.reason}")
        bare = workspace_of(read, WebAccess())
        confined = msgspec.structs.replace(bare, sandbox=sandbox)
        self.world.toolsets = toolsets_of(read, BUILTIN, confined)

    async def began(self, profile: str = "default", **more: bool) -> WorkstreamId:
        """A workstream whose model has called bash with the line."""
        workstream = await self.world.create("go", profile=profile)
        asked = json.dumps({"command": self.line, **more})
        await self.go_on(workstream, says("", ("bash", asked)))
        return workstream

    async def go_on(self, workstream: WorkstreamId, *steps: object) -> None:
        async with self.world.node([*steps, says("done")], BUILTIN) as node:  # type: ignore[list-item]
            await node.turns.take_up(workstream)
            await self.world.until_rest(workstream)
            await self.world.until(lambda: node.turns.busy == 0, "the slot is free")

    def result(self, workstream: WorkstreamId) -> str:
        facts = self.world.facts(workstream)
        (finished,) = [fact for fact in facts if isinstance(fact, CallFinished)]
        return finished.output

    def decided(self, workstream: WorkstreamId) -> CallDecided:
        facts = self.world.facts(workstream)
        return next(fact for fact in facts if isinstance(fact, CallDecided))


@pytest.fixture
async def shore(database: Database, valkey: Valkey, tmp_path: Path) -> AsyncIterator[Shore]:
    async def tell(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SAID.encode())
        await writer.drain()
        writer.close()

    world = World(database, valkey.url)
    world.folder = tmp_path / "workspace"
    world.folder.mkdir()
    server = await asyncio.start_server(tell, "127.0.0.1", 0)
    yield Shore(world, server.sockets[0].getsockname()[1])
    server.close()
    await world.redis.aclose()


@pytest.fixture(autouse=True)
def no_profile_outlives_its_test() -> Iterator[None]:
    yield
    install(())


async def test_a_call_that_asks_for_the_network_is_put_before_a_person(shore: Shore) -> None:
    shore.set_up()
    allow(shore.world, "bash")

    without = await shore.began()
    asking = await shore.began(network=True)

    assert shore.decided(without).decision == "allow"
    assert SAID not in shore.result(without)
    decided = shore.decided(asking)
    assert (decided.decision, decided.pattern) == ("ask", "")
    assert decided.why == "it asks for the network, which no rule names, so a person is asked"
    (request,) = [fact for fact in shore.world.facts(asking) if isinstance(fact, ApprovalRequested)]
    assert request.preview.title == f"WITH NETWORK: {shore.line}"
    assert (request.preview.body, request.pattern) == (shore.line, "bash:network")

    allowed = Resolution(request.request_id, "allow", "workstream")
    await shore.world.do(asking, ResolveApprovals((allowed,), "ines"))
    again = json.dumps({"command": shore.line, "network": True})
    await shore.go_on(asking, says("", ("bash", again)))

    facts = shore.world.facts(asking)
    said = [fact.output for fact in facts if isinstance(fact, CallFinished)]
    assert said == [SAID, SAID], "what was allowed for the workstream holds for its next call"


async def test_a_rule_that_names_the_network_lets_a_call_have_it(shore: Shore) -> None:
    shore.set_up()
    allow(shore.world, "bash:network")

    asking, plain = await shore.began(network=True), await shore.began()

    assert shore.result(asking) == SAID
    assert shore.decided(plain).decision == "ask"


async def test_below_the_limit_no_call_has_the_network(shore: Shore) -> None:
    shore.set_up()
    shore.world.limits = Limits(max_sandbox="workspace_write")

    asking = await shore.began(network=True)

    assert shore.result(asking) == (
        "quota max_sandbox: the tool needs network_enabled, the limit is workspace_write; "
        "do it another way"
    )
    assert not shore.world.state(asking).approvals


async def test_where_nobody_may_ask_there_is_no_such_argument(shore: Shore) -> None:
    shore.set_up()
    elsewhere = await shore.began("turnstone", network=True)
    shore.set_up("[sandbox]\nask_network = false\n")
    refused = await shore.began(network=True)
    shore.set_up('[sandbox]\nbash = "network_enabled"\n')
    has_it = await shore.began(network=True)

    for workstream in (elsewhere, refused, has_it):
        assert shore.result(workstream).startswith("network is not an argument of this tool")


async def test_a_profile_says_at_which_level_its_commands_run(shore: Shore) -> None:
    mine = shore.world.folder.parent / "mine.toml"
    mine.write_text('title = "Mine"\n[sandbox]\nbash = "network_enabled"\n[tools]\nbash = {}\n')
    shore.set_up(f'[profiles.mine]\nfile = "{mine}"\n')

    open_ = await shore.began("mine")
    shore.world.limits = Limits(max_sandbox="workspace_write")
    capped = await shore.began("mine")

    assert shore.result(open_) == SAID
    assert SAID not in shore.result(capped)


async def test_a_watch_polls_at_the_level_of_its_profile(shore: Shore) -> None:
    mine = shore.world.folder.parent / "mine.toml"
    mine.write_text('title = "Mine"\n[sandbox]\nbash = "network_enabled"\n[tools]\nwatch = {}\n')
    world = shore.world
    shore.set_up(f'[profiles.mine]\nfile = "{mine}"\n')
    settings = load(world.folder.parent / "redshank.toml", {})
    policy = policy_over(world.database, BUILTIN, clock.monotonic)
    permission = PollPermission(world.database, Folds(world.log), policy)
    assert world.toolsets is not None
    polling = polling_of(settings, world.toolsets, str, permission)

    confined = {}
    for profile in ("default", "mine"):
        confine = await polling.confine(await world.create("go", profile=profile))
        assert confine is not None
        confined[profile] = confine(("true",))

    network = {"--share-net", "network"}
    assert not network & set(confined["default"])
    assert network & set(confined["mine"])


async def test_a_deny_of_bash_denies_a_call_with_the_network_too(shore: Shore) -> None:
    mine = shore.world.folder.parent / "mine.toml"
    mine.write_text('title = "Mine"\n[tools]\nbash = { default = "deny" }\n')
    shore.set_up(f'[profiles.mine]\nfile = "{mine}"\n')

    asking = await shore.began("mine", network=True)

    assert shore.decided(asking).decision == "deny"
