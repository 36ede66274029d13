"""The stages of a call in their order: what an earlier one refuses never reaches a later one."""

from collections.abc import AsyncIterator

import pytest

from redshank_shared.domain.events import (
    AnyFact,
    CallDecided,
    CallFinished,
    CallStarted,
    MessageAnswered,
    kind_of,
)
from redshank_shared.domain.limits import Limits
from redshank_shared.stores.database import Database
from redshank_shared.stores.permission_rules import PermissionRules, RuleRow
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, fresh_id, now, says

pytestmark = pytest.mark.req("K-2")


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def called(world: World, tool: str, arguments: str) -> tuple[Probe, list[AnyFact]]:
    """One call in a turn of its own; what the log says from the answer on, without the rest."""
    probe = Probe()
    steps = [says("", (tool, arguments)), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go", mode="bypassPermissions")
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    return probe, world.facts(workstream)


def audits(facts: list[AnyFact]) -> list[CallDecided]:
    return [fact for fact in facts if isinstance(fact, CallDecided)]


def result(facts: list[AnyFact]) -> CallFinished:
    (found,) = [fact for fact in facts if isinstance(fact, CallFinished)]
    return found


def deny(world: World, pattern: str) -> None:
    row = RuleRow(
        rule_id=fresh_id("rule"),
        scope="user",
        subject="*",
        pattern=pattern,
        decision="deny",
        locked=True,
        origin="static",
        note="",
        created_by="ines",
        created_at=now(),
    )
    PermissionRules(world.database).put(row)


@pytest.mark.req("K-3")
async def test_a_name_comes_before_limits_and_rules(world: World) -> None:
    world.limits = Limits(max_input_bytes=20)
    deny(world, "*")
    _, facts = await called(world, "no_such_tool", '{"text":"longer than twenty bytes"}')
    assert result(facts).output.startswith("tool_not_found")
    assert audits(facts) == []


@pytest.mark.req("K-4")
async def test_limits_come_before_rules(world: World) -> None:
    world.limits = Limits(max_input_bytes=20)
    deny(world, "bash")
    probe, facts = await called(world, "bash", '{"text":"longer than twenty bytes"}')
    (audit,) = audits(facts)
    assert (audit.decision, audit.origin) == ("deny", "limit")
    assert "max_input_bytes" in result(facts).output
    assert probe.ran == []


@pytest.mark.req("K-6", "K-36")
async def test_rules_come_before_the_mode_and_anything_that_runs(world: World) -> None:
    deny(world, "bash")
    probe, facts = await called(world, "bash", '{"text":"x"}')
    (audit,) = audits(facts)
    assert (audit.decision, audit.pattern, audit.effective_mode) == (
        "deny",
        "bash",
        "bypassPermissions",
    )
    assert result(facts).outcome == "denied"
    assert probe.ran == []


async def test_the_audit_stands_before_the_start_and_the_start_before_the_result(
    world: World,
) -> None:
    _, facts = await called(world, "bash", '{"text":"x"}')
    stages = (MessageAnswered, CallDecided, CallStarted, CallFinished)
    kinds = [kind_of(fact) for fact in facts if isinstance(fact, stages)]
    assert kinds == [
        "message.assistant",
        "call.decided",
        "call.started",
        "call.finished",
        "message.assistant",
    ]
