"""apply_patch, as an agent uses it: several files at once, all of them or none."""

import errno
import os
import pathlib
from collections.abc import Callable

import pytest

from redshank_node.tools.builtin import apply_patch
from redshank_node.tools.support.files.paths import PathRefused
from redshank_node.tools.support.patches import plan, syntax, writing
from redshank_node.tools.tool import BadArguments, CallContext, Workspace
from tests.contract.edit_cases import Session
from tests.contract.lesser_child import called_with_limit

PATCH = """*** Begin Patch
*** Update File: src/tally.py
*** Move to: src/counting/tally.py
@@ def tally(items):
-    return 0
+    return sum(items)
*** Add File: docs/tally.md
+# tally
+Counts.
*** Delete File: old.txt
*** End Patch
"""


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tally.py").write_text("def tally(items):\n    return 0\n")
    (tmp_path / "old.txt").write_text("gone soon\n")
    return tmp_path


def everything(root: pathlib.Path) -> dict[str, str | None]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


@pytest.mark.req("K-12")
async def test_a_patch_updates_moves_adds_and_deletes(root: pathlib.Path) -> None:
    (root / "src" / "tally.py").chmod(0o755)
    result = await Session(root, "kheish").call("apply_patch", patch=PATCH)

    assert result.output == ("M src/tally.py -> src/counting/tally.py\nA docs/tally.md\nD old.txt")
    assert everything(root) == {
        "docs": None,
        "docs/tally.md": "# tally\nCounts.\n",
        "src": None,
        "src/counting": None,
        "src/counting/tally.py": "def tally(items):\n    return sum(items)\n",
    }
    assert (root / "src/counting/tally.py").stat().st_mode & 0o777 == 0o755


@pytest.mark.req("K-12")
def test_a_person_sees_the_whole_patch_before(root: pathlib.Path) -> None:
    before = everything(root)
    preview = apply_patch.TOOL.prepare({"patch": PATCH}, Workspace(root)).preview

    assert preview.title == "3 files: src/tally.py, docs/tally.md, old.txt"
    assert (preview.added, preview.removed) == (3, 2)
    for line in (
        "move src/tally.py to src/counting/tally.py",
        "-    return 0\n+    return sum(items)",
        "new file docs/tally.md",
        "+# tally",
        "delete old.txt",
        "-gone soon",
    ):
        assert line in preview.body
    assert everything(root) == before


@pytest.mark.req("K-12")
@pytest.mark.fault("F33")
async def test_a_file_that_changed_since_it_was_shown_stops_the_whole_patch(
    root: pathlib.Path,
) -> None:
    prepared = apply_patch.TOOL.prepare({"patch": PATCH}, Workspace(root))
    (root / "old.txt").write_text("needed again\n")
    before = everything(root)
    result = await apply_patch.TOOL.run(
        prepared, CallContext("call_1", Workspace(root), lambda _: None)
    )
    assert result.is_error
    assert "old.txt changed since the patch was shown" in result.output
    assert everything(root) == before


@pytest.mark.req("K-12")
async def test_a_disk_that_is_full_at_the_third_file_leaves_all_as_it_was(
    root: pathlib.Path,
) -> None:
    big = "+" + "x" * 200_000
    patch = (
        "*** Begin Patch\n*** Update File: old.txt\n@@\n-gone soon\n+here\n"
        f"*** Add File: new/small.txt\n+small\n*** Add File: new/big.txt\n{big}\n*** End Patch\n"
    )
    before = everything(root)
    said = called_with_limit(root, 100_000, "apply_patch", {"patch": patch})
    assert said.is_error
    assert "File too large" in said.output
    assert everything(root) == before


@pytest.mark.fault("F17")
@pytest.mark.parametrize(
    "says", ["*** Delete File: link", "*** Update File: link\n*** Move to: new"]
)
async def test_a_link_is_neither_deleted_nor_moved_with_what_it_leads_to(
    says: str, root: pathlib.Path
) -> None:
    (root / "link").symlink_to("old.txt")
    before = everything(root)
    with pytest.raises(BadArguments, match="'link' is a link to old.txt; name that file"):
        apply_patch.TOOL.prepare(
            {"patch": f"*** Begin Patch\n{says}\n*** End Patch\n"}, Workspace(root)
        )
    assert everything(root) == before


@pytest.mark.req("K-12")
async def test_a_diff_of_two_trees_names_the_file_from_the_root_of_all(root: pathlib.Path) -> None:
    patch = f"--- a{root}/old.txt\n+++ b{root}/old.txt\n@@ -1 +1 @@\n-gone soon\n+here\n"
    assert not (await Session(root, "kheish").call("apply_patch", patch=patch)).is_error
    assert (root / "old.txt").read_text() == "here\n"


@pytest.mark.req("K-12")
async def test_the_mode_that_git_names_is_shown_and_set(root: pathlib.Path) -> None:
    patch = (
        "diff --git a/old.txt b/old.txt\nold mode 100644\nnew mode 100755\n"
        "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n"
        "@@ -0,0 +1 @@\n+ls\n"
    )
    (root / "old.txt").chmod(0o640)
    prepared = apply_patch.TOOL.prepare({"patch": patch}, Workspace(root))
    assert "old.txt can be run then" in prepared.preview.body
    context = CallContext("call_1", Workspace(root), lambda _: None)
    result = await apply_patch.TOOL.run(prepared, context)
    assert not result.is_error
    assert (root / "old.txt").stat().st_mode & 0o777 == 0o750
    assert (root / "old.txt").read_text() == "gone soon\n"
    assert (root / "run.sh").stat().st_mode & 0o500 == 0o500


