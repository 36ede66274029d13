"""Hooks that are agents: a model apart from the conversation, in a turn over real stores."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from redshank_node.engine.dry_run import DryRun
from redshank_node.engine.hook_tools import tools_of_hooks
from redshank_node.engine.policy import FRESH_SECONDS
from redshank_node.providers.openai import OpenAI
from redshank_node.providers.provider import Answer, Delta, ModelFailed, ModelRequest, ModelSettings
from redshank_node.providers.scripted import Scripted, Step
from redshank_node.tools.builtin import grep_search, read_file
from redshank_node.tools.catalog import BUILTIN
from redshank_shared.domain.commands import CancelTurn, Resolution, ResolveApprovals
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.events import (
    CallDecided,
    CallFinished,
    CallStarted,
    Decision,
    MessageAnswered,
    TokensUsed,
)
from redshank_shared.domain.messages import ResultMessage, UserMessage
from redshank_shared.settings.hooks import Hook, HookAgent
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from redshank_shared.stores.hook_dead_letters import DeadLetter, HookDeadLetters
from redshank_shared.stores.permission_rules import PermissionRules, RuleRow
from tests.fakes.model_server import Reply, model_server
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, fresh_id, now, says

APPROVES = '{"behavior": "approve", "reason": "it only lists"}'


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path
    yield made
    await made.redis.aclose()


class Judged:
    """What came of a turn in which an agent was asked about calls."""

    def __init__(self, world: World, workstream: Any, probe: Probe, judge: Scripted) -> None:
        self.probe = probe
        self.requests = judge.requests
        self.facts = world.facts(workstream)
        self.state = world.state(workstream)
        self.decided = [fact for fact in self.facts if isinstance(fact, CallDecided)]
        self.results = [fact for fact in self.facts if isinstance(fact, CallFinished)]


def judging(*tools: str, prompt: str = "Only listings are fine.", **fields: Any) -> Hook:
    """A hook whose agent has these tools."""
    steps = fields.pop("steps", 8)
    agent = HookAgent(prompt, "judge", tools, steps)
    given = {"event": "permission_request", "retries": 0, "timeout_seconds": 30.0, **fields}
    return Hook("judge", agent=agent, **given)


def letters(world: World) -> list[DeadLetter]:
    return list(HookDeadLetters(world.database).page().items)


def add_rule(world: World, pattern: str, decision: Decision) -> None:
    """A rule of the workstreams' owner."""
    rule_id = fresh_id("rule")
    PermissionRules(world.database).put(
        RuleRow(rule_id, "user", "ines", pattern, decision, False, "static", "", "ines", now())
    )


async def judged(
    world: World, hook: Hook, *steps: Step, text: str = "ls", mode: Any = "default"
) -> Judged:
    """A turn whose model asks once for bash; the agent's model gives these steps."""
    world.hooks = (hook,)
    judge = Scripted(ModelSettings("judge", "scripted", "scripted"), steps)
    world.models = {"judge": judge}
    probe = Probe()
    tools = (*probe.tools(), read_file.TOOL, grep_search.TOOL)
    asked = ("bash", json.dumps({"text": text}))
    async with world.node([says("", asked), says("done")], tools) as node:
        workstream = await world.create("a word of the conversation", mode)
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    return Judged(world, workstream, probe, judge)


@pytest.mark.req("K-79", "K-78")
async def test_an_agent_approves_a_call_apart_from_the_conversation_and_without_tools(
    world: World,
) -> None:
    came = await judged(world, judging(), says(APPROVES))

    assert came.probe.ran == ["bash ls"]
    (decided,) = came.decided
    assert (decided.decision, decided.hook, decided.hook_reason) == (
        "allow", "judge", "it only lists",
    )  # fmt: skip
    (request,) = came.requests
    assert request.surface.tools == ()
    assert "Only listings are fine." in request.system
    (message,) = request.messages
    assert isinstance(message, UserMessage)
    asked = json.loads(message.text)
    assert (asked["tool"], asked["input"], asked["event"]) == (
        "bash", {"text": "ls"}, "permission_request",
    )  # fmt: skip
    assert "a word of the conversation" not in repr(request)


