"""A node judges by the rules as they are now; without word from their store effects are denied."""

from collections.abc import AsyncIterator, Iterator

import msgspec
import pytest

from redshank_node.engine.policy import UNREACHED, Policy, policy_over
from redshank_node.engine.tool_cards import card_of
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import Prepared, Workspace
from redshank_shared import clock
from redshank_shared.domain.commands import PostMessage, Resolution, ResolveApprovals
from redshank_shared.domain.events import MODES, CallDecided, CallFinished, Mode, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.rule_events import SessionRule
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.decision import Verdict
from redshank_shared.stores.database import Database
from redshank_shared.stores.migrations.schema import migrate
from redshank_shared.stores.permission_rules import PermissionRules
from redshank_shared.stores.policy_revisions import PolicyRevisions
from tests.fakes.postgres import PostgresServer
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, says
from tests.integration.test_permission_rules import row
from tests.store_fixtures import running_postgres

CARDS = {tool.name: card_of(tool) for tool in BUILTIN}


class HandClock:
    """A steady clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class ClockAhead:
    """The real steady clock, set ahead by a test."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return clock.monotonic() + self.seconds


class CountedRevisions(PolicyRevisions):
    """The real ones, counting how often they were asked."""

    asked = 0

    def all(self) -> dict[str, int]:
        self.asked += 1
        return super().all()


def of_ines(mode: Mode = "default", **more: object) -> Workstream:
    created = WorkstreamCreated(name="reed", owner="ines")
    return Workstream(id=WorkstreamId("ws_1"), created=created, mode=mode, **more)  # type: ignore[arg-type] # fields of the state


def judged(policy: Policy, tool: str, state: Workstream | None = None) -> Verdict:
    return policy.verdict(state or of_ines(), CARDS[tool], "")


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with running_postgres() as started:
        yield started


@pytest.fixture
def store(server: PostgresServer) -> Iterator[Database]:
    opened = Database(server.url(server.create_database()))
    migrate(opened)
    yield opened
    opened.close()


@pytest.mark.req("K-38")
@pytest.mark.req("O-1")
async def test_scopes_speak_in_their_order_over_the_built_in_tier(database: Database) -> None:
    policy = policy_over(database, BUILTIN, clock.monotonic)
    rules = PermissionRules(database)
    rules.put(row("bash"))
    rules.put(row("write_file", "allow", subject="*"))
    rules.put(row("edit_file", subject="tomasz"))
    await policy.refresh()
    assert judged(policy, "bash").decision == "deny"
    assert judged(policy, "write_file").decision == "allow"
    said = judged(policy, "edit_file")
    assert (said.decision, said.pattern, said.scope) == ("ask", "edit_file", "session")
    granted = of_ines(granted=("bash",))
    assert judged(policy, "bash", granted).decision == "allow"
    hooked = of_ines(granted=("bash",), hook_rules=(SessionRule("bash", "deny"),))
    said = judged(policy, "bash", hooked)
    assert (said.decision, said.origin) == ("deny", "hook_update")


@pytest.mark.req("O-15")
async def test_a_locked_deny_holds_against_what_was_granted(database: Database) -> None:
    PermissionRules(database).put(row("bash", locked=True))
    policy = policy_over(database, BUILTIN, clock.monotonic)
    await policy.refresh()
    assert judged(policy, "bash", of_ines(granted=("bash",))).decision == "deny"


async def test_the_store_is_asked_once_in_a_quarter_of_a_second_and_read_when_it_moved(
    database: Database,
) -> None:
    rules, revisions, hand = PermissionRules(database), CountedRevisions(database), HandClock()
    policy = Policy(database, rules, revisions, CARDS.values(), hand)
    for _ in range(3):
        await policy.refresh()
    assert revisions.asked == 1
    rules.put(row("bash"))
    await policy.refresh()
    assert judged(policy, "bash").decision == "ask"
    hand.seconds += 0.3
    await policy.refresh()
    assert revisions.asked == 2
    assert judged(policy, "bash").decision == "deny"
    # What a claim saw spares the question, or makes it at once.
    hand.seconds += 0.3
    policy.told(1, hand.seconds)
    await policy.refresh()
    assert revisions.asked == 2
    rules.put(row("bash", "allow"))
    policy.told(2, hand.seconds)
    await policy.refresh()
    assert revisions.asked == 3
    assert judged(policy, "bash").decision == "allow"


@pytest.mark.fault("F75")
async def test_without_word_from_the_store_effects_are_denied_and_reads_go_by_the_last_rules(
    server: PostgresServer, store: Database
) -> None:
    hand = HandClock()
    PermissionRules(store).put(row("list_files"))
    PermissionRules(store).put(row("bash", "allow"))
    policy = policy_over(store, BUILTIN, hand)
    await policy.refresh()
    server.kill()
    hand.seconds += 4
    await policy.refresh()
    assert policy.is_known
    assert judged(policy, "bash").decision == "allow"
    hand.seconds += 2
    await policy.refresh()
    assert not policy.is_known
    for effect in ("bash", "write_file", "notify", "schedule_create"):
        said = judged(policy, effect)
        assert (said.decision, said.why) == ("deny", UNREACHED), effect
    assert judged(policy, "bash", of_ines("bypassPermissions")).decision == "deny"
    assert judged(policy, "read_file").decision == "allow"
    said = judged(policy, "list_files")
    assert (said.decision, said.pattern, said.scope) == ("deny", "list_files", "user")
    server.start()
    hand.seconds += 0.3
    await policy.refresh()
    assert judged(policy, "bash").decision == "allow"


