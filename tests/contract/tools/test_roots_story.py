"""An agent with folders beside its workspace, as CireilClaw has them, through every file tool."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from redshank_node.engine.profile_roots import kept_roots, system_roots
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import BadArguments, CallContext, Result, Workspace
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.commands import PinFile
from redshank_shared.domain.pins import Pin, Pins
from redshank_shared.domain.seen_files import remembered
from redshank_shared.profiles.exec_options import ExecOptions
from redshank_shared.profiles.root_choice import RootChoice

pytestmark = pytest.mark.req("C-25")

CHOICE = RootChoice("write", "write", "read", "write", system=True)
TOOLBOX = Toolbox(BUILTIN)
TYPES = {"types": True}
KEEPS = {"keep_frontmatter": True}


class Agent:
    """One workstream's calls; `top` holds its workspace with what lies beside that."""

    def __init__(self, top: pathlib.Path) -> None:
        self.top = top
        root = top / "workspace"
        root.mkdir()
        (top / "skills").mkdir()
        (top / "skills" / "brew.md").write_text("water first\n")
        roots = (*kept_roots(CHOICE, root, ""), *system_roots(CHOICE))
        self.workspace = Workspace(root, roots=roots, workstream_id="ws_1")
        self.seen: dict[str, str] = {}
        self.pins = Pins()

    async def call(
        self, name: str, options: Mapping[str, Any] | None = None, **arguments: object
    ) -> Result:
        tool = TOOLBOX.resolve(name)
        assert tool is not None
        workspace = msgspec.structs.replace(self.workspace, options=options or {}, seen=self.seen)
        try:
            prepared = tool.prepare(arguments, workspace)
        except BadArguments as wrong:
            return self.hides(Result(str(wrong), is_error=True, outcome="error"))
        context = CallContext(
            "call", workspace, lambda _: None, workstream_id="ws_1", pins=self.pins
        )
        result = await tool.run(prepared, context)
        self.seen = remembered(self.seen, result.seen)
        return self.hides(result)

    def hides(self, result: Result) -> Result:
        """No result says where on the machine the folders lie (C-27)."""
        assert str(self.top) not in result.output
        return result

    async def says(self, name: str, **arguments: object) -> str:
        return (await self.call(name, **arguments)).output  # type: ignore[arg-type]


@pytest.fixture
def agent(tmp_path: pathlib.Path) -> Agent:
    return Agent(tmp_path)


async def test_a_root_is_empty_until_something_is_written_then_it_is_the_owners_alone(
    agent: Agent,
) -> None:
    memories = agent.top / "memories"
    assert await agent.says("list_files", path="/memories") == "[the folder is empty]"
    assert await agent.says("glob_search", pattern="*", path="/memories") == "[no file matches]"
    assert await agent.says("grep_search", pattern=".", path="/memories") == "[no match]"
    missing = await agent.call("read_file", path="/memories/tide.md")
    assert missing.is_error
    assert "'/memories/tide.md' does not exist" in missing.output
    assert not memories.exists()

    written = await agent.call("write_file", path="/memories/year/tide.md", content="low at six\n")
    assert written.output == "/memories/year/tide.md made: 11 bytes written"
    assert memories.stat().st_mode & 0o777 == 0o700
    assert (memories / "year" / "tide.md").read_text() == "low at six\n"
    assert await agent.says("list_files", path="/memories/year") == "tide.md  11"
    assert (await agent.says("read_file", path="/memories/year/tide.md")).endswith("low at six")


@pytest.mark.req("C-27")
async def test_what_is_found_is_named_as_it_can_be_read(agent: Agent) -> None:
    await agent.call("write_file", path="/memories/tide.md", content="low at six\n")
    await agent.call("write_file", path="/workspace/tide.md", content="low at noon\n")
    found = await agent.says("grep_search", pattern="low", path="/memories")
    assert found == "/memories/tide.md:1:low at six"
    assert await agent.says("grep_search", pattern="low") == "tide.md:1:low at noon"
    assert await agent.says("glob_search", pattern="*.md", path="/memories") == "/memories/tide.md"
    for path in (found.partition(":")[0], "tide.md"):
        assert not (await agent.call("read_file", path=path)).is_error


