"""Hooks of the operator: real commands, a real HTTP server, in a turn over real stores."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from redshank_node.engine.hooks import hooks_of
from redshank_shared import clock
from redshank_shared.domain.commands import CancelTurn, Resolution, ResolveApprovals
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.events import (
    ApprovalRequested,
    CallDecided,
    CallFinished,
    CallStarted,
    Mode,
    kind_of,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.rule_events import RulesUpdated, SessionRule
from redshank_shared.settings.hooks import Hook
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from redshank_shared.stores.hook_dead_letters import DeadLetter, HookDeadLetters
from tests.fakes.model_server import Reply, model_server
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, fresh_id, says

REQUEST: Literal["permission_request"] = "permission_request"
DENIED: Literal["permission_denied"] = "permission_denied"


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


class Gates:
    """Hooks that are Python programs; each notes in its own file what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def hook(self, name: str, body: str, **fields: Any) -> Hook:
        """A command that reads `asked`, then does this."""
        program = self.folder / f"{name}.py"
        program.write_text(
            "import json, sys, time\n"
            "asked = json.load(sys.stdin)\n"
            f"open({str(self._noted(name))!r}, 'a').write(json.dumps(asked) + '\\n')\n"
            f"{body}\n"
        )
        given = {"event": REQUEST, "retries": 0, **fields}
        return Hook(name, command=(sys.executable, "-I", "-S", str(program)), **given)

    def says(self, name: str, answer: dict[str, Any], **fields: Any) -> Hook:
        """A command that answers so."""
        return self.hook(name, f"print(json.dumps({answer!r}))", **fields)

    def asked(self, name: str) -> list[dict[str, Any]]:
        """What the hook was asked so far."""
        noted = self._noted(name)
        return (
            [json.loads(line) for line in noted.read_text().splitlines()] if noted.exists() else []
        )

    def _noted(self, name: str) -> Path:
        return self.folder / f"{name}.asked"


@pytest.fixture
def gates(tmp_path: Path) -> Gates:
    return Gates(tmp_path)


class Ran:
    """A workstream at rest, with what its tools did."""

    def __init__(self, world: World, workstream: WorkstreamId, probe: Probe) -> None:
        self.probe = probe
        self.workstream = workstream
        self.facts = world.facts(workstream)
        self.state = world.state(workstream)

    @property
    def decided(self) -> list[CallDecided]:
        return [fact for fact in self.facts if isinstance(fact, CallDecided)]

    @property
    def results(self) -> list[CallFinished]:
        return [fact for fact in self.facts if isinstance(fact, CallFinished)]


async def turn(
    world: World, *calls: tuple[str, str], hooks: tuple[Hook, ...], mode: Mode = "default"
) -> Ran:
    """A workstream whose model asks once for these (tool, text) calls."""
    world.hooks = hooks
    probe = Probe()
    asked = [(tool, json.dumps({"text": text})) for tool, text in calls]
    async with world.node([says("", *asked), says("done")], probe.tools()) as node:
        workstream = await world.create("go", mode)
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    return Ran(world, workstream, probe)


def letters(world: World) -> list[DeadLetter]:
    return list(HookDeadLetters(world.database).page().items)


@pytest.mark.req("K-78", "K-41", "K-44")
async def test_a_hook_approves_a_call_before_a_person_sees_it_and_the_record_names_it(
    world: World, gates: Gates
) -> None:
    gate = gates.says("gate", {"behavior": "approve", "reason": "docs only"})

    ran = await turn(world, ("write_file", "docs/a"), hooks=(gate,))

    assert ran.probe.ran == ["write_file docs/a"]
    assert ran.state.shown is not None
    assert ran.state.shown.state == "idle"
    (decided,) = ran.decided
    assert (decided.decision, decided.base_decision) == ("allow", "ask")
    assert (decided.hook, decided.hook_reason) == ("gate", "docs only")
    assert "the hook gate approves it: docs only" in decided.why
    assert not [fact for fact in ran.facts if isinstance(fact, ApprovalRequested)]


