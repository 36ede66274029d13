"""What a file tool is asked to touch outside the workspace, each refused."""

import pytest

from redshank_node.tools.builtin import edit_file, grep_search, list_files, read_file, write_file
from redshank_node.tools.tool import BadArguments, CallContext, Result, Tool, Workspace
from tests.contract.escape.confined import SECRET, Grounds
from tests.contract.escape.swapping import swapping

PATHS = (
    "..",
    "../other",
    "../other/secret.txt",
    "../../../../../../../../etc/passwd",
    "src/../../other/secret.txt",
    "./src/./../../other/secret.txt",
    "{other}/secret.txt",
    "{settings}",
    "{data}/vault.key",
    "/etc/passwd",
    "/proc/self/environ",
    "/proc/self/root{other}/secret.txt",
    "/proc/self/cwd/../other/secret.txt",
    "/dev/zero",
    "{workspace}/../other/secret.txt",
    "out/secret.txt",
    "out/../other/secret.txt",
    "out_absolute/secret.txt",
    "secret",
    "root/etc/passwd",
    "parent/other/secret.txt",
    "chain/secret.txt",
    "src/up/secret.txt",
    "gone_outside",
    "out",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
)
# What a tool is given beside the path, named as it names it.
ARGUMENTS: dict[str, dict[str, str]] = {
    "read_file": {},
    "write_file": {"content": "planted"},
    "edit_file": {"old_string": SECRET, "new_string": "planted"},
    "list_files": {},
    "grep_search": {"pattern": "."},
}
TOOLS = (read_file.TOOL, write_file.TOOL, edit_file.TOOL, list_files.TOOL, grep_search.TOOL)


async def called(tool: Tool, path: str, grounds: Grounds) -> Result:
    """The result; a refusal before the run is one too."""
    workspace = Workspace(grounds.workspace)
    try:
        prepared = tool.prepare({**ARGUMENTS[tool.name], "path": path}, workspace)
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")
    assert SECRET not in str(prepared.preview)
    return await tool.run(prepared, CallContext("call_1", workspace, lambda _: None))


@pytest.mark.req("K-10", "C-25", "C-27")
@pytest.mark.fault("F17")
@pytest.mark.fault("F73")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_file_tool_touches_nothing_outside(tool: Tool, path: str, grounds: Grounds) -> None:
    asked = path.format(
        other=grounds.other,
        data=grounds.data,
        settings=grounds.settings,
        workspace=grounds.workspace,
    )
    before = grounds.outside()
    result = await called(tool, asked, grounds)
    assert SECRET not in result.output
    assert "root:x:" not in result.output
    assert grounds.outside() == before
    # A name that only looks like a path elsewhere is a new file of the workspace.
    harmless = tool is write_file.TOOL and path.startswith(("file:", "~"))
    assert result.is_error or harmless


@pytest.mark.fault("F73")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_folder_swapped_for_a_link_meanwhile_leads_nowhere(
    tool: Tool, grounds: Grounds
) -> None:
    inside, swapped = grounds.workspace / "turn", grounds.workspace / "turned"
    inside.mkdir()
    (inside / "secret.txt").write_text("inside\n")
    swapped.symlink_to(grounds.other)
    before = grounds.outside()
    with swapping(inside, swapped):
        for _ in range(60):
            result = await called(tool, "turn/secret.txt", grounds)
            assert SECRET not in result.output
    assert grounds.outside() == before
