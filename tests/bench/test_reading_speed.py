"""What reading a part of a large file costs, what a search costs beside ripgrep itself."""

import asyncio
import pathlib
import subprocess
import time
from collections.abc import Awaitable, Callable

import pytest

from redshank_node.tools.support.search.ripgrep import program
from tests.bench.figures import figure
from tests.contract.tools.file_calls import called

READ_SECONDS = 0.005
GREP_FACTOR = 1.2
FOLDERS, FILES = 500, 100


async def least(action: Callable[[], Awaitable[object]], times: int) -> float:
    """Seconds that the action takes at best: what it costs, whatever else the machine does."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        await action()
        taken.append(time.perf_counter() - begin)
    return min(taken)


@pytest.mark.parametrize("offset", [1, 60_000, 119_900])
async def test_a_hundred_lines_of_ten_megabytes_are_read_within_five_milliseconds(
    offset: int, tmp_path: pathlib.Path, record_property: Callable[[str, object], None]
) -> None:
    lines = (
        f"{number:>8} some words that a line of a log may hold, gr\u00fc\u00dfe {number}\n"
        for number in range(120_000)
    )
    text = "".join(lines).encode()
    (tmp_path / "large.log").write_bytes(text + b"x" * (10_000_000 - len(text)))
    asked = {"path": "large.log", "offset": offset, "limit": 100}

    async def read() -> None:
        result = await called(tmp_path, "read_file", asked)
        assert result.output.count("\n") == 100

    await read()
    seconds = await least(read, 15)
    record_property("milliseconds", round(seconds * 1000, 2))
    figure("100 lines of 10 MB", seconds * 1e3, READ_SECONDS * 1e3, "ms")


@pytest.mark.req("T-27")
@pytest.mark.timeout(180)
async def test_a_search_in_fifty_thousand_files_takes_little_longer_than_ripgrep_itself(
    tmp_path: pathlib.Path, record_property: Callable[[str, object], None]
) -> None:
    for folder in range(FOLDERS):
        (tmp_path / f"{folder:03}").mkdir()
        for number in range(FILES):
            body = f"file {number} of {folder}\n" + "nothing of interest\n" * 20
            (tmp_path / f"{folder:03}" / f"{number:02}.txt").write_text(body)
    pattern = "file 4[0-9] of 12[0-9]$"
    path = program()
    assert path is not None
    argv = [path, "--no-config", "--line-number", "--with-filename", pattern, "./"]

    async def bare() -> None:
        done = await asyncio.to_thread(
            subprocess.run, argv, cwd=tmp_path, capture_output=True, check=True
        )
        assert done.stdout.count(b"\n") == 100

    async def ours() -> None:
        result = await called(tmp_path, "grep_search", {"pattern": pattern})
        assert result.output.count("\n") == 99

    pairs = []
    await bare()
    for _ in range(7):
        pairs.append((await least(bare, 1), await least(ours, 1)))
    itself, tool = (min(each) for each in zip(*pairs, strict=True))
    record_property("milliseconds of ripgrep", round(itself * 1000))
    record_property("milliseconds of grep_search", round(tool * 1000))
    figure("a search over ripgrep's own", tool / itself, GREP_FACTOR, "times")
