"""What a turn does with a log: the trip of a message, approvals, stops, deaths, drains."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar

import msgspec
import pytest

from redshank_node.providers.provider import Answer, Delta, ModelCall, ModelFailed, ModelRequest
from redshank_shared import clock
from redshank_shared.domain.commands import (
    CancelTurn,
    ChangeMode,
    CloseWorkstream,
    PostMessage,
    RequestCompaction,
    Resolution,
    ResolveApprovals,
    RetryTurn,
)
from redshank_shared.domain.events import (
    ApprovalRequested,
    CallDecided,
    CallFinished,
    CallInterrupted,
    CallStarted,
    MessageAnswered,
    Recorded,
    StateChanged,
    TokensUsed,
    TurnFailed,
    TurnStarted,
    kind_of,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.messages import ResultMessage, UserMessage
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.leases import Claim, Held, Leases
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, says


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


def request_id(world: World, workstream: str) -> str:
    (waiting,) = world.state(workstream).approvals.values()  # type: ignore[arg-type]
    return waiting.requested.request_id


def allow(world: World, workstream: str, **more: str) -> ResolveApprovals:
    return ResolveApprovals(
        (Resolution(request_id(world, workstream), "allow", **more),),  # type: ignore[arg-type]
        "ines",
    )


async def test_a_message_is_answered_with_a_tool_and_comes_to_rest_in_the_order_of_the_contract(
    world: World,
) -> None:
    probe = Probe()
    steps = [says("looking", ("look", '{"text":"a"}')), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("look at a")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert [kind_of(fact) for fact in world.facts(workstream)] == [
        "workstream.created",
        "message.user",
        "state",
        "turn.started",
        "message.assistant",
        "usage",
        "call.decided",
        "call.started",
        "call.finished",
        "message.assistant",
        "usage",
        "state",
    ]
    assert probe.ran == ["look a"]
    told = [m for m in node.model.requests[1].messages if isinstance(m, ResultMessage)]
    assert [(m.output, m.is_error) for m in told] == [("did a", False)]


@pytest.mark.req("K-6")
@pytest.mark.fault("F1", "F23")
async def test_a_call_that_asks_parks_the_turn_and_any_other_node_goes_on_there(
    world: World,
) -> None:
    probe = Probe()
    async with world.node([says("", ("bash", '{"text":"rm x"}'))], probe.tools()) as first:
        workstream = await world.create("go")
        await first.turns.take_up(workstream)
        state = await world.until_rest(workstream)
        assert state.shown is not None
        assert [wait.kind for wait in state.shown.waiting_for] == ["approval"]
        await world.until(lambda: first.turns.busy == 0, "no slot is held while a person thinks")
    assert probe.ran == []
    await world.do(workstream, allow(world, workstream))
    async with world.node([says("done")], probe.tools(), name="marsh-2") as second:
        await second.turns.take_up(workstream)
        state = await world.until_rest(workstream)
    assert probe.ran == ["bash rm x"]
    assert state.shown == StateChanged("idle")
    started = [f for f in world.facts(workstream) if isinstance(f, TurnStarted)]
    assert [(turn.node, turn.epoch) for turn in started] == [("marsh-1", 1), ("marsh-2", 2)]


async def test_a_denied_call_never_runs_and_the_model_hears_the_persons_words(
    world: World,
) -> None:
    probe = Probe()
    steps = [says("", ("bash", '{"text":"rm x"}')), says("then not")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        denied = Resolution(request_id(world, workstream), "deny", reason="use trash instead")
        await world.do(workstream, ResolveApprovals((denied,), "ines"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        told = node.model.requests[1].messages[-1]
    assert probe.ran == []
    assert isinstance(told, ResultMessage)
    assert told.is_error
    assert "use trash instead" in told.output


@pytest.mark.req("O-9")
async def test_nothing_of_a_batch_runs_before_all_of_it_is_decided(world: World) -> None:
    probe = Probe()
    batch = says("", ("look", '{"text":"a"}'), ("bash", '{"text":"b"}'), ("look", '{"text":"c"}'))
    async with world.node([batch, says("done")], probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        assert probe.ran == []
        await world.do(workstream, allow(world, workstream))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert probe.ran == ["look a", "bash b", "look c"]


@pytest.mark.req("K-3")
@pytest.mark.fault("F19", "F46")
async def test_unknown_names_and_bad_arguments_are_results_and_the_others_of_the_batch_run(
    world: World,
) -> None:
    probe = Probe()
    calls = (
        ModelCall("p0", "lok", "{}"),
        ModelCall("p1", "look", "{}"),
        ModelCall("p2", "look", '{"text":', "the arguments were cut off; send the call again"),
        ModelCall("p3", "look", '["text"]'),
        ModelCall("p4", "look", '{"text":"e"}'),
    )
    async with world.node([Answer("", "tool_calls", calls), says("done")], probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    results = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert probe.ran == ["look e"]
    assert [r.outcome for r in results] == ["refused", "refused", "refused", "refused", "ok"]
    said = [result.output for result in results]
    assert said[0].startswith("tool_not_found")
    assert said[1] == "text is required"
    assert "cut off" in said[2]
    assert "must be one JSON object" in said[3]


@pytest.mark.fault("F24")
async def test_an_effect_whose_node_died_is_recorded_as_interrupted_and_not_run_again(
    world: World,
) -> None:
    probe = Probe()
    steps = [says("", ("hold", '{"text":"x"}'))]
    async with world.node(steps, probe.tools()) as first:
        workstream = await world.create("go", mode="bypassPermissions")
        await first.turns.take_up(workstream)
        await probe.entered.wait()
    world.expire(workstream)
    async with world.node([says("I look first")], probe.tools(), name="marsh-2") as second:
        await second.turns.take_up(workstream)
        await world.until_rest(workstream)
        told = second.model.requests[0].messages[-1]
    assert probe.ran == ["hold x"]
    (lost,) = [f for f in world.facts(workstream) if isinstance(f, CallInterrupted)]
    assert lost.node == "marsh-1"
    assert isinstance(told, ResultMessage)
    assert "Outcome unknown" in told.output


async def test_a_read_whose_node_died_is_run_again(world: World) -> None:
    probe = Probe()
    steps = [says("", ("look", '{"text":"x"}'))]
    tools = probe.tools()
    slow = tuple(tool for tool in tools if tool.name != "look") + (
        probe.tool("look", "read", parallel=True, waits=True),
    )
    async with world.node(steps, slow) as first:
        workstream = await world.create("go")
        await first.turns.take_up(workstream)
        await world.until(lambda: bool(started(world, workstream)), "the read is under way")
    world.expire(workstream)
    async with world.node([says("done")], tools, name="marsh-2") as second:
        await second.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert probe.ran == ["look x", "look x"]
    results = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert [result.outcome for result in results] == ["ok"]


def started(world: World, workstream: WorkstreamId) -> list[CallStarted]:
    return [fact for fact in world.facts(workstream) if isinstance(fact, CallStarted)]


class NotedAppends(EventLog):
    """Notes what each append brings."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.kinds: list[list[str]] = []

    def append(self, entry: Append) -> int:
        self.kinds.append([kind_of(fact) for fact in entry.facts])
        return super().append(entry)