LATE = (
    "*** Begin Patch\n*** Update File: src/tally.py\n@@\n-    return 0\n+    return 1\n"
    "*** Add File: made/late.txt\n+late\n*** Delete File: old.txt\n*** End Patch\n"
)


@pytest.mark.req("K-12")
def test_a_file_that_came_to_be_meanwhile_stops_the_patch(root: pathlib.Path) -> None:
    changes = plan.planned(Workspace(root), syntax.parsed(LATE))
    (root / "made").mkdir()
    (root / "made" / "late.txt").write_text("of somebody else\n")
    before = everything(root)
    with pytest.raises(PathRefused, match="changed since it was looked at"):
        writing.write_all(root, changes)
    assert everything(root) == before


@pytest.mark.req("K-12")
@pytest.mark.parametrize("fails_at", range(1, 6))
def test_a_failure_at_any_step_is_undone(
    fails_at: int, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system refuses one of the steps after all files are staged: two links, two renames."""
    changes = plan.planned(Workspace(root), syntax.parsed(LATE))
    before = everything(root)
    steps = 0

    def failing(real: Callable[..., None]) -> Callable[..., None]:
        def step(*names: object, **folders: object) -> None:
            nonlocal steps
            steps += 1
            if steps == fails_at:
                raise OSError(errno.EIO, "Input/output error")
            real(*names, **folders)

        return step

    monkeypatch.setattr(os, "link", failing(os.link))
    monkeypatch.setattr(os, "rename", failing(os.rename))
    if fails_at == 5:
        writing.write_all(root, changes)
        assert steps == 4
        assert (root / "made" / "late.txt").read_text() == "late\n"
        assert sorted(os.listdir(root)) == ["made", "src"]
        return
    with pytest.raises(PathRefused, match="Input/output error; nothing was changed"):
        writing.write_all(root, changes)
    assert everything(root) == before


@pytest.mark.req("K-12")
def test_without_links_a_patch_is_written_all_the_same(
    root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = plan.planned(Workspace(root), syntax.parsed(LATE))

    def refuses(*names: object, **folders: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuses)
    writing.write_all(root, changes)
    assert everything(root) == {
        "made": None,
        "made/late.txt": "late\n",
        "src": None,
        "src/tally.py": "def tally(items):\n    return 1\n",
    }


@pytest.mark.req("K-10")
@pytest.mark.fault("F73")
@pytest.mark.parametrize("path", ["../x", "/etc/x", "out/x", "src/../../x", "proc/etc/x"])
@pytest.mark.parametrize(
    "patch",
    [
        "*** Add File: {}\n+x",
        "*** Delete File: {}",
        "*** Update File: {}\n@@\n-a\n+b",
        "*** Update File: old.txt\n*** Move to: {}\n@@\n-gone soon\n+b",
    ],
)
async def test_no_part_of_a_patch_leads_out(patch: str, path: str, root: pathlib.Path) -> None:
    (root / "out").symlink_to("/tmp")
    (root / "proc").symlink_to("/proc/self/root")
    before = everything(root / "src")
    result = await Session(root, "kheish").call(
        "apply_patch", patch=f"*** Begin Patch\n{patch.format(path)}\n*** End Patch"
    )
    assert result.is_error
    assert "leads out of the workspace" in result.output
    assert everything(root / "src") == before


@pytest.mark.req("K-12")
async def test_a_patch_names_the_line_that_is_wrong(root: pathlib.Path) -> None:
    result = await Session(root, "kheish").call(
        "apply_patch",
        patch="*** Begin Patch\n*** Update File: old.txt\n@@\n-gone soon\nhere\n*** End Patch",
    )
    assert result.output == (
        "patch, line 5: 'here' must begin with a blank (stays), - (goes) or + (comes)"
    )


@pytest.mark.fault("F21")
async def test_files_that_are_no_text_are_refused(root: pathlib.Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "data.bin").write_bytes(b"\x00\x01\xff\x00\x07a\n")
    for path, says in (("pipe", "named pipe"), ("src", "folder"), ("data.bin", "binary file")):
        result = await Session(root, "kheish").call(
            "apply_patch",
            patch=f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch",
        )
        assert result.is_error
        assert says in result.output


@pytest.mark.req("K-12", "T-25")
@pytest.mark.parametrize("folder", ["", "{root}/", "./"])
async def test_what_a_patch_wrote_may_be_edited_at_once(folder: str, root: pathlib.Path) -> None:
    session = Session(root, "turnstone")
    path = f"{folder.format(root=root)}new/deep/a.txt"
    patch = f"*** Begin Patch\n*** Add File: {path}\n+one\n*** End Patch"
    patched = await Session(root, "kheish").call("apply_patch", patch=patch)
    session.seen = {file.path: file.digest for file in patched.seen}
    edited = await session.call(
        "edit_file", path="new/deep/a.txt", old_string="one", new_string="two"
    )
    assert not edited.is_error, edited.output
    assert (root / "new/deep/a.txt").read_text() == "two\n"
