"""What a turn does about people: questions, plans, approvals that end or that no longer hold."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from redshank_node.dueclock.clock_lead import ClockLead
from redshank_node.dueclock.expiring import Expiring
from redshank_node.engine.asking import Asking
from redshank_node.providers.provider import Answer as Said
from redshank_node.tools.catalog import BUILTIN
from redshank_shared import clock
from redshank_shared.domain.commands import (
    AnswerQuestions,
    ChangeMode,
    PostMessage,
    Resolution,
    ResolveApprovals,
)
from redshank_shared.domain.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallDecided,
    CallFinished,
    CallStarted,
    Mode,
    ModeChanged,
    StateChanged,
    TurnCancelled,
    WorkstreamCreated,
    kind_of,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.question_events import (
    Answer,
    PlanAccepted,
    QuestionAnswered,
    QuestionAsked,
)
from redshank_shared.session_commands import first_facts
from redshank_shared.stores.database import Database
from redshank_shared.vault.redaction import Redactor
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, fresh_id, now, says

TEA = {"question": "Which tea?", "options": [{"label": "green"}, {"label": "black"}]}
LOOK = ("look", '{"text":"x"}')


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path / "workspace"
    made.folder.mkdir()
    yield made
    await made.redis.aclose()


def call(tool: str, **arguments: Any) -> tuple[str, str]:
    return tool, msgspec.json.encode(arguments).decode()


def question(world: World, workstream: WorkstreamId) -> QuestionAsked:
    (waiting,) = world.state(workstream).questions.values()
    return waiting.asked


def chosen(world: World, workstream: WorkstreamId, option: str = "o2") -> AnswerQuestions:
    asked = question(world, workstream)
    return AnswerQuestions((Answer(asked.questions[0].question_id, (option,)),), "ines")


def word(
    world: World, workstream: WorkstreamId, behavior: str = "allow", **more: str
) -> ResolveApprovals:
    (waiting,) = world.state(workstream).approvals.values()
    resolution = Resolution(waiting.requested.request_id, behavior, **more)  # type: ignore[arg-type]
    return ResolveApprovals((resolution,), "ines")


async def begun(
    world: World, *answers: Said, mode: Mode = "default", tools: Any = BUILTIN
) -> WorkstreamId:
    """A workstream whose turn came to rest after these answers of its model."""
    workstream = await world.create("go", mode)
    await gone_on(world, workstream, *answers, tools=tools)
    return workstream


async def gone_on(
    world: World, workstream: WorkstreamId, *answers: Said, tools: Any = BUILTIN
) -> None:
    """Another node takes it up until it rests."""
    async with world.node([*answers, says("done")], tools, name=f"marsh-{fresh_id('n')}") as node:
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.until(lambda: node.turns.busy == 0, "the slot is free")


def results(world: World, workstream: WorkstreamId) -> dict[str, tuple[str, str]]:
    """Outcome and output of each call, by its tool."""
    found = [fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)]
    return {fact.tool: (fact.outcome, fact.output) for fact in found}


def of(world: World, workstream: WorkstreamId, *kinds: type) -> list[Any]:
    return [fact for fact in world.facts(workstream) if isinstance(fact, kinds)]


async def expire(world: World) -> int:
    """End what has expired, as the node that leads the clock does once a second."""
    lead = ClockLead(world.database, world.leases, world.dispatch, "marsh")
    return await Expiring(world.database, world.commands, lead, clock.now_utc).end_expired()


async def until_expired(world: World) -> None:
    """Wait for something to end, then until nothing is left to end."""
    end = clock.monotonic() + 20
    while not await expire(world):
        assert clock.monotonic() < end
    assert await expire(world) == 0


@pytest.mark.req("K-18", "B-1")
@pytest.mark.fault("F-2")
async def test_a_question_holds_no_node_and_any_node_goes_on_with_its_answer(world: World) -> None:
    workstream = await begun(world, says("", call("ask_user_question", questions=[TEA])))
    state = world.state(workstream)
    assert state.shown is not None
    assert [(wait.kind, wait.detail) for wait in state.shown.waiting_for] == [
        ("question", "Which tea?")
    ]
    assert of(world, workstream, CallStarted) == []

    await world.do(workstream, chosen(world, workstream))
    await gone_on(world, workstream)
    outcome, output = results(world, workstream)["ask_user_question"]
    assert outcome == "ok"
    assert msgspec.json.decode(output)["answers"][0]["selected"] == [{"id": "o2", "label": "black"}]
    assert world.state(workstream).shown == StateChanged("idle")


@pytest.mark.req("O-9")
async def test_a_question_in_a_batch_is_asked_when_its_turn_comes(world: World) -> None:
    batch = says(
        "",
        call("bash", command="echo one > order.txt"),
        call("ask_user_question", questions=[TEA]),
        call("read_file", path="order.txt"),
    )
    workstream = await begun(world, batch)
    assert world.state(workstream).questions == {}
    await world.do(workstream, word(world, workstream))
    await gone_on(world, workstream)
    assert set(results(world, workstream)) == {"bash"}
    await world.do(workstream, chosen(world, workstream))
    await gone_on(world, workstream)
    finished = [fact.tool for fact in of(world, workstream, CallFinished)]
    assert finished == ["bash", "ask_user_question", "read_file"]


@pytest.mark.req("K-19")
async def test_an_operator_is_asked_only_where_the_operator_allows_it(world: World) -> None:
    asking = says("", call("ask_operator", questions=[TEA]))
    workstream = await begun(world, asking)
    outcome, output = results(world, workstream)["ask_operator"]
    assert outcome == "refused"
    assert "operator.allow_questions" in output

    world.asking = Asking(operator_questions=True)
    workstream = await begun(world, asking)
    assert question(world, workstream).audience == "operator"


@pytest.mark.req("K-21", "K-27")
@pytest.mark.parametrize(
    ("asked", "mode"),
    [
        (call("ask_user_question", questions=[TEA]), "default"),
        (call("enter_plan_mode"), "default"),
        (call("exit_plan_mode", plan="1. all"), "plan"),
    ],
)
async def test_a_child_neither_asks_the_user_nor_leaves_the_mode_that_it_was_given(
    world: World, asked: tuple[str, str], mode: Mode
) -> None:
    child = WorkstreamId(fresh_id("ws"))
    created = WorkstreamCreated(name="child", owner="ines", mode=mode, parent=fresh_id("ws"))
    await world.commands.create(
        child, first_facts(created, PostMessage("go", "ines"), now()), now()
    )
    await gone_on(world, child, says("", asked))
    outcome, output = results(world, child)[asked[0]]
    assert outcome == "refused"
    assert "parent" in output
    assert world.state(child).mode == mode


@pytest.mark.req("K-18")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"expires_at_ms": 1}, "in the past"),
        ({"expires_at_ms": 1, "expires_after_ms": 1}, "exclude each other"),
        ({"expires_after_ms": 0}, "expires_after_ms"),
        ({"questions": [TEA, TEA]}, "stands twice"),
        ({"questions": [{**TEA, "options": [{"label": "green"}]}]}, "options"),
        ({"questions": []}, "questions"),
    ],
)
async def test_a_question_that_cannot_be_asked_is_refused_with_the_mend(
    world: World, more: dict[str, Any], said: str
) -> None:
    asked = call("ask_user_question", **{"questions": [TEA], **more})
    workstream = await begun(world, says("", asked))
    outcome, output = results(world, workstream)["ask_user_question"]
    assert outcome == "refused"
    assert said in output


@pytest.mark.req("K-54")
async def test_a_question_that_expires_cancels_the_run(world: World) -> None:
    asked = call("ask_user_question", questions=[TEA], expires_after_ms=50)
    workstream = await begun(world, says("", asked))
    await until_expired(world)
    (ended,) = of(world, workstream, QuestionAnswered)
    assert (ended.outcome, ended.by) == ("expired", "clock")
    assert of(world, workstream, TurnCancelled) == [TurnCancelled("clock")]
    assert world.state(workstream).shown == StateChanged("idle")


@pytest.mark.req("O-10")
async def test_an_approval_that_expires_is_denied_by_the_clock_and_the_agent_hears_why(
    world: World,
) -> None:
    world.asking = Asking(expires_seconds=0.05)
    workstream = await begun(world, says("", call("bash", command="touch made")))
    await until_expired(world)
    (resolved,) = of(world, workstream, ApprovalResolved)
    assert (resolved.behavior, resolved.by) == ("deny", "clock")
    await gone_on(world, workstream)
    outcome, output = results(world, workstream)["bash"]
    assert outcome == "denied"
    assert "nobody answered in time" in output
    assert not (world.folder / "made").exists()


@pytest.mark.req("O-10")
async def test_an_approval_waits_for_ever_unless_the_operator_says_otherwise(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="true")))
    (requested,) = of(world, workstream, ApprovalRequested)
    assert requested.expires_at is None
    assert await expire(world) == 0


@pytest.mark.req("O-20")
async def test_a_mode_change_leaves_what_waits_and_only_an_answer_acts(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="touch made")))
    for mode in ("bypassPermissions", "plan"):
        await world.do(workstream, ChangeMode(mode, "ines"))
        assert len(world.state(workstream).approvals) == 1
        assert not (world.folder / "made").exists()
    await world.do(workstream, word(world, workstream))
    await gone_on(world, workstream)
    assert (world.folder / "made").exists()


@pytest.mark.req("O-11")
async def test_an_edited_input_is_decided_anew_under_the_mode_of_then(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="touch made")))
    await world.do(workstream, ChangeMode("plan", "ines"))
    edit = word(world, workstream, updated_arguments='{"command":"touch other"}')
    await world.do(workstream, edit)
    await gone_on(world, workstream)
    assert results(world, workstream)["bash"][0] == "denied"
    assert list(world.folder.iterdir()) == []


@pytest.mark.req("O-11")
@pytest.mark.fault("F-4")
async def test_an_edited_input_is_what_runs_and_both_digests_are_recorded(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="touch made")))
    edit = word(world, workstream, updated_arguments='{"command":"touch other"}')
    await world.do(workstream, edit)
    await gone_on(world, workstream)
    assert [path.name for path in world.folder.iterdir()] == ["other"]
    (requested,) = of(world, workstream, ApprovalRequested)
    (resolved,) = of(world, workstream, ApprovalResolved)
    assert resolved.original_digest == requested.input_digest != resolved.input_digest
    assert of(world, workstream, CallDecided)[-1].input_digest == resolved.input_digest


@pytest.mark.req("O-11", "T-12")
async def test_an_edited_input_that_the_tool_does_not_take_does_not_run(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="touch made")))
    await world.do(workstream, word(world, workstream, updated_arguments='{"comand":"ls"}'))
    await gone_on(world, workstream)
    outcome, output = results(world, workstream)["bash"]
    assert outcome == "refused"
    assert "did you mean command" in output


@pytest.mark.fault("F-51")
async def test_an_approved_call_does_not_run_in_another_folder(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="touch made")))
    world.folder = world.folder / "elsewhere"
    world.folder.mkdir()
    await world.do(workstream, word(world, workstream))
    await gone_on(world, workstream)
    outcome, output = results(world, workstream)["bash"]
    assert outcome == "refused"
    assert "the working folder has changed since a person approved it" in output
    assert list(world.folder.iterdir()) == []


@pytest.mark.fault("F-51")
async def test_an_approved_call_does_not_run_when_its_tool_is_described_otherwise(
    world: World,
) -> None:
    probe = Probe()
    bash = next(tool for tool in probe.tools() if tool.name == "bash")
    before, after = (msgspec.structs.replace(bash, described=text) for text in ("one", "two"))
    workstream = await begun(world, says("", ("bash", '{"text":"x"}')), tools=(before,))
    await world.do(workstream, word(world, workstream))
    await gone_on(world, workstream, tools=(after,))
    assert probe.ran == []
    assert "the tool's description has changed" in results(world, workstream)["bash"][1]


@pytest.mark.req("T-13", "B-21")
async def test_a_denial_with_feedback_is_read_by_the_agent(world: World) -> None:
    workstream = await begun(world, says("", call("bash", command="rm x")))
    await world.do(workstream, word(world, workstream, "deny", reason="use git rm"))
    await gone_on(world, workstream)
    outcome, output = results(world, workstream)["bash"]
    assert (outcome, output) == (
        "denied",
        "Denied by ines; the call did not run. They say: use git rm",
    )


@pytest.mark.req("K-31")
async def test_a_plan_is_shown_in_full_and_once_accepted_the_mode_before_counts_again(
    world: World,
) -> None:
    plan = "1. look\n2. write" + "\n" + "x" * 5000
    workstream = await begun(
        world,
        says("", call("enter_plan_mode")),
        says("", call("write_file", path="a.txt", content="x")),
        says("", call("exit_plan_mode", plan=plan)),
        mode="acceptEdits",
    )
    assert results(world, workstream)["write_file"][0] == "denied"
    assert world.state(workstream).mode == "plan"
    (requested,) = of(world, workstream, ApprovalRequested)
    assert requested.preview.body == plan

    await world.do(workstream, word(world, workstream))
    await gone_on(world, workstream, says("", call("write_file", path="a.txt", content="x")))
    assert [fact.mode for fact in of(world, workstream, ModeChanged)] == ["plan", "acceptEdits"]
    assert [fact.plan for fact in of(world, workstream, PlanAccepted)] == [plan]
    assert (world.folder / "a.txt").read_text() == "x"


@pytest.mark.req("K-31")
async def test_a_plan_that_is_denied_stays_a_plan_and_the_words_reach_the_agent(
    world: World,
) -> None:
    workstream = await begun(world, says("", call("exit_plan_mode", plan="1. all")), mode="plan")
    await world.do(workstream, word(world, workstream, "deny", reason="smaller steps"))
    await gone_on(world, workstream)
    assert world.state(workstream).mode == "plan"
    assert "smaller steps" in results(world, workstream)["exit_plan_mode"][1]
    assert of(world, workstream, PlanAccepted) == []


@pytest.mark.req("K-31")
@pytest.mark.parametrize(
    ("plan", "mode", "said"),
    [("1. go", "default", "plan mode is not on"), (" ", "plan", "plan must not be empty")],
)
async def test_a_plan_without_plan_mode_or_without_words_asks_nobody(
    world: World, plan: str, mode: Mode, said: str
) -> None:
    workstream = await begun(world, says("", call("exit_plan_mode", plan=plan)), mode=mode)
    outcome, output = results(world, workstream)["exit_plan_mode"]
    assert outcome == "refused"
    assert said in output
    assert "approval.requested" not in [kind_of(fact) for fact in world.facts(workstream)]


@pytest.mark.fault("F-12")
async def test_a_secret_that_stands_in_a_file_is_kept_out_of_what_is_shown_of_an_edit(
    world: World,
) -> None:
    secret = "canary-in-a-file-0123"
    settings = world.folder / "settings.ini"
    settings.write_text(f"name = reed\nkey = {secret}\nmode = ebb\n")
    world.asking = Asking(redact=Redactor((secret,)).of_output)
    edit = {"path": "settings.ini", "new_string": "mode = flood"}
    workstream = await begun(
        world,
        says("", call("read_file", path="settings.ini")),
        says("", call("edit_file", old_string="key = canary-in-a-field\n", **edit)),
        says("", call("edit_file", old_string="mode = ebb", **edit)),
    )
    (requested,) = of(world, workstream, ApprovalRequested)
    assert "mode = flood" in requested.preview.body
    missed = [fact for fact in of(world, workstream, CallFinished) if fact.outcome == "refused"]
    assert len(missed) == 1
    for shown in (requested.preview.body, missed[0].output):
        assert "key = " in shown
        assert secret not in shown