async def test_reads_that_end_at_once_are_recorded_with_the_answer_that_asked_for_them(
    world: World,
) -> None:
    noted = world.log = NotedAppends(world.database)
    probe = Probe()
    steps = [says("", ("look", '{"text":"x"}'), ("look", '{"text":"y"}')), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    with_answer, last = noted.kinds
    assert with_answer[1:3] == ["message.assistant", "usage"]
    assert with_answer[-4:] == ["call.started"] * 2 + ["call.finished"] * 2
    assert last == ["message.assistant", "usage", "state"]


async def test_a_read_that_takes_longer_is_shown_as_started_and_run_once(world: World) -> None:
    probe = Probe()
    slow = probe.tool("look", "read", parallel=True, waits=True)
    async with world.node([says("", ("look", '{"text":"x"}')), says("done")], (slow,)) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until(lambda: bool(started(world, workstream)), "the read is under way")
        assert not [fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)]
        probe.let_go.set()
        await world.until_rest(workstream)
    assert probe.ran == ["look x"]


@pytest.mark.req("B-23")
async def test_a_read_that_was_begun_ends_with_the_turn_that_a_person_stopped(world: World) -> None:
    probe = Probe()
    slow = probe.tool("look", "read", parallel=True, waits=True)
    async with world.node([says("", ("look", '{"text":"x"}'))], (slow,)) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await probe.entered.wait()
        await world.do(workstream, CancelTurn("ines"))
        node.turns.poke_all()
        await world.until(lambda: node.turns.busy == 0, "the turn is over")
    assert world.state(workstream).open_calls == []