@pytest.mark.req("K-78")
async def test_a_hook_is_told_what_it_decides_on(world: World, gates: Gates) -> None:
    gate = gates.says("gate", {"behavior": "none"})

    ran = await turn(world, ("write_file", "docs/a"), hooks=(gate,), mode="default")

    (asked,) = gates.asked("gate")
    (decided,) = ran.decided
    key = f"{decided.call_id}:{decided.input_digest}"
    assert asked == {
        "event": "permission_request",
        "hook": "gate",
        "idempotency_key": key,
        "workstream_id": ran.workstream,
        "owner": "ines",
        "call_id": decided.call_id,
        "tool": "write_file",
        "canonical": "write_file",
        "effect": "write",
        "input": {"text": "docs/a"},
        "input_digest": decided.input_digest,
        "decision": "ask",
        "base_decision": "ask",
        "mode": "default",
        "pattern": "write_file",
        "scope": "session",
        "why": decided.why,
        "workspace": str(world.folder),
    }


@pytest.mark.req("K-78", "K-44", "O12")
async def test_a_block_wins_over_an_approval_and_stops_the_hooks_behind(
    world: World, gates: Gates
) -> None:
    hooks = (
        gates.says("first", {"behavior": "approve"}),
        gates.says("second", {"behavior": "block", "reason": "not on Mondays"}),
        gates.says("third", {"behavior": "approve"}),
    )

    ran = await turn(world, ("bash", "rm x"), hooks=hooks)

    assert ran.probe.ran == []
    (decided,) = ran.decided
    assert (decided.decision, decided.hook, decided.hook_reason) == (
        "deny", "second", "not on Mondays",
    )  # fmt: skip
    (result,) = ran.results
    assert (result.outcome, result.is_error) == ("denied", True)
    assert "not on Mondays" in result.output
    assert [len(gates.asked(name)) for name in ("first", "second", "third")] == [1, 1, 0]


@pytest.mark.req("K-44")
async def test_where_no_hook_settles_it_a_person_is_asked(world: World, gates: Gates) -> None:
    ran = await turn(world, ("bash", "ls"), hooks=(gates.says("gate", {"behavior": "none"}),))

    assert ran.state.shown is not None
    assert [wait.kind for wait in ran.state.shown.waiting_for] == ["approval"]
    (decided,) = ran.decided
    assert (decided.decision, decided.hook) == ("ask", "")


@pytest.mark.req("K-41")
async def test_a_hook_is_asked_about_its_own_tools_only_and_never_about_what_is_allowed(
    world: World, gates: Gates
) -> None:
    hooks = (
        gates.says("writes", {"behavior": "approve"}, tools=("write_*",)),
        gates.says("processes", {"behavior": "approve"}, tools=("@process",)),
        gates.says("all", {"behavior": "none"}),
    )

    ran = await turn(world, ("look", "a"), ("write_file", "b"), ("bash", "c"), hooks=hooks)

    assert ran.probe.ran == ["look a", "write_file b", "bash c"]
    assert [asked["tool"] for asked in gates.asked("writes")] == ["write_file"]
    assert [asked["tool"] for asked in gates.asked("processes")] == ["bash"]
    assert [asked["tool"] for asked in gates.asked("all")] == ["write_file", "bash"]


@pytest.mark.req("O13")
async def test_a_hook_on_a_denied_call_adds_words_and_never_flips_the_deny(
    world: World, gates: Gates
) -> None:
    words = {"behavior": "approve", "reason": "use the staging folder"}
    gate = gates.says("advice", words, event=DENIED)

    ran = await turn(world, ("bash", "ls"), hooks=(gate,), mode="dontAsk")

    assert ran.probe.ran == []
    (decided,) = ran.decided
    assert decided.decision == "deny"
    assert "use the staging folder" in ran.results[0].output
    assert [asked["event"] for asked in gates.asked("advice")] == ["permission_denied"]


