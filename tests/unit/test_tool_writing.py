"""The tools that write: what they show first, what they change then."""

import asyncio
import hashlib
import os
import pathlib
from typing import Any

import pytest

from redshank_node.tools.tool import BadArguments
from tests.contract.test_tools import call, prepared, ran


class TestWriteFile:
    @pytest.mark.req("T-24")
    async def test_a_new_file_is_shown_whole_then_made_with_its_folders(
        self, tmp_path: pathlib.Path
    ) -> None:
        text = "a\r\n\u20ac\nno end"
        made = prepared(tmp_path, "write_file", path="x/y/new.txt", content=text)
        assert made.preview.title == "x/y/new.txt, new file"
        assert (made.preview.kind, made.preview.body) == ("text", text)
        assert (made.preview.added, made.preview.removed) == (3, 0)
        result = await ran(tmp_path, "write_file", made)
        assert not result.is_error
        assert (tmp_path / "x/y/new.txt").read_bytes() == text.encode()

    @pytest.mark.req("T-24")
    async def test_replacing_shows_a_diff_and_keeps_the_mode(self, tmp_path: pathlib.Path) -> None:
        file = tmp_path / "run.sh"
        file.write_text("one\ntwo\n")
        file.chmod(0o755)
        made = prepared(tmp_path, "write_file", path="run.sh", content="one\n2\n")
        assert (made.preview.kind, made.preview.added, made.preview.removed) == ("diff", 1, 1)
        assert "-two\n+2" in made.preview.body
        await ran(tmp_path, "write_file", made)
        assert file.read_text() == "one\n2\n"
        assert file.stat().st_mode & 0o777 == 0o755

    @pytest.mark.fault("F51")
    def test_what_is_replaced_is_bound_to_what_was_shown(self, tmp_path: pathlib.Path) -> None:
        def bound() -> object:
            made = prepared(tmp_path, "write_file", path="a.txt", content="new")
            return made.arguments["_base_sha256"]

        missing = bound()
        (tmp_path / "a.txt").write_text("one")
        first = bound()
        assert bound() == first
        (tmp_path / "a.txt").write_text("two")
        assert len({missing, first, bound()}) == 3

    @pytest.mark.req("T-24")
    @pytest.mark.fault("F33")
    @pytest.mark.parametrize(
        ("before", "content", "after"),
        [
            (b"a\n", "b\n", b"a\nb\n"),
            (b"a\r\n", "b\nc\n", b"a\r\nb\r\nc\r\n"),
            ("a\n".encode("utf-16"), "b", "a\nb".encode("utf-16")),
            (b"caf\xe9\n", "th\u00e9\n", b"caf\xe9\nth\xe9\n"),
            (b"", "b", b"b"),
            (None, "b", b"b"),
        ],
    )
    async def test_appended_text_takes_on_what_the_file_has(
        self, before: bytes | None, content: str, after: bytes, tmp_path: pathlib.Path
    ) -> None:
        if before is not None:
            (tmp_path / "a.txt").write_bytes(before)
        await call(tmp_path, "write_file", path="a.txt", content=content, append=True)
        assert (tmp_path / "a.txt").read_bytes() == after

    async def test_a_character_that_the_file_cannot_hold_is_named(
        self, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.txt").write_bytes(b"caf\xe9\n")
        result = await call(tmp_path, "write_file", path="a.txt", content="\u20ac", append=True)
        assert result.is_error
        assert "'\u20ac' cannot be written in the file's encoding, Latin-1" in result.output
        assert (tmp_path / "a.txt").read_bytes() == b"caf\xe9\n"

    @pytest.mark.fault("F43")
    def test_half_a_character_is_refused(self, tmp_path: pathlib.Path) -> None:
        with pytest.raises(BadArguments, match="content holds half a character"):
            prepared(tmp_path, "write_file", path="a.txt", content="\ud800")


class TestEditFile:
    @pytest.mark.req("T-25")
    async def test_an_edit_shows_its_diff_then_changes_only_its_place(
        self, tmp_path: pathlib.Path
    ) -> None:
        file = tmp_path / "a.txt"
        file.write_bytes(b"\xef\xbb\xbfone\r\ntwo  \r\nthree")
        file.chmod(0o640)
        made = prepared(tmp_path, "edit_file", path="a.txt", old_string="two", new_string="2\n+")
        assert made.preview.title == "a.txt"
        assert (made.preview.kind, made.preview.added, made.preview.removed) == ("diff", 2, 1)
        assert made.arguments["_base_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        result = await ran(tmp_path, "edit_file", made)
        said = "a.txt edited at line 2: 2 line(s) added, 1 removed"
        (seen,) = result.seen
        assert (result.output, result.is_error, seen.path) == (said, False, "a.txt")
        assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n+  \r\nthree"
        assert file.stat().st_mode & 0o777 == 0o640

    @pytest.mark.req("T-25")
    async def test_replace_all_tells_the_count(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "a.txt").write_text("foo();\nfoo();\nbar(foo);\n")
        made = prepared(
            tmp_path, "edit_file", path="a.txt", old_string="foo", new_string="f", replace_all=True
        )
        assert made.preview.title == "a.txt, 3 places"
        await ran(tmp_path, "edit_file", made)
        assert (tmp_path / "a.txt").read_text() == "f();\nf();\nbar(f);\n"

    @pytest.mark.req("T-25")
    async def test_a_batch_is_applied_whole_or_not_at_all(self, tmp_path: pathlib.Path) -> None:
        file = tmp_path / "a.txt"
        file.write_text("a = 1\nb = 2\n")
        good = {"old_string": "a = 1", "new_string": "a = 9"}
        bad = {"old_string": "c = 3", "new_string": "c = 9"}
        with pytest.raises(BadArguments, match=r"edits\[1\].old_string is not in the file"):
            prepared(tmp_path, "edit_file", path="a.txt", edits=[good, bad])
        assert file.read_text() == "a = 1\nb = 2\n"
        both = [{"old_string": "b = 2", "new_string": ""}, good]
        await call(tmp_path, "edit_file", path="a.txt", edits=both)
        assert file.read_text() == "a = 9\n\n"

    @pytest.mark.fault("F33")
    @pytest.mark.parametrize("change", [b"a = 1\nc\n", None])
    async def test_an_edit_of_a_file_that_changed_since_is_refused(
        self, change: bytes | None, tmp_path: pathlib.Path
    ) -> None:
        file = tmp_path / "a.txt"
        file.write_bytes(b"a = 1\nb\n")
        made = prepared(tmp_path, "edit_file", path="a.txt", old_string="a = 1", new_string="2")
        if change is None:
            file.unlink()
        else:
            file.write_bytes(change)
        result = await ran(tmp_path, "edit_file", made)
        assert result.is_error
        assert ("changed since" if change else "does not exist") in result.output
        assert (file.read_bytes() if change else None) == change

    async def test_a_file_that_is_only_touched_can_still_be_edited(
        self, tmp_path: pathlib.Path
    ) -> None:
        file = tmp_path / "a.txt"
        file.write_text("a\n")
        made = prepared(tmp_path, "edit_file", path="a.txt", old_string="a", new_string="b")
        os.utime(file, (1, 1))
        await ran(tmp_path, "edit_file", made)
        assert file.read_text() == "b\n"

    @pytest.mark.fault("F33")
    async def test_of_two_edits_at_once_none_is_lost_in_silence(
        self, tmp_path: pathlib.Path
    ) -> None:
        file = tmp_path / "a.txt"
        file.write_text("a\nb\n")
        edits = [
            prepared(tmp_path, "edit_file", path="a.txt", old_string=old, new_string=old * 2)
            for old in ("a", "b")
        ]
        results = await asyncio.gather(*(ran(tmp_path, "edit_file", edit) for edit in edits))
        done = [result for result in results if not result.is_error]
        assert len(done) == 1
        assert file.read_text() in ("aa\nb\n", "a\nbb\n")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "old_string is required, or edits in place of it"),
            ({"old_string": "a"}, "new_string is required"),
            (
                {"old_string": "a", "edits": [{"old_string": "a", "new_string": "b"}]},
                "old_string cannot stand beside edits",
            ),
            (
                {"old_string": "a", "new_string": "b", "replace_all": True, "near_line": 1},
                "near_line cannot stand beside replace_all",
            ),
            (
                {"old_string": "a", "new_string": "b", "near_line": 0},
                "near_line must be at least 1",
            ),
            (
                {"old_string": "a", "new_string": "\u20ac"},
                "cannot be written in the file's encoding",
            ),
        ],
    )
    def test_arguments_that_do_not_go_together_are_named(
        self, arguments: dict[str, Any], message: str, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.txt").write_bytes(b"a\xe9\n")
        with pytest.raises(BadArguments, match=message):
            prepared(tmp_path, "edit_file", path="a.txt", **arguments)

    def test_what_is_no_text_is_not_edited(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "a.bin").write_bytes(b"a=1\x00\x01")
        with pytest.raises(BadArguments, match="no text but a binary file"):
            prepared(tmp_path, "edit_file", path="a.bin", old_string="a=1", new_string="a=2")