@pytest.mark.req("K-79")
@pytest.mark.fault("F47")
async def test_what_an_agent_uses_is_recorded_and_nothing_else_of_its_conversation(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").write_text("never on Mondays\n")
    look = says("", ("read_file", '{"path": "rules.txt"}'))

    came = await judged(
        world,
        judging("read_file"),
        look,
        says('{"behavior": "block", "reason": "Mondays"}'),
    )

    assert came.probe.ran == []
    (decided,) = came.decided
    assert (decided.decision, decided.hook_reason) == ("deny", "Mondays")
    used = [fact for fact in came.facts if isinstance(fact, TokensUsed)]
    assert [fact.model for fact in used] == ["main", "judge", "judge", "main"]
    assert {(fact.input_tokens, fact.output_tokens) for fact in used} == {(11, 7)}
    assert not [fact for fact in came.facts if isinstance(fact, CallStarted)]
    assert [fact.tool for fact in came.results] == ["bash"]
    assert len([fact for fact in came.facts if isinstance(fact, MessageAnswered)]) == 2


@pytest.mark.req("K-79")
async def test_an_agent_sees_and_calls_the_tools_of_its_list_alone(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").write_text("never on Mondays\n")
    calls = says(
        "",
        ("read_file", '{"path": "rules.txt"}'),
        ("grep_search", '{"pattern": "never"}'),
        ("bash", '{"text": "rm -r /"}'),
        ("read_file", "{}"),
    )

    came = await judged(world, judging("read_file"), calls, says(APPROVES))

    first, second = came.requests
    assert [tool.name for tool in first.surface.tools] == ["read_file"]
    results = [part for part in second.messages if isinstance(part, ResultMessage)]
    assert [part.is_error for part in results] == [False, True, True, True]
    assert "never on Mondays" in results[0].output
    assert all("there is no tool" in part.output for part in results[1:3])
    assert "path" in results[3].output
    assert came.probe.ran == ["bash ls"]


@pytest.mark.req("K-79")
@pytest.mark.parametrize("decision", ["deny", "ask"])
async def test_an_agents_own_calls_go_by_the_rules_of_the_owner_and_nobody_is_asked(
    world: World, tmp_path: Path, decision: Any
) -> None:
    (tmp_path / "rules.txt").write_text("never on Mondays\n")
    add_rule(world, "read_file", decision)
    look = says("", ("read_file", '{"path": "rules.txt"}'))

    came = await judged(world, judging("read_file"), look, says(APPROVES))

    (result,) = [part for part in came.requests[1].messages if isinstance(part, ResultMessage)]
    assert result.is_error
    assert "Denied" in result.output
    assert not came.state.approvals


FAILURES: dict[str, tuple[tuple[Step, ...], str]] = {
    "words": ((says("Sure, go ahead."),), "not as agreed"),
    "unknown field": ((says('{"behavior": "approve", "mode": "plan"}'),), "not as agreed"),
    "cut off": ((Answer('{"behavior": "approve"}', "length"),), "ended with length"),
    "model away": ((ModelFailed("it is away", code="model_down", retry=False),), "it is away"),
    "only tools": (
        tuple(says("", ("read_file", '{"path": "x"}')) for _ in range(3)),
        "asked 3 times",
    ),
    "too long": ((says(json.dumps({"behavior": "none", "reason": "x" * 70_000})),), "more than"),
}


@pytest.mark.req("K-79", "K-80", "O-12")
@pytest.mark.parametrize("policy", ["closed", "open"])
@pytest.mark.parametrize("kind", FAILURES)
async def test_an_agent_that_gives_no_answer_has_failed_as_any_hook(
    world: World, kind: str, policy: Any
) -> None:
    steps, words = FAILURES[kind]

    came = await judged(world, judging("read_file", steps=3, failure_policy=policy), *steps)

    assert came.probe.ran == []
    (decided,) = came.decided
    assert decided.decision == ("deny" if policy == "closed" else "ask")
    (letter,) = letters(world)
    assert (letter.hook, letter.attempts) == ("judge", 1)
    assert words in letter.detail


@pytest.mark.req("K-80")
async def test_an_agent_is_asked_again_in_a_new_conversation(world: World) -> None:
    came = await judged(world, judging(retries=1), says("Let me think."), says(APPROVES))

    assert came.probe.ran == ["bash ls"]
    first, second = came.requests
    assert first.conversation != second.conversation
    assert len(second.messages) == 1
    assert letters(world) == []


async def test_an_answer_in_a_fence_counts(world: World) -> None:
    came = await judged(world, judging(), says(f"```json\n{APPROVES}\n```"))

    assert came.probe.ran == ["bash ls"]


@pytest.mark.req("K-79", "K-43")
async def test_an_agent_may_not_widen_the_rules_either(world: World) -> None:
    widening = '{"behavior": "approve", "rule_updates": [{"pattern": "*", "decision": "allow"}]}'

    came = await judged(world, judging(), says(widening))

    assert came.probe.ran == []
    assert came.state.hook_rules == ()


async def test_a_call_too_long_to_be_shown_whole_is_not_judged_by_half(world: World) -> None:
    came = await judged(world, judging(), says(APPROVES), text="x" * 300_000)

    assert came.probe.ran == []
    assert came.requests == []
    assert "shown whole" in letters(world)[0].detail


@pytest.mark.fault("F12")
async def test_an_agent_is_shown_no_secret(world: World) -> None:
    world.redact = lambda text: text.replace("hunter2", "[redacted]")

    came = await judged(world, judging(), says(APPROVES), text="login hunter2")

    assert "hunter2" not in repr(came.requests)
    assert "login [redacted]" in repr(came.requests)


@pytest.mark.req("O-13")
async def test_an_agent_on_a_denied_call_adds_words_alone(world: World) -> None:
    hook = judging(event="permission_denied")

    came = await judged(
        world, hook, says('{"behavior": "none", "reason": "use staging"}'), mode="dontAsk"
    )

    assert came.probe.ran == []
    assert "use staging" in came.results[0].output
    assert "denied already" in came.requests[0].system


@pytest.mark.req("K-79", "K-80")
async def test_an_agent_that_is_still_thinking_when_its_time_is_over_has_failed(
    world: World,
) -> None:
    async with model_server(Reply(end="mute")) as server:
        judge = OpenAI(ModelSettings("judge", "openai", "m", server.url))
        world.models = {"judge": judge}
        world.hooks = (judging(timeout_seconds=0.5),)
        probe = Probe()
        asked = ("bash", '{"text":"ls"}')
        async with world.node([says("", asked), says("done")], probe.tools()) as node:
            workstream = await world.create("go")
            await node.turns.take_up(workstream)
            await world.until_rest(workstream)
        await judge.close()
    assert probe.ran == []
    (letter,) = letters(world)
    assert "no answer within 0.5 s" in letter.detail


@pytest.mark.fault("F39")
async def test_a_person_stops_a_turn_while_an_agent_thinks(world: World) -> None:
    async with model_server(Reply(end="mute")) as server:
        world.models = {"judge": OpenAI(ModelSettings("judge", "openai", "m", server.url))}
        world.hooks = (judging(),)
        probe = Probe()
        asked = ("bash", '{"text":"ls"}')
        async with world.node([says("", asked), says("done")], probe.tools()) as node:
            workstream = await world.create("go")
            await node.turns.take_up(workstream)
            await world.until(lambda: bool(server.requests), "the agent is asked")
            await world.do(workstream, CancelTurn("ines"))
            node.turns.poke(workstream, world.state(workstream).version)
            state = await world.until_rest(workstream)
            assert state.shown is not None
            assert state.shown.state == "idle"
            await world.until(lambda: node.turns.busy == 0, "the turn is over at once")
        await world.models["judge"].close()
    assert probe.ran == []


@pytest.mark.req("K-41", "K-36", "O-13")
async def test_a_call_that_a_rule_denies_at_its_start_gets_the_words_of_hooks_on_denials(
    world: World,
) -> None:
    judge = Scripted(
        ModelSettings("judge", "scripted", "scripted"),
        [says('{"behavior": "none", "reason": "ask for the staging host"}')],
    )
    world.models = {"judge": judge}
    world.hooks = (judging(event="permission_denied", tools=("bash",)),)
    probe = Probe()
    steps = [says("", ("bash", '{"text": "y"}')), says("understood")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        (waiting,) = (await world.until_rest(workstream)).approvals
        assert judge.requests == []
        add_rule(world, "bash", "deny")
        await world.do(workstream, ResolveApprovals((Resolution(waiting, "allow"),), "ines"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    came = Judged(world, workstream, probe, judge)
    assert probe.ran == []
    (result,) = came.results
    assert result.outcome == "denied"
    assert "the hook judge adds: ask for the staging host" in result.output
    assert came.decided[-1].why.endswith("the hook judge adds: ask for the staging host")


class Slow(Scripted):
    """A model that takes longer than rules are remembered; meanwhile something happens."""

    def __init__(self, steps: list[Step], meanwhile: Callable[[], None]) -> None:
        super().__init__(ModelSettings("judge", "scripted", "scripted"), steps)
        self._meanwhile = meanwhile

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        self._meanwhile()
        await asyncio.sleep(2 * FRESH_SECONDS)
        async for item in super().stream(request):
            yield item


@pytest.mark.req("K-36", "K-41")
async def test_a_rule_made_while_hooks_are_heard_holds_for_the_calls_beside(world: World) -> None:
    words = says('{"behavior": "none", "reason": "look elsewhere"}')
    world.models = {"judge": Slow([words], lambda: add_rule(world, "peek", "deny"))}
    world.hooks = (judging(event="permission_denied", tools=("look",)),)
    probe = Probe()
    calls = [(tool, '{"text": "x"}') for tool in ("look", "peek", "bash")]
    tools = (*probe.tools(), probe.tool("peek", "read", parallel=True))
    async with world.node([says("", *calls), says("done")], tools) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        (waiting,) = (await world.until_rest(workstream)).approvals
        add_rule(world, "look", "deny")
        await world.do(workstream, ResolveApprovals((Resolution(waiting, "allow"),), "ines"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)

    assert probe.ran == ["bash x"]


@pytest.mark.req("K-79")
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("bash", "its effect is process"),
        ("write", "its effect is write"),
        ("web_fetch", "its effect is network"),
        ("ask_user_question", "its effect is human"),
        ("open_file", "belongs to a conversation"),
        ("mcp__acme__find", "there is no tool mcp__acme__find"),
        ("read_fiel", "did you mean read_file?"),
    ],
)
def test_what_an_agent_may_not_have_stops_the_start_and_is_found_before(
    tmp_path: Path, tool: str, words: str
) -> None:
    settings = msgspec.structs.replace(
        load(None, {"HOME": str(tmp_path)}), hooks=(judging("read_file", tool),)
    )

    with pytest.raises(Misconfigured) as caught:
        tools_of_hooks(settings.hooks, BUILTIN)

    assert caught.value.field == "hooks[0].agent.tool_surface.allow"
    assert words in caught.value.detail
    assert "read_file" in caught.value.detail
    look = DryRun(settings, BUILTIN)
    list(look.lines())
    assert any("hooks[0].agent.tool_surface.allow" in error for error in look.errors)


@pytest.mark.req("K-79")
def test_a_tool_may_be_allowed_by_any_of_its_names() -> None:
    found = tools_of_hooks([judging("read", "search", "list-dir")], BUILTIN)

    assert [tool.name for tool in found["judge"]] == ["read_file", "grep_search", "list_files"]