@pytest.mark.req("K-43", "K-40")
async def test_rules_of_a_hook_hold_from_the_call_behind_on_and_the_same_pattern_replaces(
    world: World, gates: Gates
) -> None:
    updates = [
        {"pattern": "bash", "decision": "deny"},
        {"pattern": "write_file", "decision": "allow", "scope": "session"},
        {"pattern": "bash", "decision": "allow"},
    ]
    gate = gates.says("gate", {"behavior": "approve", "rule_updates": updates})

    ran = await turn(world, ("bash", "a"), ("bash", "b"), ("write_file", "c"), hooks=(gate,))

    assert ran.probe.ran == ["bash a", "bash b", "write_file c"]
    assert len(gates.asked("gate")) == 1
    kinds = [kind_of(fact) for fact in ran.facts]
    assert kinds.index("rules.updated") < kinds.index("call.decided")
    (updated,) = [fact for fact in ran.facts if isinstance(fact, RulesUpdated)]
    assert (updated.hook, updated.call_id) == ("gate", ran.decided[0].call_id)
    assert ran.state.hook_rules == (
        SessionRule("bash", "allow"),
        SessionRule("write_file", "allow"),
    )
    assert [(fact.origin, fact.pattern) for fact in ran.decided[1:]] == [
        ("hook_update", "bash"),
        ("hook_update", "write_file"),
    ]


WIDENING = [
    {"pattern": "bash", "decision": "allow", "scope": "user"},
    {"pattern": "bash", "decision": "allow", "scope": "project"},
    {"pattern": "bash", "decision": "allow", "scope": "builtin"},
    {"pattern": "*", "decision": "allow"},
    {"pattern": "b*sh", "decision": "allow"},
    {"pattern": "bash", "decision": "maybe"},
    {"pattern": "bash", "decision": "allow", "locked": True},
]


@pytest.mark.req("K-43", "O12")
@pytest.mark.parametrize("update", WIDENING, ids=lambda update: "-".join(map(str, update.values())))
async def test_a_hook_that_widens_has_failed_and_changes_nothing(
    world: World, gates: Gates, update: dict[str, Any]
) -> None:
    good = {"pattern": "write_file", "decision": "allow"}
    answer = {"behavior": "approve", "rule_updates": [good, update]}

    ran = await turn(world, ("bash", "a"), hooks=(gates.says("gate", answer),))

    assert ran.probe.ran == []
    assert ran.state.hook_rules == ()
    assert ran.decided[0].decision == "deny"
    assert len(letters(world)) == 1


RUBBISH = {
    "rubbish": ("print('yes, do it')", "not as agreed"),
    "empty": ("pass", "not as agreed"),
    "unknown field": ('print(\'{"behavior": "approve", "mode": "bypass"}\')', "not as agreed"),
    "unknown behavior": ('print(\'{"behavior": "allow"}\')', "not as agreed"),
    "exit": ('print(\'{"behavior": "approve"}\'); sys.exit(3)', "ended with code 3"),
    "stderr": ("print('gate is down', file=sys.stderr); sys.exit(1)", "gate is down"),
    "endless": ("print('x' * 100_000)", "more than 65536 bytes"),
    "hang": ("time.sleep(60)", "no answer within"),
}


@pytest.mark.req("K-80", "O12")
@pytest.mark.parametrize("policy", ["closed", "open"])
@pytest.mark.parametrize("kind", RUBBISH)
async def test_a_hook_that_fails_blocks_or_leaves_it_to_a_person_as_its_policy_says(
    world: World, gates: Gates, kind: str, policy: str
) -> None:
    body, words = RUBBISH[kind]
    seconds = 0.5 if kind == "hang" else 10.0
    gate = gates.hook("gate", body, failure_policy=policy, timeout_seconds=seconds)

    ran = await turn(world, ("bash", "ls"), hooks=(gate,))

    assert ran.probe.ran == []
    (decided,) = ran.decided
    assert decided.decision == ("deny" if policy == "closed" else "ask")
    assert "the hook gate failed" in decided.why
    (letter,) = letters(world)
    assert (letter.hook, letter.call_id, letter.attempts) == ("gate", decided.call_id, 1)
    assert words in letter.detail
    assert json.loads(letter.payload)["input"] == {"text": "ls"}


@pytest.mark.req("K-80")
async def test_a_hook_that_cannot_be_started_has_failed(world: World) -> None:
    gate = Hook("gate", REQUEST, command=("/nonexistent/gate",), retries=5)

    ran = await turn(world, ("bash", "ls"), hooks=(gate,))

    assert ran.decided[0].decision == "deny"
    assert [letter.attempts for letter in letters(world)] == [1]


