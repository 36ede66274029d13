"""write_file, as an agent uses it: new files, whole files, more at the end."""

import asyncio
import ctypes
import hashlib
import os
import pathlib
import threading

import pytest

from redshank_node.tools.builtin import write_file
from redshank_node.tools.tool import CallContext, Workspace
from tests.contract.edit_cases import Session
from tests.contract.lesser_child import called_with_limit

AT_FDCWD = -100
RENAME_EXCHANGE = 2
EDIT = {"path": "door/a.txt", "old_string": "e", "new_string": "ee", "near_line": 1}
PATCH = (
    "*** Begin Patch\n*** Update File: door/a.txt\n@@\n-one\n+one\n+two\n"
    "*** Add File: door/b.txt\n+x\n*** End Patch"
)


@pytest.mark.req("T-24", "C-26")
async def test_a_new_file_comes_with_its_folders(tmp_path: pathlib.Path) -> None:
    result = await Session(tmp_path).call("write_file", path="docs/new/a.md", content="# a\n")
    assert result.output == "docs/new/a.md made: 4 bytes written"
    assert (tmp_path / "docs/new/a.md").read_text() == "# a\n"


@pytest.mark.req("T-24", "K-10")
async def test_a_file_is_replaced_whole_with_its_mode_kept(tmp_path: pathlib.Path) -> None:
    (tmp_path / "run.sh").write_text("echo old\n")
    (tmp_path / "run.sh").chmod(0o750)
    (tmp_path / "link").symlink_to("run.sh")
    result = await Session(tmp_path).call("write_file", path="link", content="echo new\n")
    assert result.output == "link replaced: 9 bytes written"
    assert (tmp_path / "run.sh").read_text() == "echo new\n"
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "run.sh"]


@pytest.mark.req("T-24")
@pytest.mark.fault("F33")
@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "c\n", b"a\r\nb\r\nc\r\n"),
        (b"caf\xe9\n", "th\u00e9\n", b"caf\xe9\nth\xe9\n"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfa\nb\n"),
        (b"\xff\xfea\x00\n\x00", "b\n", b"\xff\xfea\x00\n\x00b\x00\n\x00"),
        (b"", "b\n", b"b\n"),
    ],
)
async def test_what_is_added_gets_the_files_encoding_and_line_ends(
    before: bytes, content: str, after: bytes, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.txt").write_bytes(before)
    result = await Session(tmp_path).call("write_file", path="a.txt", content=content, append=True)
    assert not result.is_error
    assert (tmp_path / "a.txt").read_bytes() == after


@pytest.mark.fault("F33")
async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "a.txt").write_text("mine\n")
    session = Session(tmp_path)
    await session.call("read_file", path="a.txt")
    (tmp_path / "a.txt").write_text("of somebody else\n")
    refused = await session.call("write_file", path="a.txt", content="new\n")
    assert refused.is_error
    assert "changed on disk since it was last read here" in refused.output
    assert (tmp_path / "a.txt").read_text() == "of somebody else\n"

    await session.call("read_file", path="a.txt")
    assert not (await session.call("write_file", path="a.txt", content="new\n")).is_error
    assert not (await session.call("write_file", path="a.txt", content="newer\n")).is_error


@pytest.mark.fault("F33")
@pytest.mark.parametrize("before", ["old\n", None])
async def test_a_file_that_changed_since_it_was_shown_is_not_overwritten(
    before: str | None, tmp_path: pathlib.Path
) -> None:
    place = Workspace(tmp_path)
    if before is not None:
        (tmp_path / "a.txt").write_text(before)
    prepared = write_file.TOOL.prepare({"path": "a.txt", "content": "new\n"}, place)
    (tmp_path / "a.txt").write_text("of somebody else\n")
    result = await write_file.TOOL.run(prepared, CallContext("call_1", place, lambda _: None))
    assert result.is_error
    assert "changed since it was looked at" in result.output
    assert (tmp_path / "a.txt").read_text() == "of somebody else\n"


