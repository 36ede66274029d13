"""What leads out of a workspace's further roots, or from one into another, each refused: through
file tools, inside commands.
"""

import msgspec
import pytest

from redshank_node.engine.profile_roots import kept_roots, system_roots
from redshank_node.tools.builtin import (
    bash,
    edit_file,
    grep_search,
    list_files,
    read_file,
    write_file,
)
from redshank_node.tools.builtin import exec as exec_tool
from redshank_node.tools.support.files import own_files
from redshank_node.tools.support.files.paths import PathRefused
from redshank_node.tools.support.files.writing import append_file, replace_file, rewrite_file
from redshank_node.tools.tool import BadArguments, CallContext, Result, Tool, Workspace
from redshank_shared.profiles.root_choice import RootChoice
from tests.contract.escape.confined import SECRET, Grounds, sandbox
from tests.contract.escape.swapping import swapping

pytestmark = [
    pytest.mark.req("C-25", "C-27"),
    pytest.mark.fault("F17"),
    pytest.mark.fault("F73"),
]

BACKENDS = ("bwrap", "landlock")
CHOICE = RootChoice(memories="write", skills="read", tasks="write", system=True)
# What stands in a root or in the workspace, where a path of another may not lead.
BESIDE = "beside-1234"
PATHS = (
    "/",
    "/..",
    "/memories/..",
    "/memories/../workspace/beside.txt",
    "/memories/../other/secret.txt",
    "/memories/../../../../../../../../etc/shadow",
    "/memories/deep/../../skills/beside.txt",
    "/workspace/../memories/beside.txt",
    "../memories/beside.txt",
    "/tasks/../memories/beside.txt",
    "/memories/out",
    "/memories/out_absolute",
    "/memories/folder/secret.txt",
    "/memories/over",
    "/memories/over_by_name",
    "/memories/over_up",
    "/memories/root/etc/passwd",
    "/memories/parent/other/secret.txt",
    "/memories/chain/secret.txt",
    "/memories/gone_outside",
    "/skills/over",
    "into",
    "into_by_name",
    "into_folder/beside.txt",
    "/etc/shadow",
    "/etc/ssl/private/key.pem",
    "/etc/../other/secret.txt",
    "/usr/../proc/self/environ",
    "/usr/share/../../{other}/secret.txt",
    "/proc/self/root/memories/beside.txt",
    "/proc/self/root{other}/secret.txt",
    "/MEMORIES/beside.txt",
    "/memories2/beside.txt",
    "/blocks/beside.txt",
    "{other}/secret.txt",
    "{top}/memories/../other/secret.txt",
    "{data}/vault.key",
)
ARGUMENTS: dict[str, dict[str, str]] = {
    "read_file": {},
    "write_file": {"content": "planted"},
    "edit_file": {"old_string": "e", "new_string": "planted"},
    "list_files": {},
    "grep_search": {"pattern": "."},
}
TOOLS = (read_file.TOOL, write_file.TOOL, edit_file.TOOL, list_files.TOOL, grep_search.TOOL)


@pytest.fixture
def rooted(grounds: Grounds) -> Workspace:
    """The grounds' workspace with roots beside it; links of all sorts lead out of each."""
    top = grounds.top
    for folder in ("memories/deep", "skills"):
        (top / folder).mkdir(parents=True)
    for folder in ("memories", "skills", "workspace"):
        (top / folder / "beside.txt").write_text(BESIDE)
    links = {
        "memories/out": "../other/secret.txt",
        "memories/out_absolute": str(grounds.other / "secret.txt"),
        "memories/folder": "../other",
        "memories/over": "/workspace/beside.txt",
        "memories/over_by_name": str(grounds.workspace / "beside.txt"),
        "memories/over_up": "../skills/beside.txt",
        "memories/root": "/proc/self/root",
        "memories/parent": "/proc/self/cwd/..",
        "memories/chain": "deep/up",
        "memories/deep/up": "../folder",
        "memories/gone_outside": "../other/new.txt",
        "skills/over": "/memories/beside.txt",
        "workspace/into": "/memories/beside.txt",
        "workspace/into_by_name": str(top / "memories" / "beside.txt"),
        "workspace/into_folder": "../memories",
    }
    for name, target in links.items():
        (top / name).symlink_to(target)
    roots = kept_roots(CHOICE, grounds.workspace, "")
    return Workspace(grounds.workspace, roots=(*roots, *system_roots(CHOICE)))


def everything(grounds: Grounds) -> str:
    """A digest of all that there is, the workspace too."""
    return msgspec.structs.replace(grounds, workspace=grounds.top / "nothing").outside()


async def called(tool: Tool, path: str, workspace: Workspace) -> Result:
    """The result; a refusal before the run is one too."""
    try:
        prepared = tool.prepare({**ARGUMENTS[tool.name], "path": path}, workspace)
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")
    assert BESIDE not in str(prepared.preview)
    return await tool.run(prepared, CallContext("call_1", workspace, lambda _: None))