@pytest.mark.fault("F75")
async def test_where_no_rule_was_ever_read_nothing_is_allowed(
    server: PostgresServer, store: Database
) -> None:
    server.kill()
    policy = policy_over(store, BUILTIN, clock.monotonic)
    await policy.refresh()
    assert judged(policy, "read_file").decision == "deny"
    assert judged(policy, "bash").decision == "deny"


@pytest.mark.fault("F75")
async def test_a_turn_goes_on_while_the_policy_store_is_away(
    world: World, server: PostgresServer, store: Database
) -> None:
    hand, probe = ClockAhead(), Probe()
    PermissionRules(store).put(row("edit_file"))
    policy = policy_over(store, probe.tools(), hand)
    await policy.refresh()
    server.kill()
    hand.seconds += 6
    calls = [("look", '{"text": "x"}'), ("bash", '{"text": "y"}')]
    async with world.node([says("", *calls), says("done")], probe.tools()) as node:
        node._pipeline.policy = policy
        ws = await world.create("go")
        await node.turns.take_up(ws)
        state = await world.until_rest(ws)
    assert state.shown is not None
    assert state.shown.state == "idle"
    assert probe.ran == ["look x"]
    decided = [fact for fact in world.facts(ws) if isinstance(fact, CallDecided)]
    assert [(fact.tool, fact.decision) for fact in decided] == [("look", "allow"), ("bash", "deny")]
    assert decided[1].why == UNREACHED
    results = [fact for fact in world.facts(ws) if isinstance(fact, CallFinished)]
    assert {fact.tool: fact.outcome for fact in results} == {"look": "ok", "bash": "denied"}
    assert "policy store cannot be reached" in next(
        fact.output for fact in results if fact.tool == "bash"
    )


@pytest.mark.fault("F75")
async def test_a_batch_whose_rules_grew_old_meanwhile_is_decided_by_new_ones(world: World) -> None:
    hand, probe = ClockAhead(), Probe()
    look, bash, *rest = probe.tools()
    delays = [6.0]

    def prepare_slowly(arguments: dict[str, object], workspace: Workspace) -> Prepared:
        if delays:
            PermissionRules(world.database).put(row("bash", "allow"))
            hand.seconds += delays.pop()
        return bash.prepare(arguments, workspace)

    tools = (look, msgspec.structs.replace(bash, prepare=prepare_slowly), *rest)
    steps = [says("", ("bash", '{"text": "y"}')), says("done")]
    async with world.node(steps, tools) as node:
        node._pipeline.policy = policy_over(world.database, tools, hand)
        ws = await world.create("go")
        await node.turns.take_up(ws)
        await world.until_rest(ws)
    (decided,) = [fact for fact in world.facts(ws) if isinstance(fact, CallDecided)]
    assert (decided.decision, decided.scope) == ("allow", "user")
    assert probe.ran == ["bash y"]


@pytest.mark.fault("F7")
async def test_no_deny_is_dodged_through_another_name_of_the_tool(database: Database) -> None:
    PermissionRules(database).put(row("edit"))
    policy = policy_over(database, BUILTIN, clock.monotonic)
    await policy.refresh()
    for mode in MODES:
        said = judged(policy, "edit_file", of_ines(mode))
        assert (said.decision, said.pattern) == ("deny", "edit")


@pytest.mark.req("K-44")
async def test_a_rule_counts_from_the_next_turn_on_at_once(world: World) -> None:
    probe = Probe()
    call = ("bash", '{"text": "y"}')
    rules = PermissionRules(world.database)
    rules.put(row("bash", "allow"))
    steps = [says("", call), says("ran"), says("", call), says("did not")]
    async with world.node(steps, probe.tools()) as node:
        ws = await world.create("go")
        await node.turns.take_up(ws)
        await world.until_rest(ws)
        rules.put(row("bash", "deny", note="no more"))
        await world.do(ws, PostMessage("again", "ines"))
        await node.turns.take_up(ws)
        await world.until_rest(ws)
    decided = [fact for fact in world.facts(ws) if isinstance(fact, CallDecided)]
    assert [(fact.decision, fact.pattern, fact.scope) for fact in decided] == [
        ("allow", "bash", "user"),
        ("deny", "bash", "user"),
    ]
    assert probe.ran == ["bash y"]


@pytest.mark.req("K-36", "O-15")
@pytest.mark.parametrize("locked", [False, True])
async def test_a_call_that_a_rule_denies_since_it_was_asked_does_not_run_when_it_is_approved(
    world: World, locked: bool
) -> None:
    probe = Probe()
    steps = [says("", ("bash", '{"text": "y"}')), says("understood")]
    async with world.node(steps, probe.tools()) as node:
        ws = await world.create("go")
        await node.turns.take_up(ws)
        (waiting,) = (await world.until_rest(ws)).approvals
        PermissionRules(world.database).put(row("bash", locked=locked))
        await world.do(ws, ResolveApprovals((Resolution(waiting, "allow"),), "ines"))
        await node.turns.take_up(ws)
        await world.until_rest(ws)
    assert probe.ran == []
    facts = world.facts(ws)
    said = [fact for fact in facts if isinstance(fact, CallDecided)][-1]
    assert (said.decision, said.pattern, said.scope) == ("deny", "bash", "user")
    (result,) = [fact for fact in facts if isinstance(fact, CallFinished)]
    assert result.outcome == "denied"
    assert "user rule bash says deny" in result.output