@pytest.mark.fault("F45")
async def test_a_holder_whose_lease_went_on_writes_nothing_and_is_dropped(world: World) -> None:
    probe = Probe()
    steps = [says("", ("hold", '{"text":"x"}')), says("never")]
    async with world.node(steps, probe.tools()) as first:
        workstream = await world.create("go", mode="bypassPermissions")
        await first.turns.take_up(workstream)
        await probe.entered.wait()
        world.expire(workstream)
        async with world.node([says("mine now")], probe.tools(), name="marsh-2") as second:
            await second.turns.take_up(workstream)
            await world.until_rest(workstream)
        before = world.recorded(workstream)
        probe.let_go.set()
        await world.until(lambda: first.turns.busy == 0, "the fenced turn is dropped")
    assert world.recorded(workstream) == before


class RenewedMeanwhile(Leases):
    """A renewal is asked after each claim is, and written before it."""

    asked_at = 0.0
    held: ClassVar[dict[str, Held]] = {"none": Held(0, 0)}

    def claim_and_read(
        self, workstream_id: str, node_id: str, lease_seconds: float, known_version: int
    ) -> tuple[Claim, list[Recorded]] | None:
        type(self).asked_at = clock.monotonic()
        type(self).held = self.renew(node_id, lease_seconds)
        return super().claim_and_read(workstream_id, node_id, lease_seconds, known_version)


