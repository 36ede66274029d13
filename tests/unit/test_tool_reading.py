"""The tools that only look: what they show of a real workspace."""

import io
import os
import pathlib
import threading
import time
from typing import Any

import pytest

from redshank_node.tools.support.files import line_windows, textfiles
from redshank_node.tools.tool import Result
from tests.bench.figures import figure
from tests.contract.test_tools import LIMIT, call, prepared, ran


class CountedReads(io.BytesIO):
    """A file that counts how often it is read."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)

    def read1(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().read1(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().readline(size)


class TestReadFile:
    @pytest.mark.req("T-22")
    @pytest.mark.parametrize(
        ("arguments", "output"),
        [
            ({}, "     1\tone\n     2\ttwo\n     3\tthree"),
            ({"offset": 2}, "     2\ttwo\n     3\tthree"),
            ({"limit": 1}, "     1\tone\n[more lines follow; go on with offset=2]"),
            (
                {"offset": 2, "limit": 1},
                "     2\ttwo\n[more lines follow; go on with offset=3]",
            ),
            ({"offset": 3, "limit": 5}, "     3\tthree"),
        ],
    )
    async def test_lines_are_numbered_from_one(
        self, arguments: dict[str, int], output: str, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.txt").write_bytes(b"one\ntwo\r\nthree")
        result = await call(tmp_path, "read_file", path="a.txt", **arguments)
        assert (result.output, result.is_error) == (output, False)

    @pytest.mark.fault("F21")
    async def test_an_empty_file_says_so(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "a.txt").touch()
        result = await call(tmp_path, "read_file", path="a.txt")
        assert (result.output, result.is_error) == ("[the file is empty]", False)

    @pytest.mark.fault("F33")
    @pytest.mark.parametrize(
        "data",
        [
            "caf\u00e9".encode(),
            "\ufeffcaf\u00e9".encode(),
            "caf\u00e9".encode("utf-16"),
            "caf\u00e9".encode("latin-1"),
        ],
    )
    async def test_every_encoding_can_be_read(self, data: bytes, tmp_path: pathlib.Path) -> None:
        (tmp_path / "a.txt").write_bytes(data)
        result = await call(tmp_path, "read_file", path="a.txt")
        assert result.output == "     1\tcaf\u00e9"

    @pytest.mark.req("T-18")
    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("none.txt", "'none.txt' does not exist"),
            ("folder", "'folder' is a folder"),
            ("data.bin", "is no text but a binary file of 3 bytes"),
            ("doc.pdf", "is no text but a PDF document of 9 bytes"),
            ("short.txt", "offset: 9 is past the end of the file, which has 2 line(s)"),
        ],
    )
    async def test_what_cannot_be_read_is_an_error_that_says_why(
        self, path: str, message: str, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "data.bin").write_bytes(b"a\x00b")
        (tmp_path / "doc.pdf").write_bytes(b"%PDF-1.7\n")
        (tmp_path / "short.txt").write_text("1\n2\n")
        more = {"offset": 9} if path == "short.txt" else {}
        result = await call(tmp_path, "read_file", path=path, **more)
        assert (result.is_error, result.outcome) == (True, "error")
        assert message in result.output

    @pytest.mark.req("T-22")
    async def test_an_image_is_told_in_words_a_huge_one_refused_and_svg_is_text(
        self, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
        (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(4 << 20))
        (tmp_path / "c.svg").write_text("<svg/>")
        small = await call(tmp_path, "read_file", path="a.png")
        assert not small.is_error
        assert small.output.startswith("[a.png is a PNG image of 28 bytes; it is damaged")
        huge = await call(tmp_path, "read_file", path="b.png")
        assert huge.is_error
        assert "at most 4194304" in huge.output
        assert (await call(tmp_path, "read_file", path="c.svg")).output == "     1\t<svg/>"

    @pytest.mark.req("T-22")
    async def test_a_long_file_comes_in_parts_that_join_without_a_gap(
        self, tmp_path: pathlib.Path
    ) -> None:
        lines = [f"line {number} \u20ac" for number in range(1, 60_001)]
        (tmp_path / "a.txt").write_text("\n".join(lines))
        seen: list[str] = []
        offset = 1
        while True:
            result = await call(tmp_path, "read_file", path="a.txt", offset=offset)
            assert len(result.output.encode()) <= LIMIT
            *shown, last = result.output.split("\n")
            if not result.truncated:
                seen += [*shown, last]
                break
            seen += shown
            offset = int(last.rpartition("=")[2].rstrip("]"))
        assert [line.partition("\t")[2] for line in seen] == lines
        assert offset > 1

    @pytest.mark.fault("F15")
    async def test_a_huge_line_is_shown_in_part_and_the_next_one_keeps_its_number(
        self, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.txt").write_text("x" * 3_000_000 + "\nsecond\n")
        result = await call(tmp_path, "read_file", path="a.txt")
        first, second = result.output.split("\n")
        assert first.startswith("     1\txxx")
        assert first.endswith("xxx [... the line goes on ...]")
        assert second == "     2\tsecond"

    @pytest.mark.fault("F15")
    def test_what_follows_in_a_huge_line_is_passed_over_in_large_blocks(self) -> None:
        file = CountedReads(b"first\n" + b"x" * (16 << 20) + b"\nlast\n")
        utf_8 = textfiles.Encoding("utf-8")
        found = line_windows.window(file, utf_8, 1, None, LIMIT, threading.Event())
        assert [line[:7] for line in found.lines] == ["     1\t", "     2\t", "     3\t"]
        assert found.lines[2] == "     3\tlast"
        assert file.reads < 50

    async def test_a_file_of_many_lines_of_any_length_stays_within_the_bound(
        self, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.txt").write_text("\u20ac" * 20_000)
        whole = prepared(tmp_path, "read_file", path="a.txt")
        result = await ran(tmp_path, "read_file", whole, max_bytes=1000)
        assert len(result.output.encode()) <= 1000

    @pytest.mark.fault("F21")
    @pytest.mark.timeout(60)
    async def test_a_pipe_never_hangs_the_call(self, tmp_path: pathlib.Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        result = await call(tmp_path, "read_file", path="pipe")
        assert result.is_error
        assert "a named pipe" in result.output

    async def test_a_small_file_is_read_within_a_millisecond(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "a.txt").write_text("hello\n")
        seconds = []
        for _ in range(200):
            start = time.process_time()
            await call(tmp_path, "read_file", path="a.txt")
            seconds.append(time.process_time() - start)
        figure("a small file read", sorted(seconds)[100] * 1e3, 1.0, "ms")


class TestListFiles:
    @pytest.fixture
    def root(self, tmp_path: pathlib.Path) -> pathlib.Path:
        (tmp_path / "src" / "deep").mkdir(parents=True)
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "config").write_text("x")
        (tmp_path / "a.txt").write_text("12345")
        (tmp_path / "src" / "main.py").write_text("x")
        (tmp_path / "src" / "deep" / "more.py").write_text("xy")
        (tmp_path / "out").symlink_to("/etc")
        return tmp_path

    @pytest.mark.parametrize(
        ("arguments", "lines"),
        [
            ({}, ["a.txt  5", "out -> /etc", "src/"]),
            ({"hidden": True}, [".git/", "a.txt  5", "out -> /etc", "src/"]),
            ({"path": "src"}, ["deep/", "main.py  1"]),
            ({"depth": 2}, ["a.txt  5", "out -> /etc", "src/", "src/deep/", "src/main.py  1"]),
            ({"pattern": "*.py"}, ["src/deep/more.py  2", "src/main.py  1"]),
            ({"pattern": "src/*.py"}, ["src/main.py  1"]),
            ({"pattern": "*.py", "depth": 1}, ["[no file matches]"]),
            ({"pattern": "passwd"}, ["[no file matches]"]),
            ({"path": "src/deep", "pattern": "*.rs"}, ["[no file matches]"]),
        ],
    )
    async def test_a_folder_is_listed_with_sizes_and_no_link_is_entered(
        self, arguments: dict[str, Any], lines: list[str], root: pathlib.Path
    ) -> None:
        result = await call(root, "list_files", **arguments)
        assert result == Result("\n".join(lines))

    async def test_an_empty_folder_says_so(self, tmp_path: pathlib.Path) -> None:
        assert await call(tmp_path, "list_files") == Result("[the folder is empty]")

    async def test_a_long_list_is_bounded_and_says_so(self, tmp_path: pathlib.Path) -> None:
        for number in range(1200):
            (tmp_path / f"{number:04}.txt").touch()
        result = await call(tmp_path, "list_files")
        assert result.truncated
        assert result.output.count("\n") == 1000
        assert result.output.endswith("[there is more; name a deeper path or a pattern]")

    @pytest.mark.parametrize(("path", "why"), [("none", "does not exist"), ("a.txt", "no folder")])
    async def test_what_is_no_folder_is_an_error(
        self, path: str, why: str, root: pathlib.Path
    ) -> None:
        result = await call(root, "list_files", path=path)
        assert result.is_error
        assert why in result.output

    @pytest.mark.fault("F43")
    async def test_a_name_that_is_no_utf8_is_shown_readably(self, tmp_path: pathlib.Path) -> None:
        pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff\nb")).touch()
        assert await call(tmp_path, "list_files") == Result("a\ufffd\\nb  0")


class TestGrepSearch:
    @pytest.fixture
    def root(self, tmp_path: pathlib.Path) -> pathlib.Path:
        root = tmp_path / "workspace"
        (root / "src").mkdir(parents=True)
        (root / "src" / "a.py").write_text("import os\nneedle = 1\nprint(needle)\n")
        (root / "src" / "b.txt").write_text("Needle in text\n")
        (root / "top.txt").write_text("no such thing\n")
        (tmp_path / "outside.txt").write_text("needle outside\n")
        (root / "link.txt").symlink_to("../outside.txt")
        (root / "linked").symlink_to(tmp_path)
        return root

    @pytest.mark.req("T-27")
    @pytest.mark.parametrize(
        ("arguments", "lines"),
        [
            (
                {"pattern": "needle"},
                ["src/a.py:2:needle = 1", "src/a.py:3:print(needle)"],
            ),
            ({"pattern": "^needle"}, ["src/a.py:2:needle = 1"]),
            (
                {"pattern": "needle", "case": "insensitive", "glob": "*.txt"},
                ["src/b.txt:1:Needle in text"],
            ),
            ({"pattern": "Needle", "case": "smart"}, ["src/b.txt:1:Needle in text"]),
            (
                {"pattern": "needle =", "context": 1, "path": "src"},
                ["src/a.py-1-import os", "src/a.py:2:needle = 1", "src/a.py-3-print(needle)"],
            ),
            (
                {"pattern": "^needle", "path": "src/a.py", "context": 1},
                ["src/a.py-1-import os", "src/a.py:2:needle = 1", "src/a.py-3-print(needle)"],
            ),
            ({"pattern": "nowhere"}, ["[no match]"]),
            ({"pattern": "--files"}, ["[no match]"]),
        ],
    )
    async def test_matches_come_with_path_and_line_and_none_from_outside(
        self, arguments: dict[str, Any], lines: list[str], root: pathlib.Path
    ) -> None:
        assert await call(root, "grep_search", **arguments) == Result("\n".join(lines))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"pattern": "a("}, "pattern is no regular expression; escape"),
            ({"pattern": "a", "glob": "a[b"}, "glob is no glob pattern"),
            ({"pattern": "a", "path": "none"}, "'none' does not exist"),
        ],
    )
    async def test_a_search_that_cannot_be_says_how_to_mend_it(
        self, arguments: dict[str, Any], message: str, root: pathlib.Path
    ) -> None:
        result = await call(root, "grep_search", **arguments)
        assert (result.is_error, result.outcome) == (True, "error")
        assert message in result.output

    async def test_a_flood_of_matches_is_bounded(self, root: pathlib.Path) -> None:
        (root / "big.txt").write_text("needle\n" * 200_000)
        (root / "long.txt").write_text("needle" + "x" * 1_000_000 + "\n")
        result = await call(root, "grep_search", pattern="needle", path="big.txt")
        assert result.truncated
        assert len(result.output.encode()) < 65536
        assert result.output.startswith("big.txt:1:needle\nbig.txt:2:needle\n")
        assert result.output.endswith("[there is more; narrow the pattern, the path or the glob]")
        long = await call(root, "grep_search", pattern="needle", path="long.txt")
        assert len(long.output) < 1000
