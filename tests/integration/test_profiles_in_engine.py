"""A workstream's profile says which tools its turns have, under which names, with what defaults."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest

from redshank_node.engine.profiles_in_force import toolsets_of, workspace_of
from redshank_node.tools.builtin import bash, read_file
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, WebAccess
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.events import CallDecided, CallFinished, TurnFailed
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.profiles.profile import install
from redshank_shared.profiles.profile import load as profile
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from redshank_shared.stores.permission_rules import PROJECT, PermissionRules, RuleRow
from redshank_shared.stores.schedules import Schedules
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, now, says

MARSH = "redshank\nlapwing\n"


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path / "workspace"
    made.folder.mkdir()
    (made.folder / "birds.txt").write_text(MARSH)
    yield made
    await made.redis.aclose()


@pytest.fixture(autouse=True)
def no_profile_outlives_its_test() -> Iterator[None]:
    yield
    install(())


def tools_file(world: World, text: str, name: str = "config/tools.toml") -> Path:
    """A tools.toml beside the workspace, surely newer than any before."""
    path = world.folder.parent / name
    path.parent.mkdir(exist_ok=True)
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))
    return path


def set_up(world: World, settings: str = "", tools: tuple[Tool, ...] = BUILTIN) -> None:
    """A node of this world that was started with these settings."""
    file = world.folder.parent / "redshank.toml"
    file.write_text(f'[node]\nworkspace = "{world.folder}"\n{settings}')
    read = load(file, {})
    world.toolsets = toolsets_of(read, tools, workspace_of(read, WebAccess()))


async def said(
    world: World, profile: str, *calls: tuple[str, str], tools: tuple[Tool, ...] = BUILTIN
) -> list[CallFinished]:
    """The results of one turn whose model asks for these calls, each in a step of its own."""
    workstream = await world.create("go", "default", profile)
    return await gone_on(world, workstream, *calls, tools=tools)


async def gone_on(
    world: World,
    workstream: WorkstreamId,
    *calls: tuple[str, str],
    tools: tuple[Tool, ...] = BUILTIN,
) -> list[CallFinished]:
    """The results of the turn that is due now; a call that waits for a person has none."""
    before = len(world.facts(workstream))
    answers = [says("", call) for call in calls]
    async with world.node([*answers, says("done")], tools) as node:
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        await world.until(lambda: node.turns.busy == 0, "the slot is free")
    after = world.facts(workstream)[before:]
    return [fact for fact in after if isinstance(fact, CallFinished)]


def decisions(world: World, workstream: WorkstreamId) -> list[tuple[str, str, str]]:
    found = [fact for fact in world.facts(workstream) if isinstance(fact, CallDecided)]
    return [(fact.tool, fact.canonical, fact.decision) for fact in found]


async def test_a_tool_answers_to_its_profiles_name_with_that_names_arguments(world: World) -> None:
    set_up(world)
    workstream = await world.create("go", profile="turnstone")

    (found,) = await gone_on(world, workstream, ("search", '{"query": "lap"}'))

    assert not found.is_error
    assert "lapwing" in found.output
    assert decisions(world, workstream) == [("search", "grep_search", "allow")]


async def test_a_tool_that_the_profile_has_not_is_not_there(world: World) -> None:
    set_up(world)

    missing, wrong = await said(
        world, "turnstone", ("list_files", "{}"), ("search", '{"query": "a", "glob": "*"}')
    )

    assert missing.output.startswith("tool_not_found: there is no tool list_files; there are bash")
    assert wrong.output.startswith("glob is not an argument of this tool")


@pytest.mark.req("C-6", "T-28")
async def test_the_same_tool_asks_or_not_as_the_profile_says(world: World) -> None:
    tools_file(world, "write = true\n")
    set_up(world)
    asked = await world.create("go", profile="turnstone")
    allowed = await world.create("go", profile="cireilclaw")

    nothing = await gone_on(world, asked, ("write_file", '{"path": "t.txt", "content": "x"}'))
    (written,) = await gone_on(world, allowed, ("write", '{"path": "c.txt", "content": "x"}'))

    assert nothing == []
    assert not (world.folder / "t.txt").exists()
    assert not written.is_error
    assert (world.folder / "c.txt").read_text() == "x"
    assert decisions(world, asked) == [("write_file", "write_file", "ask")]
    assert decisions(world, allowed) == [("write", "write_file", "allow")]


@pytest.mark.req("C-42")
async def test_cireilclaws_schedule_is_kept_and_replaced_by_its_id(world: World) -> None:
    tools_file(world, "schedule = true\n")
    set_up(world)
    at = '"at": "2099-01-31T09:00:00Z"'

    workstream = await world.create("go", profile="cireilclaw")
    first, second, elsewhere, past = await gone_on(
        world,
        workstream,
        ("schedule", f'{{"id": "check-mail", {at}, "prompt": "read the mail"}}'),
        ("schedule", f'{{"id": "check-mail", {at}, "prompt": "read it all"}}'),
        ("schedule", f'{{"id": "news", {at}, "prompt": "x", "target": "owner"}}'),
        ("schedule", '{"id": "old", "at": "2020-01-01T00:00:00Z", "prompt": "x"}'),
    )

    assert first.output == second.output
    assert first.output.startswith("check-mail is scheduled once at 2099-01-31T09:00:00.000Z")
    assert elsewhere.output.startswith("target: owner cannot be had yet")
    assert past.output.startswith("at: 2020-01-01T00:00:00.000Z has passed")
    kept = Schedules(world.database).page(workstream).items
    assert sorted(row.state for row in kept) == ["active", "canceled"]
    (left,) = world.state(workstream).schedules.values()
    assert (left.created.name, left.created.message) == ("check-mail", "read it all")
    assert decisions(world, workstream)[0] == ("schedule", "schedule_create", "allow")


@pytest.mark.fault("F7")
async def test_a_deny_of_any_of_a_tools_names_holds_for_all_of_them(world: World) -> None:
    mine = world.folder.parent / "mine.toml"
    mine.write_text('title = "Mine"\n[tools]\npeek = { canonical = "read_file" }\n')
    set_up(world, f'[profiles.mine]\nfile = "{mine}"\n')
    rules = PermissionRules(world.database)
    for denied in ("peek", "grep_search"):
        rules.put(
            RuleRow(
                rule_id=f"rul_{denied}",
                scope="project",
                subject=PROJECT,
                pattern=denied,
                decision="deny",
                locked=False,
                origin="static",
                note="",
                created_by="ines",
                created_at=now(),
            )
        )

    (read,) = await said(world, "kheish", ("read_file", '{"path": "birds.txt"}'))
    (peeked,) = await said(world, "mine", ("peek", '{"path": "birds.txt"}'))
    (searched,) = await said(world, "turnstone", ("search", '{"query": "a"}'))

    assert [result.outcome for result in (read, peeked, searched)] == ["denied"] * 3


@pytest.mark.req("T-10", "T-11")
async def test_a_bare_string_is_rescued_only_where_the_profile_says_so(world: World) -> None:
    set_up(world)

    (rescued,) = await said(world, "turnstone", ("read_file", "birds.txt"))
    (cut_off,) = await said(world, "turnstone", ("read_file", '{"path": "birds'))
    (strict,) = await said(world, "kheish", ("read_file", "birds.txt"))

    assert "lapwing" in rescued.output
    assert cut_off.is_error
    assert "the arguments are not JSON" in strict.output


@pytest.mark.req("C-1", "C-3")
async def test_a_profile_that_needs_a_tools_file_fails_its_turn_by_naming_the_file(
    world: World,
) -> None:
    set_up(world)
    workstream = await world.create("go", profile="cireilclaw")

    await gone_on(world, workstream)

    (failed,) = [fact for fact in world.facts(workstream) if isinstance(fact, TurnFailed)]
    assert failed.code == "tools_missing"
    assert str(world.folder.parent / "config" / "tools.toml") in failed.detail


@pytest.mark.req("C-3", "C-8")
async def test_a_change_of_the_tools_file_holds_from_the_next_turn(world: World) -> None:
    tools_file(world, "read = true\nedit = true\n")

    async def narrow(_: Prepared, __: CallContext) -> Result:
        tools_file(world, "edit = true\n")
        return Result("narrowed")

    tools = (msgspec.structs.replace(read_file.TOOL, run=narrow),)
    set_up(world, tools=tools)
    workstream = await world.create("go", profile="cireilclaw")
    read = ("read", '{"path": "birds.txt"}')

    in_the_turn = await gone_on(world, workstream, read, read, tools=tools)
    await world.do(workstream, PostMessage("again", "ines"))
    (afterwards,) = await gone_on(world, workstream, read, tools=tools)

    assert [result.output for result in in_the_turn] == ["narrowed", "narrowed"]
    assert afterwards.output.startswith("tool_not_found: there is no tool read")


@pytest.mark.req("C-2", "C-8")
async def test_a_change_that_cannot_be_read_keeps_what_was_and_says_so(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    path = tools_file(world, "read = true\n")
    set_up(world)
    tools_file(world, "raed = true\n")

    (read,) = await said(world, "cireilclaw", ("read", '{"path": "birds.txt"}'))
    (again,) = await said(world, "cireilclaw", ("read", '{"path": "birds.txt"}'))

    assert (read.is_error, again.is_error) == (False, False)
    warned = [record.getMessage() for record in caplog.records if str(path) in record.getMessage()]
    assert warned == [
        f"the tools stay as they were: {path}: raed is no tool here; did you mean read?"
    ]


@pytest.mark.req("C-9")
async def test_a_tool_that_failed_three_times_running_is_off_for_the_turn(world: World) -> None:
    tools_file(world, "read = true\nlist-dir = true\n")
    set_up(world)
    missing, there = ("read", '{"path": "no"}'), ("read", '{"path": "birds.txt"}')
    workstream = await world.create("go", profile="cireilclaw")

    first = await gone_on(world, workstream, missing, missing, missing, there, ("list-dir", "{}"))
    await world.do(workstream, PostMessage("again", "ines"))
    (second,) = await gone_on(world, workstream, there)

    assert [result.outcome for result in first] == ["error"] * 3 + ["refused", "ok"]
    assert first[3].output == "read failed 3 times running; it is off for the rest of this turn"
    assert second.outcome == "ok"


@pytest.mark.req("C-9")
async def test_a_success_between_keeps_a_tool_on(world: World) -> None:
    tools_file(world, "read = true\n")
    set_up(world)
    missing, there = ("read", '{"path": "no"}'), ("read", '{"path": "birds.txt"}')

    results = await said(world, "cireilclaw", missing, missing, there, missing, missing, there)

    assert [result.outcome for result in results] == ["error", "error", "ok"] * 2


@pytest.mark.req("T-16")
@pytest.mark.parametrize(
    ("profile", "name", "most"),
    [("turnstone", "read_file", 4), ("cireilclaw", "read", 1), ("kheish", "read_file", 6)],
)
async def test_as_many_calls_run_at_once_as_the_profile_says(
    world: World, profile: str, name: str, most: int
) -> None:
    running: set[str] = set()
    seen: list[int] = []
    full = asyncio.Event()

    async def run(_: Prepared, context: CallContext) -> Result:
        running.add(context.call_id)
        seen.append(len(running))
        if len(running) == most:
            full.set()
        async with asyncio.timeout(30):
            await full.wait()
        await asyncio.sleep(0)
        running.discard(context.call_id)
        return Result("ok")

    tools_file(world, "read = true\n")
    tools = (msgspec.structs.replace(read_file.TOOL, run=run),)
    set_up(world, tools=tools)
    workstream = await world.create("go", profile=profile)
    batch = says("", *[(name, '{"path": "birds.txt"}')] * 6)

    async with world.node([batch, says("done")], tools) as node:
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)

    assert len(seen) == 6
    assert max(seen) == most


async def test_shells_run_beside_each_other_only_in_turnstone(world: World) -> None:
    set_up(world, '[profiles.turnstone]\ndefaults = { bash = "allow" }\n')
    assert world.toolsets is not None
    workstream = await world.create("go", profile="turnstone")

    (done,) = await gone_on(world, workstream, ("bash", '{"command": "echo tide"}'))

    assert done.output.strip() == "tide"
    (decided,) = [fact for fact in world.facts(workstream) if isinstance(fact, CallDecided)]
    assert (decided.decision, decided.parallel) == ("allow", True)
    assert not bash.TOOL.parallel


async def test_a_profile_of_ones_own_renames_presets_and_decides(world: World) -> None:
    mine = world.folder.parent / "mine.toml"
    mine.write_text(
        'title = "Mine"\n[tools]\n'
        'put = { canonical = "write_file", rename = { path = "file", content = "text" } }\n'
        'look = { canonical = "read_file", preset = { limit = 1 } }\n'
    )
    set_up(world, f'[profiles.mine]\nfile = "{mine}"\n')

    put, looked, refused = await said(
        world,
        "mine",
        ("put", '{"file": "tide.txt", "text": "low\\nhigh\\n"}'),
        ("look", '{"path": "tide.txt"}'),
        ("put", '{"path": "x", "text": ""}'),
    )

    assert not put.is_error
    assert (world.folder / "tide.txt").read_text() == "low\nhigh\n"
    assert "low" in looked.output
    assert "high" not in looked.output
    assert refused.output.startswith("path is not an argument of this tool")


@pytest.mark.req("C-3", "C-4")
async def test_a_tools_file_of_another_profile_takes_away_what_it_says_is_false(
    world: World,
) -> None:
    own = tools_file(world, "bash = false\n", "kheish-tools.toml")
    set_up(world, f'[profiles.kheish]\ntools_config = "{own}"\n')

    gone, there = await said(
        world, "kheish", ("bash", '{"command": "id"}'), ("read_file", '{"path": "birds.txt"}')
    )

    assert gone.output.startswith("tool_not_found: there is no tool bash")
    assert not there.is_error


@pytest.mark.req("C-5")
def test_the_exec_table_reaches_the_calls_of_its_profile(world: World) -> None:
    tools_file(world, "[exec]\nenabled = true\ntimeout = 5000\n")
    set_up(world)
    assert world.toolsets is not None

    options = {
        name: world.toolsets.toolset(profile(name), "interactive").workspace.exec_options
        for name in ("cireilclaw", "default")
    }

    assert (options["cireilclaw"].enabled, options["cireilclaw"].timeout) == (True, 5000)
    assert options["default"].timeout == 60000


@pytest.mark.req("C-2")
@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ('[tools]\nconfig = "nowhere.toml"\n', "tools.config"),
        ('[profiles.kheish]\ntools_config = "nowhere.toml"\n', "profiles.kheish.tools_config"),
        ('[profiles.mine]\nfile = "nowhere.toml"\n', "profiles.mine.file"),
        ('[default]\nprofile = "mine"\n', "default.profile"),
    ],
)
def test_a_node_with_a_file_that_is_not_there_does_not_start(
    world: World, settings: str, field: str
) -> None:
    with pytest.raises(Misconfigured) as refused:
        set_up(world, settings)

    assert refused.value.field == field


@pytest.mark.req("T-02")
async def test_a_child_is_not_shown_the_tools_for_people_nor_those_that_outlive_it(
    world: World,
) -> None:
    set_up(world)
    assert world.toolsets is not None

    toolbox = world.toolsets.toolset(profile("default"), "task_agent").toolbox

    shown = {described.name for described in toolbox.surface()}
    assert not shown & {"ask_user_question", "exit_plan_mode", "watch"}
    assert {"bash", "read_file", "wake_after"} <= shown
    assert toolbox.resolve("watch") is None
    assert toolbox.resolve("ask_user_question") is not None


@pytest.mark.req("T-24", "T-25")
async def test_turnstone_writes_by_mode_and_edits_what_it_has_read(world: World) -> None:
    set_up(
        world, '[profiles.turnstone]\ndefaults = { write_file = "allow", edit_file = "allow" }\n'
    )
    edit = ("edit_file", '{"path": "birds.txt", "old_string": "lap", "new_string": "lop"}')

    written, refused, unread, _, edited = await said(
        world,
        "turnstone",
        ("write_file", '{"path": "log.txt", "content": "a", "mode": "append"}'),
        ("write_file", '{"path": "log.txt", "content": "b", "append": true}'),
        edit,
        ("read_file", '{"path": "birds.txt"}'),
        edit,
    )

    assert not written.is_error
    assert (world.folder / "log.txt").read_text() == "a"
    assert refused.output.startswith("append is not an argument of this tool")
    assert (unread.is_error, edited.is_error) == (True, False)
    assert (world.folder / "birds.txt").read_text() == "redshank\nlopwing\n"


@pytest.mark.req("C-28")
async def test_cireilclaw_edits_under_its_own_arguments(world: World) -> None:
    tools_file(world, "edit = true\n")
    set_up(world)

    done, wrong = await said(
        world,
        "cireilclaw",
        ("edit", '{"path": "birds.txt", "edits": [{"oldText": "lap", "newText": "lop"}]}'),
        ("edit", '{"path": "birds.txt", "edits": [{"oldText": "heron", "newText": "x"}]}'),
    )

    assert not done.is_error
    assert (world.folder / "birds.txt").read_text() == "redshank\nlopwing\n"
    assert wrong.is_error
    assert "old_string" not in wrong.output