@pytest.mark.parametrize("path", PATHS)
async def test_no_file_tool_is_led_out_of_a_root(
    path: str, grounds: Grounds, rooted: Workspace
) -> None:
    asked = path.format(other=grounds.other, data=grounds.data, top=grounds.top)
    before = everything(grounds)
    for tool in TOOLS:
        result = await called(tool, asked, rooted)
        assert result.is_error, f"{tool.name}: {result.output}"
        assert not any(word in result.output for word in (SECRET, BESIDE, "root:"))
        # The machine's own names are said only where they were asked for.
        assert str(grounds.top) in asked or str(grounds.top) not in result.output
    assert everything(grounds) == before


@pytest.mark.parametrize("target", ["../other", "../workspace", "/workspace"])
async def test_a_folder_of_a_root_swapped_for_a_link_leads_nowhere(
    target: str, grounds: Grounds, rooted: Workspace
) -> None:
    inside, swapped = grounds.top / "memories" / "turn", grounds.top / "memories" / "turned"
    inside.mkdir()
    for name in ("secret.txt", "beside.txt"):
        (inside / name).write_text("inside\n")
    swapped.symlink_to(target)
    outside = grounds.other / "secret.txt", grounds.workspace / "beside.txt"
    before = [path.read_text() for path in outside]
    with swapping(inside, swapped):
        for _ in range(40):
            for tool in (read_file.TOOL, write_file.TOOL):
                for name in ("secret.txt", "beside.txt"):
                    result = await called(tool, f"/memories/turn/{name}", rooted)
                    assert not any(word in result.output for word in (SECRET, BESIDE))
    assert [path.read_text() for path in outside] == before
    assert not (grounds.other / "beside.txt").exists()


def test_a_hard_link_of_a_root_is_written_no_more_than_one_of_the_workspace(
    grounds: Grounds, rooted: Workspace
) -> None:
    (grounds.top / "memories" / "hard").hardlink_to(grounds.workspace / "beside.txt")
    with pytest.raises(PathRefused, match="has 2 hard links"):
        replace_file(rooted.ground, "/memories/hard", b"planted")
    assert (grounds.workspace / "beside.txt").read_text() == BESIDE


@pytest.mark.parametrize("path", ["/skills/beside.txt", "/skills/new.txt", "/skills/new/a.txt"])
def test_what_is_written_while_a_call_runs_keeps_out_of_a_root_to_read_too(
    path: str, grounds: Grounds, rooted: Workspace
) -> None:
    before = everything(grounds)
    for write in (
        lambda: replace_file(rooted.ground, path, b"planted"),
        lambda: append_file(rooted.ground, path, lambda _: b"planted"),
        lambda: rewrite_file(rooted.ground, path, 1000, lambda _, data: data),
    ):
        with pytest.raises(PathRefused, match="which may only be read|does not exist"):
            write()
    assert everything(grounds) == before


async def test_redshanks_own_files_are_no_tools_in_a_root_either(
    grounds: Grounds, rooted: Workspace
) -> None:
    own = grounds.top / "memories" / "deep" / "vault.key"
    own.write_text(SECRET)
    own_files.keep([own])
    try:
        for tool in (read_file.TOOL, write_file.TOOL, edit_file.TOOL):
            result = await called(tool, "/memories/deep/vault.key", rooted)
            assert "Redshank's own files" in result.output
        for tool in (list_files.TOOL, grep_search.TOOL):
            result = await called(tool, "/memories/deep", rooted)
            assert "vault.key" not in result.output
            assert SECRET not in result.output
    finally:
        own_files.forget()
    assert own.read_text() == SECRET


async def ran(command: str, backend: str, grounds: Grounds, rooted: Workspace) -> Result:
    """What a command says that sees the roots, behind these walls."""
    own = grounds.top / "memories" / "deep" / "vault.key"
    covered = (own,) if own.exists() else ()
    confined = sandbox(backend, grounds, covered=covered)
    kept = tuple(root for root in rooted.roots if root.folder.is_relative_to(grounds.top))
    workspace = msgspec.structs.replace(rooted, sandbox=confined.within(kept))
    prepared = bash.prepare({"command": command, "timeout": 20}, workspace)
    return await bash.run(prepared, CallContext("call_1", workspace, lambda _: None))


@pytest.mark.req("C-10", "C-11")
async def test_a_command_sees_the_roots_under_the_names_that_file_tools_have_for_them(
    grounds: Grounds, rooted: Workspace
) -> None:
    command = (
        'pwd; echo "$HOME"; cat /memories/beside.txt beside.txt /workspace/beside.txt; echo; '
        "echo low >/memories/tide.md; echo next >/tasks/a.md; cd /; ls -d m* s[k]* t[a]* w*"
    )
    result = await ran(command, "bwrap", grounds, rooted)
    assert result.output.splitlines() == [
        "/workspace",
        "/workspace",
        BESIDE * 3,
        "memories",
        "skills",
        "tasks",
        "workspace",
    ]
    assert (grounds.top / "memories" / "tide.md").read_text() == "low\n"
    tasks = grounds.top / "tasks"
    assert (tasks.stat().st_mode & 0o777, (tasks / "a.md").read_text()) == (0o700, "next\n")