@pytest.mark.req("K-80")
async def test_a_hook_is_tried_again_as_often_as_it_says(world: World, gates: Gates) -> None:
    tally = "import os\nif os.path.exists('{0}'): print('{{\"behavior\": \"approve\"}}')\n"
    marker = gates.folder / "second"
    body = tally.format(marker) + f"else: open({str(marker)!r}, 'w'); sys.exit(1)"

    ran = await turn(world, ("bash", "a"), hooks=(gates.hook("gate", body, retries=1),))

    assert ran.probe.ran == ["bash a"]
    assert len(gates.asked("gate")) == 2
    assert letters(world) == []
    first, second = gates.asked("gate")
    assert first == second


@pytest.mark.req("K-80")
async def test_all_attempts_share_one_time_budget(world: World, gates: Gates) -> None:
    gate = gates.hook("gate", "time.sleep(60)", retries=5, timeout_seconds=3.0)
    began = clock.monotonic()

    ran = await turn(world, ("bash", "a"), hooks=(gate,))

    assert ran.decided[0].decision == "deny"
    assert clock.monotonic() - began < 30
    assert len(gates.asked("gate")) == 1


@pytest.mark.req("K-80")
@pytest.mark.fault("F63")
async def test_a_hook_over_http_is_asked_with_the_calls_idempotency_key(
    world: World,
) -> None:
    async with model_server(Reply((b'{"behavior": "approve", "reason": "fine"}',))) as server:
        gate = Hook("gate", REQUEST, url=f"{server.url}/ask", allow_private=True)
        ran = await turn(world, ("bash", "a"), hooks=(gate,))

    assert ran.probe.ran == ["bash a"]
    (asked,) = server.requests
    (decided,) = ran.decided
    assert asked.path == "/ask"
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert headers["idempotency-key"] == f"{decided.call_id}:{decided.input_digest}"
    assert headers["content-type"] == "application/json"
    assert asked.body["hook"] == "gate"
    assert decided.hook == "gate"


@pytest.mark.req("K-80")
@pytest.mark.fault("F63")
async def test_a_hook_at_a_private_address_is_not_asked_unless_it_says_so(
    world: World,
) -> None:
    async with model_server(Reply((b'{"behavior": "approve"}',))) as server:
        gate = Hook("gate", REQUEST, url=server.url, retries=3)
        ran = await turn(world, ("bash", "a"), hooks=(gate,))

    assert ran.decided[0].decision == "deny"
    assert server.requests == []
    (letter,) = letters(world)
    assert letter.attempts == 1
    assert "127.0.0.1 lies inside" in letter.detail
    assert "allow_private" in letter.detail


ANSWERS = {
    "redirect": (Reply(status=307, headers={"Location": "/other"}), 1, "a redirect"),
    "refused": (Reply(status=403), 1, "answers 403"),
    "broken": (Reply(status=500), 2, "answers 500"),
    "page": (Reply((b"<html>",)), 2, "not as agreed"),
    "cut": (Reply((b'{"behavior": "appr',), end="cut"), 2, "not as agreed|not reached"),
    "endless": (Reply((b" " * 70_000,)), 2, "more than 65536 bytes"),
    "mute": (Reply(end="mute"), 1, "no answer within"),
}


@pytest.mark.req("K-80")
@pytest.mark.parametrize("kind", ANSWERS)
async def test_what_is_no_answer_over_http_is_a_failure(world: World, kind: str) -> None:
    reply, attempts, words = ANSWERS[kind]
    seconds = 1.5 if kind == "mute" else 10.0
    async with model_server(reply) as server:
        gate = Hook("gate", REQUEST, url=server.url, allow_private=True, timeout_seconds=seconds)
        ran = await turn(world, ("bash", "a"), hooks=(gate,))

    assert ran.decided[0].decision == "deny"
    (letter,) = letters(world)
    assert letter.attempts == attempts
    assert len(server.requests) == attempts
    assert any(word in letter.detail for word in words.split("|")), letter.detail


