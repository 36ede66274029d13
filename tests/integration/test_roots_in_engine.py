"""An agent of CireilClaw's profile keeps things beside its workspace, through the real engine."""

from pathlib import Path

import msgspec
import pytest

from redshank_node.engine.dry_run import DryRun
from redshank_node.engine.profiles_in_force import toolsets_of, workspace_of
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import WebAccess
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Settings
from tests.integration.engine_world import World, says
from tests.integration.test_profiles_in_engine import gone_on, said, set_up, tools_file, world

__all__ = ["world"]


@pytest.mark.req("C-25", "C-26", "C-27", "C-22")
async def test_cireilclaw_keeps_things_beside_its_workspace(world: World) -> None:
    tools_file(world, "write = true\nread = true\nedit = true\nlist-dir = true\nopen-file = true\n")
    set_up(world)
    block = '+++\ndescription = "who"\n+++\nlikes tea\n'
    workstream = await world.create("go", "default", "cireilclaw")

    made, kept, wrong, edited, opened, there, refused, again = await gone_on(
        world,
        workstream,
        ("write", '{"path": "/memories/tide.md", "content": "low at six\\n"}'),
        ("write", msgspec.json.encode({"path": "/blocks/me.md", "content": block}).decode()),
        ("write", '{"path": "/blocks/me.txt", "content": "x"}'),
        ("edit", '{"path": "/blocks/me.md", "edits": [{"oldText": "tea", "newText": "milk"}]}'),
        ("open-file", '{"path": "/memories/tide.md"}'),
        ("list-dir", '{"path": "/"}'),
        ("write", '{"path": "/usr/tide.md", "content": "x"}'),
        ("read", '{"path": "/memories/tide.md"}'),
    )

    beside = world.folder.parent
    assert made.output == "/memories/tide.md made: 11 bytes written"
    assert not kept.is_error
    assert "whose name must end with .md" in wrong.output
    assert not edited.is_error
    assert (beside / "blocks" / "me.md").read_text() == block.replace("tea", "milk")
    assert '"open":["/memories/tide.md"]' in opened.output
    assert {"bin\tdirectory", "memories\tdirectory"} <= set(there.output.splitlines())
    assert "lies in /usr, which may only be read" in refused.output
    assert "low at six" in again.output
    assert list(world.state(workstream).pins.files) == ["/memories/tide.md"]
    assert str(beside) not in "".join(fact.output for fact in (made, kept, wrong, edited, there))


@pytest.mark.req("C-25", "C-27")
async def test_a_model_is_told_which_folders_there_are_not_where_they_lie(world: World) -> None:
    tools_file(world, "read = true\n")
    set_up(world)
    workstream = await world.create("go", "default", "cireilclaw")

    async with world.node([says("done")] * 4, BUILTIN) as node:
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        system = node.model.requests[0].system

    assert "Paths are relative to the workspace /workspace;" in system
    assert "there are also /memories, /blocks, /skills, /tasks. Only to be read: /usr" in system
    assert str(world.folder.parent) not in system


@pytest.mark.req("C-25")
async def test_the_folders_lie_where_the_setting_says_or_the_node_does_not_start(
    world: World, tmp_path: Path
) -> None:
    tools_file(world, "write = true\n")
    file = tmp_path / "redshank.toml"
    for folder in (tmp_path / "kept", world.folder / "kept"):
        file.write_text(
            f'[node]\nworkspace = "{world.folder}"\n[tools]\nroots = "{folder}"\n', "utf-8"
        )
        read = load(file, {})
        workspace = workspace_of(read, WebAccess(read.tools))
        if folder.is_relative_to(world.folder):
            with pytest.raises(Misconfigured, match="overlaps the workspace") as wrong:
                toolsets_of(read, BUILTIN, workspace)
            assert wrong.value.field == "tools.roots"
            assert any("overlaps the workspace" in said for said in lines_of(read))
        else:
            world.toolsets = toolsets_of(read, BUILTIN, workspace)
            asked = '{"path": "/tasks/next.md", "content": "water"}'
            (written,) = await said(world, "cireilclaw", ("write", asked))
            assert not written.is_error
            assert (folder / "tasks" / "next.md").read_text() == "water"


def lines_of(settings: Settings) -> list[str]:
    """What a dry run finds to mend."""
    dry_run = DryRun(settings, BUILTIN)
    list(dry_run.lines())
    return dry_run.errors
