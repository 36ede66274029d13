"""The story of list_files: an agent finds its way in a strange folder."""

import os
import pathlib

import pytest

from redshank_shared.settings.sections import Tools
from tests.contract.tools.file_calls import called


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "b.py").write_text("xy")
    (tmp_path / "src" / "a.py").write_text("x")
    (tmp_path / "read me.md").write_text("")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / ".hidden").write_text("x")
    return tmp_path


async def test_a_folder_shows_what_is_in_it_by_name(root: pathlib.Path) -> None:
    result = await called(root, "list_files", {})
    assert result.output == "out -> /etc\nread me.md  0\nsrc/"


async def test_depth_and_pattern_go_into_folders_but_never_through_links(
    root: pathlib.Path,
) -> None:
    deep = await called(root, "list_files", {"depth": 3})
    assert deep.output.split("\n")[2:] == ["src/", "src/a.py  1", "src/deep/", "src/deep/b.py  2"]
    found = await called(root, "list_files", {"pattern": "*.py"})
    assert found.output == "src/a.py  1\nsrc/deep/b.py  2"


@pytest.mark.req("C-25")
async def test_the_profile_that_asks_for_it_shows_names_with_types(root: pathlib.Path) -> None:
    os.mkfifo(root / "pipe")
    result = await called(root, "list_files", {"path": "."}, options={"types": True})
    assert result.output.split("\n") == [
        "out\tsymlink",
        "pipe\tother",
        "read me.md\tfile",
        "src\tdirectory",
    ]


@pytest.mark.req("C-25")
async def test_above_the_workspace_stand_its_root_and_the_programs_that_exec_may_run(
    root: pathlib.Path,
) -> None:
    typed = {"types": True}
    above = await called(root, "list_files", {"path": "/"}, options=typed)
    assert above.output == "bin\tdirectory\nworkspace\tdirectory"
    programs = await called(root, "list_files", {"path": "/bin"}, options=typed)
    assert programs.output.split("\n") == [
        f"{name}\tfile" for name in sorted(Tools().exec_binaries.split(":"))
    ]
    for path in ("/", "/bin", "/usr"):
        elsewhere = await called(root, "list_files", {"path": path})
        assert "leads out of the workspace" in elsewhere.output


@pytest.mark.req("C-27")
@pytest.mark.skipif(pathlib.Path("/workspace").exists(), reason="this machine has its own")
async def test_the_workspace_has_the_name_that_a_sandboxed_command_sees(
    root: pathlib.Path,
) -> None:
    result = await called(root, "list_files", {"path": "/workspace/src"})
    assert result.output == "a.py  1\ndeep/"
    refused = await called(root, "list_files", {"path": "/workspace/../etc"})
    assert "leads out of the workspace" in refused.output


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none", "'none' does not exist"),
        ("read me.md", "'read me.md' is no folder"),
        ("out", "leads out of the workspace"),
        ("/proc/self/root", "leads out of the workspace"),
        ("..", "leads out of the workspace"),
    ],
)
async def test_what_is_no_folder_of_the_workspace_is_refused(
    path: str, words: str, root: pathlib.Path
) -> None:
    result = await called(root, "list_files", {"path": path})
    assert result.is_error
    assert words in result.output


@pytest.mark.fault("F15")
async def test_very_many_names_are_cut_with_a_word_on_it(tmp_path: pathlib.Path) -> None:
    for number in range(1200):
        (tmp_path / f"{number:04}").touch()
    result = await called(tmp_path, "list_files", {})
    lines = result.output.split("\n")
    assert (len(lines), lines[999], result.truncated) == (1001, "0999  0", True)
    assert lines[-1] == "[there is more; name a deeper path or a pattern]"


async def test_names_that_are_no_text_are_shown_without_harm(tmp_path: pathlib.Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff")).touch()
    (tmp_path / "two\nlines").touch()
    result = await called(tmp_path, "list_files", {})
    assert result.output == "bad\ufffd  0\ntwo\\nlines  0"