@pytest.mark.req("K-10")
async def test_a_file_is_written_only_as_the_expected_one(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    session = Session(tmp_path)
    wrong = await session.call(
        "write_file", path="a.txt", content="new\n", expected_sha256="0" * 64
    )
    assert wrong.is_error
    assert f"has {hashlib.sha256(b'old' + bytes([10])).hexdigest()} now" in wrong.output
    right = await session.call(
        "write_file",
        path="a.txt",
        content="new\n",
        expected_sha256=hashlib.sha256(b"old\n").hexdigest(),
    )
    assert not right.is_error
    missing = await session.call(
        "write_file", path="b.txt", content="new\n", expected_sha256="0" * 64
    )
    assert "does not exist" in missing.output


@pytest.mark.req("T-24")
@pytest.mark.parametrize("append", [False, True])
async def test_on_a_full_disk_the_file_stays_as_it_was(
    append: bool, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    said = called_with_limit(
        tmp_path,
        100_000,
        "write_file",
        {"path": "a.txt", "content": "x" * 200_000, "append": append},
    )
    assert said.is_error
    assert "File too large" in said.output
    assert (tmp_path / "a.txt").read_text() == "old\n"
    assert os.listdir(tmp_path) == ["a.txt"]


async def test_folders_that_were_made_in_vain_are_taken_away(tmp_path: pathlib.Path) -> None:
    (tmp_path / "kept").mkdir()
    said = called_with_limit(
        tmp_path,
        100_000,
        "write_file",
        {"path": "kept/new/deep/a.txt", "content": "x" * 200_000},
    )
    assert said.is_error
    assert os.listdir(tmp_path) == ["kept"]
    assert os.listdir(tmp_path / "kept") == []


@pytest.mark.req("K-10")
@pytest.mark.fault("F17")
@pytest.mark.fault("F73")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "door/a.txt", "content": "new\n"}),
        ("write_file", {"path": "door/a.txt", "content": "more\n", "append": True}),
        (
            "edit_file",
            EDIT,
        ),
        ("apply_patch", {"patch": PATCH}),
    ],
)
async def test_a_link_that_is_swapped_all_the_time_never_leads_a_write_out(
    tool: str, arguments: dict[str, object], tmp_path: pathlib.Path
) -> None:
    root, outside = tmp_path / "workspace", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a.txt").write_text("secret\n")
    (root / "door").mkdir()
    (root / "trap").symlink_to(outside)
    (root / "door" / "a.txt").write_text("one\n")
    stop = threading.Event()
    swapper = threading.Thread(target=swap, args=(root / "door", root / "trap", stop))
    swapper.start()
    try:
        session = Session(root)
        for _ in range(60):
            session.seen = {}
            await session.call(tool, **arguments)
    finally:
        stop.set()
        swapper.join()
    assert (outside / "a.txt").read_text() == "secret\n"
    assert os.listdir(outside) == ["a.txt"]


def swap(one: pathlib.Path, other: pathlib.Path, stop: threading.Event) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    while not stop.is_set():
        libc.renameat2(AT_FDCWD, bytes(one), AT_FDCWD, bytes(other), RENAME_EXCHANGE)


@pytest.mark.req("K-10")
async def test_two_writers_at_once_leave_one_of_the_two_whole(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    texts = [letter * 300_000 for letter in "abcd"]
    session = Session(tmp_path)
    async with asyncio.TaskGroup() as group:
        calls = [
            group.create_task(session.call("write_file", path="a.txt", content=text))
            for text in texts
        ]
    assert any(not call.result().is_error for call in calls)
    assert (tmp_path / "a.txt").read_text() in texts
    assert os.listdir(tmp_path) == ["a.txt"]


BLOCK = '+++\ndescription = "who I am"\n+++\n\nold\n'


@pytest.mark.req("C-26")
@pytest.mark.parametrize(
    ("path", "content", "after"),
    [
        ("/blocks/me.md", "new\n", '+++\ndescription = "who I am"\n+++\nnew\n'),
        (
            "/blocks/me.md",
            '+++\ndescription = "other"\n+++\nnew\n',
            '+++\ndescription = "other"\n+++\nnew\n',
        ),
        ("/blocks/me.md", "+++\n+++\nnew\n", "the frontmatter must have description"),
        ("/blocks/me.md", "+++\nx = \n+++\nnew\n", "the frontmatter is no TOML"),
        ("/blocks/me.md", "+++\nnew\n", "has no second +++ line"),
        ("/blocks/me.txt", "new\n", "a block, whose name must end with .md"),
        ("/skills/a/SKILL.md", "---\nname: a\n---\nb\n", "the frontmatter must have description"),
        (
            "skills/a/SKILL.md",
            "---\nname: a\ndescription: b\n---\nc\n",
            "---\nname: a\ndescription: b\n---\nc\n",
        ),
        ("notes.md", "---\n", "---\n"),
        ("blocks/me.txt", "of the workspace\n", "of the workspace\n"),
    ],
)
async def test_frontmatter_is_kept_or_checked_where_the_profile_has_it(
    path: str, content: str, after: str, tmp_path: pathlib.Path
) -> None:
    root = tmp_path / "workspace"
    for folder in (root, tmp_path / "blocks"):
        folder.mkdir()
    (tmp_path / "blocks" / "me.md").write_text(BLOCK)
    result = await Session(root, "cireilclaw").call("write", path=path, content=content)
    if result.is_error:
        assert after in result.output
        assert (tmp_path / "blocks" / "me.md").read_text() == BLOCK
    else:
        there = tmp_path / path.lstrip("/") if path.startswith("/") else root / path
        assert there.read_text() == after