async def test_a_folder_of_the_workspace_may_be_called_as_a_root_is(agent: Agent) -> None:
    await agent.call("write_file", path="/memories/tide.md", content="the root's\n")
    await agent.call("write_file", path="memories/tide.md", content="the workspace's\n")
    assert (agent.top / "workspace/memories/tide.md").read_text() == "the workspace's\n"
    assert (agent.top / "memories/tide.md").read_text() == "the root's\n"
    assert set(agent.seen) == {"/memories/tide.md", "memories/tide.md"}


async def test_reading_a_file_of_one_root_allows_no_edit_of_its_namesake(agent: Agent) -> None:
    (agent.top / "memories").mkdir()
    for place in ("memories/a.md", "workspace/a.md"):
        (agent.top / place).write_text("old\n")
    needs = {"needs_read": True}
    edit = {"old_string": "old", "new_string": "new"}
    await agent.call("read_file", path="/memories/a.md")
    refused = await agent.call("edit_file", needs, path="a.md", **edit)
    assert "was not read yet" in refused.output
    assert not (await agent.call("edit_file", needs, path="/memories/a.md", **edit)).is_error
    assert (agent.top / "memories/a.md").read_text() == "new\n"


async def test_a_dry_run_is_applied_to_the_file_of_its_own_root(agent: Agent) -> None:
    for path in ("/memories/a.md", "a.md"):
        await agent.call("write_file", path=path, content="old\n")
    dry = await agent.call(
        "edit_file",
        {"report": "json"},
        path="/memories/a.md",
        old_string="old",
        new_string="new",
        dry_run=True,
    )
    apply_id = json.loads(dry.output)["applyId"]
    refused = await agent.call("edit_file", path="a.md", apply=apply_id)
    assert "there is no dry run" in refused.output
    assert not (await agent.call("edit_file", path="/memories/a.md", apply=apply_id)).is_error
    assert (agent.top / "workspace/a.md").read_text() == "old\n"


@pytest.mark.req("C-22", "C-23", "C-24")
async def test_a_file_of_a_root_is_kept_in_sight_under_its_own_name(agent: Agent) -> None:
    large = "# One\n" + "words\n" * 2000 + "# Two\n"
    for path in ("/memories/a.md", "a.md"):
        await agent.call("write_file", path=path, content=large)
    opened = await agent.call("open_file", path="/memories/./a.md", sections=["one"])
    assert opened.command == PinFile("/memories/a.md", ("one",), whole=False)
    agent.pins = Pins({"/memories/a.md": Pin(("one",))})
    other = await agent.call("read_sections", path="a.md", sections=["two"])
    assert "'a.md' is not open" in other.output
    more = await agent.says("read_sections", path="/memories/a.md", sections=["two"])
    assert json.loads(more)["added"] == ["two"]
    assert json.loads(await agent.says("close_file", path="a.md"))["closed"] is False
    (agent.top / "memories" / "a.md").unlink()
    assert json.loads(await agent.says("close_file", path="/memories/a.md"))["closed"] is True


@pytest.mark.req("C-26")
async def test_blocks_are_what_lies_in_their_root(agent: Agent) -> None:
    head = '+++\ndescription = "who"\n+++\n'
    write = "write_file"
    refused = await agent.call(write, KEEPS, path="/blocks/me.txt", content="x")
    assert "'/blocks/me.txt' is a block, whose name must end with .md" in refused.output
    await agent.call(write, KEEPS, path="/blocks/new/me.md", content=f"{head}old\n")
    await agent.call(write, KEEPS, path="/blocks/new/me.md", content="new\n")
    assert (agent.top / "blocks/new/me.md").read_text() == f"{head}new\n"
    wrong = await agent.call(write, KEEPS, path="/blocks/me.md", content="+++\n+++\nx\n")
    assert "the frontmatter must have description" in wrong.output
    assert not (await agent.call(write, KEEPS, path="blocks/me.txt", content="x")).is_error


