"""The story of grep_search: an agent looks for words in the files of a project."""

import os
import pathlib

import pytest

from tests.contract.tools.file_calls import called


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / ".gitignore").write_text("build/\n")
    for path in ("src/b.py", "src/a.py", "src/a/c.py", "build/a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("one\nTODO two\nthree\n")
    return tmp_path


@pytest.mark.req("T-27", "K-11")
async def test_matches_come_with_path_and_line_number_in_order_of_the_paths(
    root: pathlib.Path,
) -> None:
    result = await called(root, "grep_search", {"pattern": "T.DO"})
    assert result.output.split("\n") == [
        "src/a/c.py:2:TODO two",
        "src/a.py:2:TODO two",
        "src/b.py:2:TODO two",
    ]


@pytest.mark.req("T-27")
async def test_lines_around_a_match_stay_with_their_file(root: pathlib.Path) -> None:
    result = await called(root, "grep_search", {"pattern": "TODO", "context": 1, "path": "src"})
    assert result.output.split("\n")[:8] == [
        "src/a/c.py-1-one",
        "src/a/c.py:2:TODO two",
        "src/a/c.py-3-three",
        "--",
        "src/a.py-1-one",
        "src/a.py:2:TODO two",
        "src/a.py-3-three",
        "--",
    ]


@pytest.mark.req("T-27")
async def test_two_places_of_one_file_are_parted(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" + "y\n" * 9 + "x\n")
    result = await called(tmp_path, "grep_search", {"pattern": "x", "context": 1})
    assert result.output == "a.txt:1:x\na.txt-2-y\n--\na.txt-10-y\na.txt:11:x"


@pytest.mark.req("T-27")
async def test_one_file_is_searched_under_its_own_name(root: pathlib.Path) -> None:
    result = await called(
        root, "grep_search", {"pattern": "todo", "path": "src/a.py", "case": "insensitive"}
    )
    assert result.output == "src/a.py:2:TODO two"


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["src/a/c.py", "src/a.py", "src/b.py"]),
        ("b.{py,md}", ["src/b.py"]),
        ("!b.py", ["src/a/c.py", "src/a.py"]),
        ("src/*.py", ["src/a.py", "src/b.py"]),
        ("!src/a/**", ["src/a.py", "src/b.py"]),
        ("*.md", ["[no match]"]),
    ],
)
async def test_a_glob_narrows_the_search_and_brings_nothing_back_that_git_ignores(
    glob: str, found: list[str], root: pathlib.Path
) -> None:
    (root / ".gitignore").write_text("build/\nignored.py\n")
    (root / "ignored.py").write_text("TODO\n")
    result = await called(root, "grep_search", {"pattern": "TODO", "glob": glob})
    assert [line.partition(":")[0] for line in result.output.split("\n")] == found


async def test_odd_names_and_lines_are_told_apart(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a:1:b-2-c.txt").write_text("x:3:y-4-z\n")
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("x:3:y\n")
    result = await called(tmp_path, "grep_search", {"pattern": "x"})
    assert result.output.split("\n")[0] == "a:1:b-2-c.txt:1:x:3:y-4-z"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pattern": "("}, "pattern is no regular expression; escape what is meant literally"),
        ({"pattern": "x", "glob": "["}, "glob is no glob pattern"),
        ({"pattern": "a\nb"}, "a match is within one line"),
        ({"pattern": "a\x00b"}, "holds NUL"),
        ({"pattern": "x", "path": "none"}, "'none' does not exist"),
        ({"pattern": "x", "path": "../"}, "leads out of the workspace"),
        ({"pattern": "x", "path": "out/passwd"}, "leads out of the workspace"),
        ({"pattern": "x", "path": "pipe"}, "a named pipe"),
        ({"pattern": "x", "context": 21}, "context must be between 0 and 20"),
        ({"query": "x"}, "query is not an argument of this tool"),
    ],
)
async def test_bad_input_is_named(
    arguments: dict[str, object], words: str, root: pathlib.Path
) -> None:
    (root / "out").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    result = await called(root, "grep_search", arguments)
    assert result.is_error
    assert words in result.output


@pytest.mark.fault("F21", "F73")
@pytest.mark.timeout(60)
async def test_pipes_devices_and_links_out_hold_up_no_search(root: pathlib.Path) -> None:
    os.mkfifo(root / "src" / "pipe")
    (root / "src" / "zero").symlink_to("/dev/zero")
    (root / "src" / "etc").symlink_to("/etc")
    result = await called(root, "grep_search", {"pattern": "root|TODO", "path": "src"})
    assert result.output.count("\n") == 2


@pytest.mark.fault("F15")
async def test_binary_and_long_lines_are_shown_in_part(tmp_path: pathlib.Path) -> None:
    (tmp_path / "long.json").write_text("x" * 3_000_000 + "needle" + "x" * 3_000_000)
    (tmp_path / "data.bin").write_bytes(b"needle\x00\x01")
    result = await called(tmp_path, "grep_search", {"pattern": "needle"})
    assert not result.is_error
    assert len(result.output) < 2000
    assert "long.json" in result.output


@pytest.mark.fault("F15")
async def test_what_has_no_room_is_said_and_what_is_shown_is_no_chance(
    tmp_path: pathlib.Path,
) -> None:
    for number in range(300):
        (tmp_path / f"{number:03}.txt").write_text("needle in a long line of words\n" * 20)
    outputs = {
        (await called(tmp_path, "grep_search", {"pattern": "needle"}, max_bytes=20_000)).output
        for _ in range(3)
    }
    assert len(outputs) == 1
    lines = outputs.pop().split("\n")
    assert lines[0] == "000.txt:1:needle in a long line of words"
    assert lines[-1] == "[there is more; narrow the pattern, the path or the glob]"


@pytest.mark.req("T-27")
@pytest.mark.fault("F33")
async def test_a_line_ends_before_its_line_end_whichever_that_is(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one tide\r\nno\r\ntide one\r\n")
    (tmp_path / "b.txt").write_bytes(b"two tide\n")
    found = await called(tmp_path, "grep_search", {"pattern": "tide$"})
    assert found.output == "a.txt:1:one tide\nb.txt:1:two tide"


@pytest.mark.req("T-27")
async def test_a_binary_file_that_is_named_is_told_by_its_name(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"tide\x00\n")
    found = await called(tmp_path, "grep_search", {"pattern": "tide", "path": "a.bin"})
    assert found.output.startswith("a.bin: binary file matches")
