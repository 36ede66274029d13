"""diff_file, as an agent uses it: two files, or a file and a text."""

import pathlib
import time

import pytest

from redshank_node.tools.builtin import diff_file
from redshank_node.tools.tool import CallContext, Workspace
from tests.contract.edit_cases import Session


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    lines = [f"line {number}" for number in range(1, 41)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    lines[19] = "line twenty"
    (tmp_path / "b.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.req("T-26")
@pytest.mark.parametrize(
    ("asked", "context"), [({}, 3), ({"context_lines": 0}, 0), ({"context_lines": 20}, 20)]
)
async def test_two_files_are_compared_with_lines_around_what_differs(
    asked: dict[str, int], context: int, root: pathlib.Path
) -> None:
    result = await Session(root).call("diff_file", path="a.txt", other_path="b.txt", **asked)
    lines = result.output.split("\n")
    assert lines[:2] == ["--- a.txt", "+++ b.txt"]
    assert "-line 20" in lines
    assert "+line twenty" in lines
    assert sum(line.startswith(" ") for line in lines) == min(context, 19) + min(context, 20)


@pytest.mark.req("T-26")
async def test_a_file_is_compared_with_a_text(root: pathlib.Path) -> None:
    (root / "c.txt").write_text("one\ntwo")
    session = Session(root)
    assert (await session.call("diff_file", path="c.txt", content="one\n2\n")).output == (
        "--- c.txt\n+++ content\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2"
    )
    same = await session.call("diff_file", path="c.txt", content="one\ntwo")
    assert same.output == "[no difference]"


@pytest.mark.req("T-26")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"path": "a.txt"}, "content: give this or other_path"),
        ({"path": "a.txt", "other_path": "b.txt", "content": ""}, "one of the two"),
        ({"path": "a.txt", "content": "a\x00"}, "content holds NUL characters"),
        ({"path": "nul.bin", "content": ""}, "path: 'nul.bin' holds NUL characters"),
        ({"path": "a.txt", "other_path": "nul.bin"}, "other_path: 'nul.bin' holds NUL characters"),
        ({"path": "a.txt", "content": "", "context_lines": 21}, "context_lines must be between"),
        ({"path": "a.txt", "other_path": "../b.txt"}, "other_path: '../b.txt' leads out of the"),
        ({"path": "a.txt", "other_path": "none.txt"}, "other_path: 'none.txt' does not exist"),
        ({"path": "none.txt", "content": ""}, "does not exist"),
        ({"path": "large.txt", "content": ""}, "is over 8388608 bytes"),
    ],
)
async def test_what_cannot_be_compared_is_named(
    arguments: dict[str, object], says: str, root: pathlib.Path
) -> None:
    (root / "nul.bin").write_bytes(b"a\x00b\x00\x00c\n")
    with (root / "large.txt").open("wb") as large:
        large.truncate(5 << 30)
    result = await Session(root).call("diff_file", **arguments)
    assert result.is_error
    assert says in result.output


@pytest.mark.req("T-26")
async def test_changes_far_apart_in_a_long_file_are_shown_one_by_one(
    tmp_path: pathlib.Path,
) -> None:
    lines = [f"line {number}" if number % 3 else "}" for number in range(1, 6001)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    lines[4] = "line five"
    lines.insert(5899, "one more")
    del lines[2999]
    (tmp_path / "b.txt").write_text("\n".join(lines) + "\n")
    arguments = {"path": "a.txt", "other_path": "b.txt", "context_lines": 1}
    result = await Session(tmp_path).call("diff_file", **arguments)
    assert result.output.split("\n") == [
        "--- a.txt",
        "+++ b.txt",
        "@@ -4,3 +4,3 @@",
        " line 4",
        "-line 5",
        "+line five",
        " }",
        "@@ -2999,3 +2999,2 @@",
        " line 2999",
        "-}",
        " line 3001",
        "@@ -5899,2 +5898,3 @@",
        " line 5899",
        "+one more",
        " line 5900",
    ]


@pytest.mark.req("T-26")
async def test_a_large_diff_stops_at_the_output_limit(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"old {number}\n" for number in range(100_000)))
    (tmp_path / "b.txt").write_text("".join(f"new {number}\n" for number in range(100_000)))
    place = Workspace(tmp_path)
    began = time.process_time()
    prepared = diff_file.TOOL.prepare({"path": "a.txt", "other_path": "b.txt"}, place)
    result = await diff_file.TOOL.run(
        prepared, CallContext("call_1", place, lambda _: None, max_output_bytes=10_000)
    )
    assert time.process_time() - began < 10
    assert result.truncated
    assert len(result.output.encode()) <= 10_000
    assert "in all 100000 line(s) are added, 100000 removed" in result.output