@pytest.mark.req("C-27")
@pytest.mark.parametrize("path", ["/skills/brew.md", "/skills/new/a.md", "/usr/x", "/etc/passwd"])
async def test_what_may_only_be_read_is_written_by_no_tool(agent: Agent, path: str) -> None:
    said = f"'{path}' lies in /{path.split('/')[1]}, which may only be read; write below /workspace"
    edit = {"old_string": "water", "new_string": "leaves"}
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
    away = f"*** Begin Patch\n*** Update File: a.md\n*** Move to: {path}\n@@\n-a\n+b\n*** End Patch"
    await agent.call("write_file", path="a.md", content="a\n")
    for result in (
        await agent.call("write_file", path=path, content="x"),
        await agent.call("write_file", path=path, content="x", append=True),
        await agent.call("edit_file", path=path, **edit),
        await agent.call("apply_patch", patch=patch),
        await agent.call("apply_patch", patch=away),
    ):
        assert result.is_error
        assert said in result.output
    assert [entry.name for entry in (agent.top / "skills").iterdir()] == ["brew.md"]
    assert (agent.top / "workspace/a.md").read_text() == "a\n"


async def test_a_patch_reaches_over_the_roots_whole_or_not_at_all(agent: Agent) -> None:
    await agent.call("write_file", path="a.md", content="one\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.md\n*** Move to: /memories/kept/a.md\n@@\n-one\n+two\n"
        "*** Add File: /tasks/next.md\n+water\n*** End Patch"
    )
    done = await agent.call("apply_patch", patch=patch)
    assert done.output == "M a.md -> /memories/kept/a.md\nA /tasks/next.md"
    assert (agent.top / "memories/kept/a.md").read_text() == "two\n"
    assert (agent.top / "tasks/next.md").read_text() == "water\n"
    assert not (agent.top / "workspace/a.md").exists()
    assert {"/memories/kept/a.md", "/tasks/next.md"} <= set(agent.seen)
    twice = (
        "*** Begin Patch\n*** Add File: /tasks/x/b.md\n+x\n*** Delete File: no.md\n*** End Patch"
    )
    assert (await agent.call("apply_patch", patch=twice)).is_error
    assert not (agent.top / "tasks/x").exists()


async def test_the_top_lists_all_that_there_is_with_its_type(agent: Agent) -> None:
    listed = (await agent.call("list_files", TYPES, path="/")).output.splitlines()
    named = ("bin", "blocks", "etc", "memories", "skills", "tasks", "usr", "workspace")
    assert {f"{name}\tdirectory" for name in named} <= set(listed)
    assert listed == sorted(listed)
    assert not {"home\tdirectory", "root\tdirectory", "proc\tdirectory"} & set(listed)
    assert (await agent.call("list_files", TYPES, path="/skills")).output == "brew.md\tfile"
    listing = (await agent.call("list_files", TYPES, path="/bin")).output
    assert "cat\tfile" in listing


async def test_of_the_system_only_that_is_read_which_a_command_sees(agent: Agent) -> None:
    assert "root:" in (await agent.call("read_file", path="/etc/passwd")).output
    etc = await agent.says("list_files", path="/etc", hidden=True)
    assert "passwd" in etc
    assert "shadow" not in etc
    for path in ("/etc/shadow", "/etc/ssl/private", "/etc/../root", "/home", "/bin/cat"):
        assert (await agent.call("read_file", path=path)).is_error
    part = await agent.call("grep_search", pattern="root", path="/etc")
    assert part.output == "path: '/etc' is searched part by part; list_files shows the parts"
    assert "root:" in await agent.says("grep_search", pattern="^root:", path="/etc/passwd")
    assert not (await agent.call("list_files", path="/usr/bin", pattern="bash")).is_error


@pytest.mark.req("C-15", "C-17")
@pytest.mark.parametrize(("folder", "kept"), [("/tasks/out", True), ("/skills", False)])
async def test_exec_keeps_its_output_in_a_root_that_may_be_written(
    agent: Agent, folder: str, kept: bool
) -> None:
    options = ExecOptions(output_dir=folder, inline=False)
    agent.workspace = msgspec.structs.replace(agent.workspace, exec_options=options)
    said = json.loads(await agent.says("exec", command="echo", args=["hi"]))
    assert said.get("fallbackInline", False) is not kept
    if kept:
        assert said["stdoutPath"].startswith("/tasks/out/")
        assert (await agent.says("read_file", path=said["stdoutPath"])).endswith("hi")


async def test_a_file_of_a_root_can_be_compared_with_its_namesake(agent: Agent) -> None:
    await agent.call("write_file", path="/memories/a.md", content="one\n")
    await agent.call("write_file", path="a.md", content="two\n")
    compared = await agent.says("diff_file", path="/memories/a.md", other_path="a.md")
    assert "--- /memories/a.md\n+++ a.md" in compared