async def test_what_is_kept_of_a_failure_holds_no_secret(world: World, gates: Gates) -> None:
    world.redact = lambda text: text.replace("hunter2", "[redacted]")
    gate = gates.hook("gate", "print(asked['input']['text'], file=sys.stderr); sys.exit(1)")

    ran = await turn(world, ("bash", "login hunter2"), hooks=(gate,))

    (letter,) = letters(world)
    assert "hunter2" not in letter.detail + letter.payload + ran.decided[0].why
    assert "[redacted]" in letter.payload


@pytest.mark.req("O11", "K-78")
async def test_input_that_a_person_edited_is_put_to_the_hooks_again(
    world: World, gates: Gates
) -> None:
    body = "print(json.dumps({'behavior': 'block' if 'rm' in asked['input']['text'] else 'none'}))"
    world.hooks = (gates.hook("gate", body),)
    probe = Probe()
    asked = ("bash", '{"text":"ls"}')
    async with world.node([says("", asked), says("done")], probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        state = await world.until_rest(workstream)
        (request,) = state.approvals
        edited = Resolution(request, "allow", updated_arguments='{"text":"rm -r x"}')
        await world.do(workstream, ResolveApprovals((edited,), "ines"))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    ran = Ran(world, workstream, probe)
    assert probe.ran == []
    assert [fact.decision for fact in ran.decided] == ["ask", "deny"]
    assert [one["input"]["text"] for one in gates.asked("gate")] == ["ls", "rm -r x"]


@pytest.mark.fault("F39")
async def test_a_person_stops_a_turn_while_a_hook_thinks(world: World, gates: Gates) -> None:
    world.hooks = (gates.hook("gate", "time.sleep(60)", timeout_seconds=60.0),)
    probe = Probe()
    asked = ("bash", '{"text":"ls"}')
    async with world.node([says("", asked), says("done")], probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until(lambda: bool(gates.asked("gate")), "the hook is asked")
        await world.do(workstream, CancelTurn("ines"))
        node.turns.poke(workstream, world.state(workstream).version)
        state = await world.until_rest(workstream)
        assert state.shown is not None
        assert state.shown.state == "idle"
        await world.until(lambda: node.turns.busy == 0, "the turn is over at once")
    assert probe.ran == []


async def test_after_a_death_while_a_hook_thinks_another_node_asks_it_under_the_same_key(
    world: World, gates: Gates
) -> None:
    world.hooks = (gates.hook("gate", "time.sleep(60)", timeout_seconds=60.0),)
    probe = Probe()
    asked = ("bash", '{"text":"ls"}')
    async with world.node([says("", asked)], probe.tools()) as node:
        workstream = await world.create("go")
        await node.turns.take_up(workstream)
        await world.until(lambda: bool(gates.asked("gate")), "the hook is asked")
    world.expire(workstream)
    world.hooks = (gates.says("gate", {"behavior": "approve"}),)
    async with world.node([says("done")], probe.tools(), name="marsh-2") as second:
        await second.turns.take_up(workstream)
        await world.until_rest(workstream)
    assert probe.ran == ["bash ls"]
    first, again = gates.asked("gate")
    assert first["idempotency_key"] == again["idempotency_key"]


async def test_without_hooks_an_answer_is_decided_in_the_append_that_records_it(
    world: World,
) -> None:
    ran = await turn(world, ("write_file", "a"), hooks=(), mode="acceptEdits")

    kinds = [kind_of(fact) for fact in ran.facts]
    at = kinds.index("message.assistant")
    assert kinds[at : at + 4] == ["message.assistant", "usage", "call.decided", "call.started"]
    started = [fact for fact in ran.facts if isinstance(fact, CallStarted)]
    assert len(started) == 1


@pytest.mark.req("K-78")
def test_a_pattern_that_is_none_stops_a_nodes_start(database: Database) -> None:
    settings = msgspec.structs.replace(
        load(None, {"HOME": "/nonexistent"}),
        hooks=(Hook("gate", REQUEST, ("bash", "b*sh"), command=("gate",)),),
    )

    with pytest.raises(Misconfigured) as caught:
        hooks_of(settings, database, fresh_id, str)

    assert caught.value.field == "hooks[0].tools[1]"
    assert "hook gate: the pattern 'b*sh' has a * before its end" in caught.value.detail
