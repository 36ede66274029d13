"""How the calls of a batch run: order, chunks, limits."""

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from redshank_node.tools.builtin.bash import TOOL as BASH
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.events import (
    CallDecided,
    CallFinished,
    CallStarted,
    Preview,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.limits import Limits
from redshank_shared.stores.assets import Assets, digest_of
from redshank_shared.stores.database import Database
from redshank_shared.stores.tool_limits import ToolLimits
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, now, says


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


class Meter:
    """Tools that note how many of them run at once. A call ends when as many run as `beside` says
    of its mark, one where it says nothing.
    """

    def __init__(self, output: str = "ok", beside: dict[str, int] | None = None) -> None:
        self.output = output
        self.beside = beside or {}
        self.order: list[str] = []
        self.running: set[str] = set()
        self.most: dict[str, int] = {}
        self.max_seconds: float = 0.0
        self.at_first: Callable[[], object] = lambda: None

    def tools(self) -> tuple[Tool, ...]:
        return (self._tool("side", parallel=True), self._tool("alone", parallel=False))

    def _tool(self, name: str, *, parallel: bool) -> Tool:
        def prepare(arguments: dict[str, object], _: Workspace) -> Prepared:
            return Prepared(arguments, Preview(name))

        async def run(prepared: Prepared, context: CallContext) -> Result:
            mark = str(prepared.arguments["text"])
            self.max_seconds = context.max_seconds
            if not self.order:
                self.at_first()
            self.order.append(mark)
            self.running.add(mark)
            for other in self.running:
                self.most[other] = max(len(self.running), self.most.get(other, 0))
            async with asyncio.timeout(30):
                while self.most[mark] < self.beside.get(mark, 1):
                    await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.running.discard(mark)
            return Result(self.output)

        parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
        return Tool(name, name, parameters, "state", prepare, run, "text", parallel=parallel)


def calls(*named: tuple[str, str]) -> list[tuple[str, str]]:
    return [(tool, f'{{"text":"{mark}"}}') for tool, mark in named]


async def carried_out(world: World, meter: Meter, *batches: list[tuple[str, str]]) -> WorkstreamId:
    """A workstream whose model asked for these batches one after another, at rest."""
    steps = [*(says("", *batch) for batch in batches), says("done")]
    async with world.node(steps, meter.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    return workstream


def results(world: World, workstream: WorkstreamId) -> list[CallFinished]:
    return [fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)]


@pytest.mark.req("O6", "K-83")
async def test_parallel_calls_run_together_in_chunks_that_lone_calls_split(world: World) -> None:
    world.limits = Limits(max_parallel_tools=3)
    beside = {"p0": 3, "p1": 3, "p2": 3, "p3": 1, "l1": 1, "l2": 1, "q1": 2, "q2": 2}
    meter = Meter(beside=beside)
    marks = [("side", f"p{n}") for n in range(4)] + [("alone", "l1"), ("alone", "l2")]
    marks += [("side", "q1"), ("side", "q2")]

    await carried_out(world, meter, calls(*marks))

    assert sorted(meter.order[:3]) == ["p0", "p1", "p2"]
    assert meter.order[3:6] == ["p3", "l1", "l2"]
    assert sorted(meter.order[6:]) == ["q1", "q2"]
    assert meter.most == beside


@pytest.mark.req("O7", "K-83", "K-4")
async def test_of_a_batch_over_the_calls_of_a_turn_none_runs_but_each_gets_its_error(
    world: World,
) -> None:
    meter = Meter()

    workstream = await carried_out(
        world, meter, calls(*(("side", str(n)) for n in range(257))), calls(("side", "later"))
    )

    refused = results(world, workstream)
    assert meter.order == []
    assert len(refused) == 258
    assert {(fact.is_error, fact.outcome) for fact in refused} == {(True, "refused")}
    assert all(fact.output.startswith("quota max_calls_per_turn") for fact in refused)
    audits = [fact for fact in world.facts(workstream) if isinstance(fact, CallDecided)]
    assert {(fact.decision, fact.origin) for fact in audits} == {("deny", "limit")}
    assert len(audits) == 258


@pytest.mark.req("O7")
async def test_exactly_the_calls_of_a_turn_run(world: World) -> None:
    world.limits = Limits(max_calls_per_turn=4)
    meter = Meter()

    await carried_out(world, meter, calls(*(("side", str(n)) for n in range(4))))

    assert len(meter.order) == 4


@pytest.mark.req("K-83", "O8")
async def test_after_a_cumulative_limit_the_rest_of_the_turn_is_not_started(world: World) -> None:
    world.limits = Limits(max_cumulative_output_bytes=100)
    meter = Meter("x" * 60)
    first = calls(("alone", "a"), ("alone", "b"), ("alone", "c"))

    workstream = await carried_out(world, meter, first, calls(("alone", "d")))

    assert meter.order == ["a", "b"]
    outputs = [(fact.outcome, fact.output[:33]) for fact in results(world, workstream)]
    assert outputs == [
        ("ok", "x" * 33),
        ("ok", "x" * 33),
        ("refused", "quota max_cumulative_output_bytes"),
        ("refused", "quota max_cumulative_output_bytes"),
    ]
    started = [fact for fact in world.facts(workstream) if isinstance(fact, CallStarted)]
    assert len(started) == 2


@pytest.mark.req("K-83")
async def test_the_next_turn_counts_from_zero(world: World) -> None:
    world.limits = Limits(max_cumulative_output_bytes=100)
    meter = Meter("x" * 150)
    steps = [says("", *calls(("alone", "a"))), says("done"), says("", *calls(("alone", "b")))]
    async with world.node([*steps, says("done")], meter.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.do(workstream, PostMessage("again", "ines"))
        await node.turns.take_up(workstream)
        await world.until(lambda: meter.order == ["a", "b"], "the second turn ran its call")
        await world.until_rest(workstream)


@pytest.mark.req("O8")
@pytest.mark.fault("F15")
async def test_an_oversize_output_becomes_an_error_with_head_and_tail_and_is_kept_whole(
    world: World,
) -> None:
    world.limits = Limits(max_output_bytes=10_000)
    # Three bytes a character: 2048 is no multiple of them.
    whole = "潮" * 2000 + "汐" * 2000
    meter = Meter(whole)

    workstream = await carried_out(world, meter, calls(("alone", "a")))

    (finished,) = results(world, workstream)
    assert (finished.is_error, finished.outcome, finished.truncated) == (True, "error", True)
    first, _, rest = finished.output.partition("\n")
    digest = digest_of(whole.encode())
    assert msgspec.json.decode(first) == {
        "quota": "max_output_bytes", "limit": 10_000, "size": 12_000, "asset": digest,
    }  # fmt: skip
    assert rest == "潮" * 682 + "\n[... 7908 bytes left out here ...]\n" + "汐" * 682
    assert finished.asset == digest
    kept = Assets(world.database).get(digest)
    assert kept is not None
    assert kept.body.decode() == whole


@pytest.mark.req("K-84")
async def test_limits_that_are_set_count_from_the_next_batch_on(world: World) -> None:
    world.limits = Limits(max_parallel_tools=3)
    beside = {**{f"a{n}": 3 for n in range(6)}, "b0": 1, "b1": 1}
    meter = Meter(beside=beside)
    store = ToolLimits(world.database)
    meter.at_first = lambda: store.set(lambda _: Limits(max_parallel_tools=1), "ada", now())
    six = calls(*(("side", f"a{n}") for n in range(6)))
    two = calls(*(("side", f"b{n}") for n in range(2)))
    async with world.node([says("", *six), says("", *two), says("done")], meter.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert meter.most == beside


@pytest.mark.req("K-82")
async def test_the_time_of_a_call_is_clamped_and_leaves_a_tool_room_to_end_by_itself(
    world: World,
) -> None:
    world.limits = Limits(max_timeout_ms=40)
    meter = Meter(beside={"a": 2})

    workstream = await carried_out(world, meter, calls(("alone", "a")))

    (finished,) = results(world, workstream)
    assert (finished.outcome, finished.output) == (
        "timeout",
        "timed out after 0.04 s and was stopped",
    )
    assert meter.max_seconds == 0.02


@pytest.mark.req("K-82")
async def test_a_command_that_asks_for_more_time_than_the_limit_still_says_what_it_has(
    world: World,
) -> None:
    world.limits = Limits(max_timeout_ms=2000)
    command = ("bash", '{"command":"echo begun; sleep 60","timeout":600}')
    async with world.node([says("", command), says("done")], (BASH,)) as node:
        workstream = await world.create("go", "bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)

    (finished,) = results(world, workstream)
    assert finished.outcome == "timeout"
    assert finished.output == "begun\n[stopped after 1 s, with all that it had started]"


@pytest.mark.req("K-82")
def test_the_tools_that_may_run_beside_others_are_those_of_the_requirement() -> None:
    parallel = {tool.name: tool.parallel for tool in BUILTIN}

    alone = ("ask_operator", "ask_user_question", "enter_plan_mode", "exit_plan_mode", "notify")
    beside = [name for name in parallel if name.startswith(("wake_", "schedule_"))]
    assert [parallel[name] for name in alone] == [False] * len(alone)
    assert len(beside) >= 9
    assert all(parallel[name] for name in beside)
