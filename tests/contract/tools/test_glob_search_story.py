"""The story of glob_search: an agent looks for files by their names."""

import pathlib

import pytest

from tests.contract.tools.file_calls import called


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    for path in ("src/app.py", "src/deep/app_test.py", "build/app.py", "src/a.log", "README.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / ".env.py").write_text("x")
    return tmp_path


@pytest.mark.req("K-11")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["src/app.py", "src/deep/app_test.py"]),
        ("**/*.py", ["src/app.py", "src/deep/app_test.py"]),
        ("src/*.py", ["src/app.py"]),
        ("src/**", ["src/app.py", "src/deep/app_test.py"]),
        ("*.{md,txt}", ["README.md"]),
        ("*.log", ["[no file matches]"]),
        ("app?test.py", ["src/deep/app_test.py"]),
    ],
)
async def test_a_pattern_finds_files_that_git_does_not_ignore_in_order(
    pattern: str, found: list[str], root: pathlib.Path
) -> None:
    result = await called(root, "glob_search", {"pattern": pattern})
    assert result.output.split("\n") == found


async def test_a_folder_narrows_the_search_and_paths_lead_from_the_root(
    root: pathlib.Path,
) -> None:
    result = await called(root, "glob_search", {"pattern": "*.py", "path": "src/deep"})
    assert result.output == "src/deep/app_test.py"


async def test_hidden_files_are_found_where_they_are_asked_for_and_git_never(
    root: pathlib.Path,
) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config.py").write_text("x")
    result = await called(root, "glob_search", {"pattern": "*.py", "hidden": True})
    assert result.output == ".env.py\nsrc/app.py\nsrc/deep/app_test.py"


@pytest.mark.fault("F15")
async def test_very_many_files_are_cut_with_a_word_on_it(tmp_path: pathlib.Path) -> None:
    for number in range(1200):
        (tmp_path / f"{number:04}").touch()
    result = await called(tmp_path, "glob_search", {"pattern": "*"})
    lines = result.output.split("\n")
    assert (len(lines), lines[999], result.truncated) == (1001, "0999", True)
    small = await called(tmp_path, "glob_search", {"pattern": "*"}, max_bytes=1000)
    assert len(small.output) <= 1000


@pytest.mark.fault("F73")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pattern": "*", "path": "../"}, "leads out of the workspace"),
        ({"pattern": "*", "path": "out"}, "leads out of the workspace"),
        ({"pattern": "*", "path": "README.md"}, "is no folder"),
        ({"pattern": "*", "path": "none"}, "does not exist"),
        ({"pattern": "[z-a]"}, "pattern is no glob pattern"),
        ({}, "pattern is required"),
        ({"pattern": ""}, "pattern must not be empty"),
    ],
)
async def test_bad_input_is_named(
    arguments: dict[str, str], words: str, root: pathlib.Path
) -> None:
    (root / "out").symlink_to("/etc")
    result = await called(root, "glob_search", arguments)
    assert result.is_error
    assert words in result.output


async def test_a_link_in_a_folder_is_not_followed_out(root: pathlib.Path) -> None:
    (root / "out").symlink_to("/etc")
    result = await called(root, "glob_search", {"pattern": "passwd"})
    assert result.output == "[no file matches]"
