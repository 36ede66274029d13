"""edit_file, as an agent uses it: read, edit, look at what changed, be told what does not fit."""

import asyncio
import os
import pathlib
import tempfile

import msgspec
import pytest

from redshank_node.tools.builtin import edit_file
from redshank_node.tools.tool import BadArguments, CallContext, Workspace
from tests.contract.edit_cases import Session
from tests.contract.lesser_child import called_as_nobody

CODE = "def tally(items):\n    total = 0\n    return total\n"


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "tally.py").write_text(CODE)
    return tmp_path


@pytest.mark.req("T-25")
async def test_an_agent_reads_edits_and_edits_again(root: pathlib.Path) -> None:
    session = Session(root, "turnstone")
    early = await session.call(
        "edit_file", path="tally.py", old_string="total = 0", new_string="total = sum(items)"
    )
    assert early.is_error
    assert "was not read yet in this workstream; read it" in early.output

    await session.call("read_file", path="tally.py")
    first = await session.call(
        "edit_file", path="tally.py", old_string="total = 0", new_string="total = sum(items)"
    )
    assert first.output == "tally.py edited at line 2: 1 line(s) added, 1 removed"
    second = await session.call(
        "edit_file",
        path="tally.py",
        edits=[
            {"old_string": "total = sum(items)\n", "new_string": ""},
            {"old_string": "return total", "new_string": "return sum(items)"},
        ],
    )
    assert not second.is_error
    assert (root / "tally.py").read_text().endswith("items):\n        return sum(items)\n")


@pytest.mark.req("T-25", "T-26")
async def test_a_diff_counts_as_a_read(root: pathlib.Path) -> None:
    session = Session(root, "turnstone")
    await session.call("diff_file", path_a="tally.py", content_b="")
    edited = await session.call(
        "edit_file", path="tally.py", old_string="tally", new_string="count"
    )
    assert not edited.is_error
    (root / "copy.py").write_text("tally = 1\n")
    await session.call("diff_file", path_a="tally.py", path_b="copy.py")
    other = await session.call("edit_file", path="copy.py", old_string="tally", new_string="sum")
    assert not other.is_error


@pytest.mark.req("T-25")
def test_a_person_sees_the_whole_change_with_the_number_of_places(root: pathlib.Path) -> None:
    prepared = edit_file.TOOL.prepare(
        {
            "path": "tally.py",
            "old_string": "total",
            "new_string": "amount",
            "replace_all": True,
        },
        Workspace(root),
    )
    preview = prepared.preview
    assert (preview.title, preview.kind) == ("tally.py, 2 places", "diff")
    assert (preview.added, preview.removed) == (2, 2)
    assert "-    total = 0\n-    return total\n+    amount = 0\n+    return amount" in preview.body
    assert (root / "tally.py").read_text() == CODE


@pytest.mark.fault("F33")
async def test_what_changed_after_it_was_shown_is_not_overwritten(root: pathlib.Path) -> None:
    arguments = {"path": "tally.py", "old_string": "total = 0", "new_string": "total = 1"}
    prepared = edit_file.TOOL.prepare(arguments, Workspace(root))
    (root / "tally.py").write_text(f"{CODE}# of somebody else\n")
    result = await edit_file.TOOL.run(
        prepared, CallContext("call_1", Workspace(root), lambda _: None)
    )
    assert result.is_error
    assert "changed since this edit was shown; read it again" in result.output
    assert (root / "tally.py").read_text().endswith("# of somebody else\n")


@pytest.mark.req("C-35", "C-36")
async def test_a_dry_run_shows_what_applying_it_does(root: pathlib.Path) -> None:
    session = Session(root, "cireilclaw")
    path = str(root / "tally.py")
    edits = [{"oldText": "  total = 0", "newText": "  total = sum(items)"}]
    shown = msgspec.json.decode(
        (await session.call("edit", path=path, edits=edits, dryRun=True)).output
    )
    assert (root / "tally.py").read_text() == CODE
    done = msgspec.json.decode(
        (await session.call("edit", path=path, apply=shown["applyId"])).output
    )
    assert done["patch"] == shown["patch"]
    assert done["firstChangedLine"] == 2
    assert done["edits"] == [
        {
            "editIndex": 0,
            "startLine": 2,
            "endLine": 2,
            "newLines": 1,
            "replacedLines": 1,
            "match": "exact",
        }
    ]
    assert "-    2     total = 0\n+    2     total = sum(items)" in done["diff"]