@pytest.mark.fault("F45")
async def test_a_renewal_that_overtook_a_claim_does_not_fence_its_turn(world: World) -> None:
    probe = Probe()
    world.leases = RenewedMeanwhile(world.database)
    steps = [says("", ("hold", '{"text":"x"}')), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await probe.entered.wait()
        assert RenewedMeanwhile.held == {}
        node.turns.renewed(RenewedMeanwhile.asked_at, {})
        probe.let_go.set()
        state = await world.until_rest(workstream)
    assert [f.outcome for f in world.facts(workstream) if isinstance(f, CallFinished)] == ["ok"]
    assert state.shown == StateChanged("idle")


class RenewedBehindRelease(EventLog):
    """A renewal is asked, and answered, between a release and the word that it was written."""

    def __init__(self, database: Database, told: Callable[[], None]) -> None:
        super().__init__(database)
        self._told = told

    def append(self, entry: Append) -> int:
        version = super().append(entry)
        if entry.release:
            self._told()
        return version


@pytest.mark.fault("F45")
async def test_a_renewal_behind_the_release_does_not_fence_the_turn_that_ends(world: World) -> None:
    renewals: list[dict[str, Held]] = []

    def renew() -> None:
        asked_at = clock.monotonic()
        held = world.leases.renew(node.identity.node_id, 15)
        renewals.append(held)
        node.turns.renewed(asked_at, held)

    world.log = RenewedBehindRelease(world.database, renew)
    async with world.node([says("done")], Probe().tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until(lambda: node.turns.busy == 0, "the turn ends")
    assert renewals == [{}]
    assert 'redshank_turns_total{end="idle"} 1.0' in node.metrics.text().decode()


@pytest.mark.req("B-23")
async def test_a_stop_reaches_a_running_tool_and_the_turn_rests(world: World) -> None:
    probe = Probe()
    async with world.node([says("", ("hold", '{"text":"x"}'))], probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await probe.entered.wait()
        await world.do(workstream, CancelTurn("ines"))
        node.turns.poke(workstream, world.state(workstream).version)
        state = await world.until_rest(workstream)
    (result,) = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert result.outcome == "cancelled"
    assert state.shown == StateChanged("idle")


@pytest.mark.req("B-23")
async def test_words_that_come_during_a_turn_are_read_at_its_next_step(world: World) -> None:
    probe = Probe()
    steps = [says("", ("hold", '{"text":"x"}')), says("heard both")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await probe.entered.wait()
        await world.do(workstream, PostMessage("and mind the tide", "ines"))
        probe.let_go.set()
        await world.until_rest(workstream)
        read = node.model.requests[1].messages
    assert [m.text for m in read if isinstance(m, UserMessage)] == ["go", "and mind the tide"]
    assert isinstance(read[-1], UserMessage)


@pytest.mark.fault("F25")
async def test_words_for_later_are_read_when_the_turn_has_ended(world: World) -> None:
    probe = Probe()
    steps = [says("", ("hold", '{"text":"x"}')), says("first"), says("second")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await probe.entered.wait()
        await world.do(workstream, PostMessage("later", "ines", when="next"))
        probe.let_go.set()
        await world.until_rest(workstream)
        requests = node.model.requests
    heard = [[m.text for m in r.messages if isinstance(m, UserMessage)] for r in requests]
    assert heard == [["go"], ["go"], ["go", "later"]]


async def test_an_edit_of_the_input_is_decided_anew_and_what_runs_is_the_edit(
    world: World,
) -> None:
    probe = Probe()
    steps = [says("", ("bash", '{"text":"rm *"}')), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.do(workstream, allow(world, workstream, updated_arguments='{"text":"ls"}'))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert probe.ran == ["bash ls"]
    decided = [f for f in world.facts(workstream) if isinstance(f, CallDecided)]
    assert len({decision.input_digest for decision in decided}) == 2


@pytest.mark.fault("F51")
async def test_what_has_changed_between_asking_and_allowing_is_refused(world: World) -> None:
    probe = Probe()
    steps = [says("", ("write_file", '{"text":"x"}')), says("again then")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        probe.bound = "changed meanwhile"
        await world.do(workstream, allow(world, workstream))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert probe.ran == []
    (result,) = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert "has changed since" in result.output


async def test_allowing_for_the_workstream_asks_no_second_time(world: World) -> None:
    probe = Probe()
    steps = [
        says("", ("bash", '{"text":"a"}')),
        says("", ("bash", '{"text":"b"}')),
        says("done"),
    ]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.do(workstream, allow(world, workstream, scope="workstream"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert probe.ran == ["bash a", "bash b"]
    asked = [f for f in world.facts(workstream) if isinstance(f, ApprovalRequested)]
    assert len(asked) == 1


async def test_a_model_that_fails_for_good_fails_the_turn_with_the_mend_and_a_retry_goes_on(
    world: World,
) -> None:
    probe = Probe()
    steps = [
        ModelFailed("set the key", code="model_refused_key", retry=False),
        says("now it works"),
    ]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        state = await world.until_rest(workstream)
        assert state.shown == StateChanged("failed", (), "set the key")
        await world.do(workstream, RetryTurn("ines"))
        await node.turns.take_up(workstream)
        state = await world.until_rest(workstream)
    assert state.shown == StateChanged("idle")


@pytest.mark.fault("F46", "F47")
async def test_a_passing_failure_of_the_model_is_tried_again_and_tokens_are_counted_once(
    world: World,
) -> None:
    probe = Probe()
    steps = [ModelFailed("busy", code="model_overloaded", retry=True), says("here")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    used = [f for f in world.facts(workstream) if isinstance(f, TokensUsed)]
    assert [(u.input_tokens, u.output_tokens) for u in used] == [(11, 7)]


@pytest.mark.fault("F58")
async def test_a_turn_that_takes_its_nodes_along_six_times_is_given_up_with_the_reason(
    world: World,
) -> None:
    probe = Probe()
    workstream = await world.create("poison")
    for _ in range(5):
        claim = world.leases.claim(workstream, "dead.1", 15.0)
        assert claim is not None
        world.expire(workstream)
    async with world.node([says("never asked")], probe.tools()) as node:
        await node.turns.take_up(workstream)
        state = await world.until_rest(workstream)
    assert state.shown is not None
    assert state.shown.state == "failed"
    (failed,) = [f for f in world.facts(workstream) if isinstance(f, TurnFailed)]
    assert failed.code == "dead_letter"
    assert node.model.requests == []


@pytest.mark.fault("F27")
async def test_a_drained_node_ends_the_step_in_hand_and_hands_the_rest_over_at_once(
    world: World,
) -> None:
    probe = Probe()
    async with world.node([says("", ("hold", '{"text":"x"}'))], probe.tools()) as first:
        workstream = await world.create("go", mode="bypassPermissions")
        await first.turns.take_up(workstream)
        await probe.entered.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(first.turns.drain(5))
            await world.until(lambda: first.turns.free() == 0, "the drain has begun")
            probe.let_go.set()
        await first.turns.take_up(await world.create("not here any more"))
        assert first.turns.busy == 0
    async with world.node([says("done")], probe.tools(), name="marsh-2") as second:
        await second.turns.take_up(workstream)
        assert second.turns.busy == 1
        state = await world.until_rest(workstream)
    assert probe.ran == ["hold x"]
    assert state.shown == StateChanged("idle")


@pytest.mark.fault("F27")
async def test_when_the_grace_is_over_what_runs_is_cut_off_and_recorded(world: World) -> None:
    probe = Probe()
    async with world.node([says("", ("hold", '{"text":"x"}'))], probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await probe.entered.wait()
        await node.turns.drain(0.1)
        assert node.turns.busy == 0
    (result,) = [f for f in world.facts(workstream) if isinstance(f, CallFinished)]
    assert result.outcome == "cancelled"
    assert "shutting down" in result.output


@pytest.mark.fault("F39")
async def test_closing_while_an_approval_waits_resolves_it_as_cancelled(world: World) -> None:
    probe = Probe()
    async with world.node([says("", ("bash", '{"text":"x"}'))], probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.do(workstream, CloseWorkstream("ines"))
    state = world.state(workstream)
    assert state.approvals == {}
    assert state.shown == StateChanged("closed")
    assert [f.outcome for f in world.facts(workstream) if isinstance(f, CallFinished)] == [
        "cancelled"
    ]


async def test_a_mode_that_changes_while_the_model_thinks_holds_for_its_calls(
    world: World,
) -> None:
    probe = Probe()
    workstream = await world.create("go", mode="bypassPermissions")
    async with world.node([says("", ("bash", '{"text":"x"}'))], probe.tools()) as node:
        await world.do(workstream, ChangeMode("plan", "ines"))
        await node.turns.take_up(workstream)
        await world.until(
            lambda: any(isinstance(f, CallDecided) for f in world.facts(workstream)), "decided"
        )
    (decided,) = [f for f in world.facts(workstream) if isinstance(f, CallDecided)]
    assert (decided.decision, decided.mode_effect) == (
        "deny",
        "plan_mode_denied_non_whitelisted_tool",
    )
    assert probe.ran == []


async def test_a_compaction_puts_a_summary_in_place_of_what_was_said(world: World) -> None:
    probe = Probe()
    steps = [says("a long answer"), says("the gist"), says("from the gist")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("tell me much")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.do(workstream, RequestCompaction("ines"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.do(workstream, PostMessage("go on", "ines"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        read = node.model.requests[2].messages
    assert len(read) == 2
    assert isinstance(read[0], UserMessage)
    assert read[0].text.endswith("the gist")


@pytest.mark.req("T-16")
@pytest.mark.req("O-6")
async def test_calls_that_may_run_together_do_and_lone_ones_keep_their_place(
    world: World,
) -> None:
    probe = Probe()
    together = asyncio.Barrier(2)
    tools = probe.tools()

    async def meet(prepared, context):  # type: ignore[no-untyped-def]
        async with asyncio.timeout(30):
            await together.wait()
        return await tools[0].run(prepared, context)

    meeting = (msgspec.structs.replace(tools[0], run=meet), *tools[1:])
    batch = says("", ("look", '{"text":"a"}'), ("look", '{"text":"b"}'), ("bash", '{"text":"c"}'))
    async with world.node([batch, says("done")], meeting) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert sorted(probe.ran[:2]) == ["look a", "look b"]
    assert probe.ran[2] == "bash c"
    starts = [r.seq for r in world.recorded(workstream) if isinstance(r.fact, CallStarted)]
    assert starts[1] == starts[0] + 1


async def test_a_nudge_that_comes_while_a_turn_ends_is_not_lost(world: World) -> None:
    """A client that answers the last `state` at once is faster than the node's own clearing up."""
    probe = Probe()
    async with world.node([says("one"), says("two")], probe.tools()) as node:
        workstream = await world.create("first")
        publish = world.bus.publish_events

        async def and_a_person_goes_on(*args: Any, **more: Any) -> None:
            world.bus.publish_events = publish  # type: ignore[method-assign] # once
            await publish(*args, **more)
            await world.do(workstream, PostMessage("second", "ines"))
            await node.turns.take_up(workstream)

        world.bus.publish_events = and_a_person_goes_on  # type: ignore[method-assign] # once
        await node.turns.take_up(workstream)

        def both_answered() -> bool:
            answers = [f.text for f in world.facts(workstream) if isinstance(f, MessageAnswered)]
            return answers == ["one", "two"]

        await world.until(both_answered, "the second message is taken up without another nudge")


async def test_an_answer_for_a_turn_that_was_stopped_since_is_dropped(world: World) -> None:
    probe = Probe()
    asked, go_on = asyncio.Event(), asyncio.Event()
    async with world.node(
        [says("", ("bash", '{"text":"old"}')), says("new")], probe.tools()
    ) as node:
        stream = node.model.stream

        async def slow(request: ModelRequest) -> AsyncIterator[Delta | Answer]:
            asked.set()
            await go_on.wait()
            async for item in stream(request):
                yield item

        node.model.stream = slow  # type: ignore[method-assign] # the script, held back
        workstream = await world.create("old question", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await asked.wait()
        await world.do(workstream, CancelTurn("ines"))
        await world.do(workstream, PostMessage("new question", "ines"))
        go_on.set()
        await world.until_rest(workstream)
    assert probe.ran == []
    answers = [f.text for f in world.facts(workstream) if isinstance(f, MessageAnswered)]
    assert answers == ["new"]


@pytest.mark.fault("F40")
async def test_two_calls_with_one_id_of_the_models_stay_two(world: World) -> None:
    probe = Probe()
    same = tuple(ModelCall("call_0", "look", f'{{"text":"{text}"}}') for text in "ab")
    again = (ModelCall("call_0", "look", '{"text":"c"}'),)
    steps = [Answer("", "tool_calls", same), Answer("", "tool_calls", again), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        told = [m for m in node.model.requests[2].messages if isinstance(m, ResultMessage)]
    assert [message.output for message in told] == ["did a", "did b", "did c"]
    answers = [f for f in world.facts(workstream) if isinstance(f, MessageAnswered)]
    ids = [call.call_id for answer in answers for call in answer.calls]
    assert len(set(ids)) == 3