@pytest.mark.req("C-10", "C-11")
async def test_exec_works_in_the_workspace_and_says_nothing_of_where_it_lies(
    grounds: Grounds, rooted: Workspace
) -> None:
    confined = sandbox("bwrap", grounds).within(rooted.roots[:3])
    listed = msgspec.structs.replace(rooted.web.tools, exec_binaries="pwd:env:cat")
    web = msgspec.structs.replace(rooted.web, tools=listed)
    workspace = msgspec.structs.replace(rooted, sandbox=confined, web=web)
    said = []
    for command, *words in (("pwd",), ("env",), ("cat", "/memories/beside.txt")):
        prepared = exec_tool.prepare({"command": command, "args": words}, workspace)
        done = await exec_tool.run(prepared, CallContext("call_1", workspace, lambda _: None))
        said.append(msgspec.json.decode(done.output)["stdout"])
    assert said[0] == "/workspace\n"
    assert "HOME=/workspace\n" in said[1]
    assert said[2] == BESIDE
    assert str(grounds.top) not in "".join(said)


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_command_is_led_out_of_no_root(
    backend: str, grounds: Grounds, rooted: Workspace
) -> None:
    top, other = grounds.top, grounds.other
    named = "" if backend == "bwrap" else str(top)
    lines = (
        f"cat {named}/memories/out {named}/memories/out_absolute",
        f"cat {named}/memories/folder/secret.txt",
        f"cat {named}/memories/../other/secret.txt {other}/secret.txt {named}/memories/chain/*.txt",
        f"cat {named}/memories/root{other}/secret.txt /proc/self/root{other}/secret.txt",
        f"ln -s {other} {named}/memories/new; cat {named}/memories/new/secret.txt",
        f"ln {other}/secret.txt {named}/memories/hard; cat {named}/memories/hard",
        f"echo x >{named}/memories/folder/new.txt && echo ESCAPED",
        f"echo x >{named}/memories/gone_outside && echo ESCAPED",
        f"echo x >{named}/skills/new.txt && echo ESCAPED",
        f"echo x >>{named}/skills/beside.txt && echo ESCAPED",
        f"rm {named}/skills/beside.txt && echo ESCAPED",
        f"mv {named}/skills/beside.txt {named}/memories/ && echo ESCAPED",
        f"ln {named}/skills/beside.txt {named}/memories/s && echo x >>{named}/memories/s",
        f"mv {named}/skills {named}/memories/moved && echo ESCAPED",
        f"mv {named}/memories {named}/gone && echo ESCAPED",
        f"mkdir {named}/blocks && echo ESCAPED",
    )
    result = await ran("; ".join(lines), backend, grounds, rooted)
    assert SECRET not in result.output
    assert "ESCAPED" not in result.output
    assert (top / "skills" / "beside.txt").read_text() == BESIDE
    assert [path.name for path in other.iterdir()] == ["secret.txt"]
    assert sorted(path.name for path in (top / "skills").iterdir()) == ["beside.txt", "over"]
    assert not (top / "blocks").exists()


@pytest.mark.parametrize(
    "command",
    [
        "cat /memories/deep/vault.key",
        "mv /memories/deep/vault.key /memories/known; cat /memories/known",
        "mv /memories/deep /memories/moved; cat /memories/moved/vault.key",
        "ln /memories/deep/vault.key /tasks/known; cat /tasks/known",
        "rm -f /memories/deep/vault.key; echo x >/memories/deep/vault.key",
        "cp -r /memories /tasks/copied; cat /tasks/copied/deep/vault.key",
    ],
)
async def test_what_lies_covered_in_a_root_stays_so(
    command: str, grounds: Grounds, rooted: Workspace
) -> None:
    key = grounds.top / "memories" / "deep" / "vault.key"
    key.write_text(SECRET)
    result = await ran(f"{command}; grep -rh outside- /memories", "bwrap", grounds, rooted)
    assert SECRET not in result.output
    assert key.read_text() == SECRET


async def test_landlock_gives_the_roots_under_the_machines_names(
    grounds: Grounds, rooted: Workspace
) -> None:
    top = grounds.top
    command = f"cat {top}/memories/beside.txt {top}/skills/beside.txt; echo x >{top}/tasks/a.md"
    result = await ran(command, "landlock", grounds, rooted)
    assert result.output.strip() == BESIDE * 2
    assert (top / "tasks" / "a.md").read_text() == "x\n"


async def test_landlock_runs_nothing_where_a_root_holds_what_it_cannot_cover(
    grounds: Grounds, rooted: Workspace
) -> None:
    key = grounds.top / "memories" / "deep" / "vault.key"
    key.write_text(SECRET)
    with pytest.raises(BadArguments, match="Landlock cannot cover .*vault.key; move it away"):
        await ran("true", "landlock", grounds, rooted)