@pytest.mark.req("C-36")
async def test_a_dry_run_belongs_to_its_workstream(root: pathlib.Path) -> None:
    arguments = {
        "path": "tally.py",
        "old_string": "tally",
        "new_string": "count",
        "dry_run": True,
    }
    place = Workspace(root, workstream_id="ws_1")
    prepared = edit_file.TOOL.prepare(arguments, place)
    shown = await edit_file.TOOL.run(
        prepared, CallContext("call_1", place, lambda _: None, workstream_id="ws_1")
    )
    apply_id = shown.output.split("applyId: ")[1].split("\n")[0]
    with pytest.raises(BadArguments, match="there is no dry run"):
        edit_file.TOOL.prepare(
            {"path": "tally.py", "apply": apply_id}, Workspace(root, workstream_id="ws_2")
        )


@pytest.mark.fault("F21")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("pipe", "is a named pipe; only regular files can be used"),
        ("folder", "is a folder; name a file in it"),
        ("empty.txt", "old_string is not in the file"),
        ("huge.bin", "is over 8388608 bytes; edit it with a command"),
        ("line.txt", "is over 8388608 bytes; edit it with a command"),
        ("link", "leads out of the workspace"),
        ("proc/etc/passwd", "leads out of the workspace"),
        ("/proc/self/root/etc/passwd", "leads out of the workspace"),
        ("/dev/zero", "leads out of the workspace"),
        ("hard.txt", "has 2 hard links, maybe outside the workspace"),
    ],
)
async def test_what_cannot_be_edited_is_named_and_left_alone(
    path: str, says: str, tmp_path: pathlib.Path
) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    (root / "empty.txt").touch()
    with (root / "huge.bin").open("wb") as huge:
        huge.truncate(5 << 30)
    (root / "line.txt").write_bytes(b"x" * (50 << 20))
    (tmp_path / "outside.txt").write_text("x = 1\n")
    (root / "link").symlink_to(tmp_path / "outside.txt")
    (root / "proc").symlink_to("/proc/self/root")
    os.link(tmp_path / "outside.txt", root / "hard.txt")
    before = sorted(os.listdir(root))
    async with asyncio.timeout(30):
        result = await Session(root).call(
            "edit_file", path=path, old_string="x", new_string="y", near_line=1
        )
    assert result.is_error
    assert says in result.output
    assert sorted(os.listdir(root)) == before
    assert (tmp_path / "outside.txt").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_file", {"old_string": "total = 0", "new_string": "x"}),
        ("write_file", {"content": "x"}),
        ("diff_file", {"content": "x"}),
    ],
)
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_file_without_permission_is_refused_with_the_reason(
    tool: str, arguments: dict[str, object], mode: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        (root / "tally.py").write_text(CODE)
        (root / "tally.py").chmod(mode)
        result = called_as_nobody(root, tool, {"path": "tally.py", **arguments})
        assert (root / "tally.py").read_text() == CODE
        assert os.listdir(root) == ["tally.py"]
    if tool == "diff_file" and mode == 0o444:
        assert not result.is_error
    else:
        assert result.is_error
        assert "path: 'tally.py' cannot be used: Permission denied" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "path is required"),
        ({"path": 1}, "path must be a string"),
        ({"path": "tally.py"}, "old_string is required, or edits in place of it"),
        ({"path": "tally.py", "old_str": "a"}, "did you mean old_string"),
        ({"path": "tally.py", "edits": "a"}, "edits must be a list"),
        ({"path": "tally.py", "edits": [{"old_string": "a"}]}, "edits[0].new_string is required"),
        (
            {"path": "tally.py", "old_string": "a", "new_string": "b", "near": 3},
            "near must be a text",
        ),
        (
            {"path": "tally.py", "old_string": "a", "new_string": "b", "near": {"line": 3}},
            "near: line is not an argument",
        ),
    ],
)
async def test_wrong_arguments_are_named(
    arguments: dict[str, object], says: str, root: pathlib.Path
) -> None:
    result = await Session(root).call("edit_file", **arguments)
    assert result.is_error
    assert says in result.output


@pytest.mark.req("K-10")
async def test_the_files_mode_stays(root: pathlib.Path) -> None:
    (root / "tally.py").chmod(0o751)
    await Session(root).call(
        "edit_file", path="tally.py", old_string="total", new_string="t", near_line=2
    )
    assert (root / "tally.py").stat().st_mode & 0o7777 == 0o751
    assert os.listdir(root) == ["tally.py"]
