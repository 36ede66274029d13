"""The story of open_file: an agent keeps the document that it works from in sight."""

import json
import os
import pathlib

import pytest

from redshank_shared.domain.commands import PinFile
from redshank_shared.domain.pins import Pin
from tests.contract.tools.file_calls import called

LARGE = "".join(f"## Part {part}\n" + f"words of part {part}\n" * 200 for part in ("one", "two"))


@pytest.mark.req("C-22")
async def test_a_small_file_is_opened_as_a_whole(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.md").write_text("# A\nwords\n")
    result = await called(tmp_path, "open_file", {"path": "./a.md"}, pins={"b.md": Pin()})
    assert json.loads(result.output) == {
        "open": ["b.md", "a.md"],
        "activeSections": [],
        "shown": "the whole file, from the next prompt on",
    }
    assert result.command == PinFile("a.md")


@pytest.mark.req("C-22")
async def test_sections_of_a_large_file_are_opened_and_closed_by_their_ids(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "a.md").write_text(LARGE)
    pins = {"a.md": Pin(("part-two",))}
    arguments = {"path": "a.md", "sections": ["part-one"], "closeSections": ["part-two"]}
    result = await called(tmp_path, "open_file", arguments, pins=pins)
    assert json.loads(result.output)["activeSections"] == ["part-one"]
    assert json.loads(result.output)["sections"] == ["part-one", "part-two"]
    assert result.command == PinFile("a.md", ("part-one",))


@pytest.mark.req("C-22")
async def test_all_of_a_large_file_is_opened(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.md").write_text(LARGE)
    result = await called(tmp_path, "open_file", {"path": "a.md", "all": True})
    assert result.command == PinFile("a.md", (), whole=True)


@pytest.mark.req("C-22")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"path": "a.md", "sections": ["three"]},
            "has no section three; it has part-one, part-two",
        ),
        ({"path": "a.md", "closeSections": ["x"]}, "closeSections: 'a.md' has no section x"),
        ({"path": "a.md", "all": True, "sections": ["part-one"]}, "leave out sections"),
        ({"path": "small.md", "sections": ["a"]}, "is shown as a whole, it has no outline"),
        ({"path": "folder"}, "'folder' is a folder"),
        ({"path": "none.md"}, "'none.md' does not exist"),
        ({"path": "large.txt"}, "has more than 262144 bytes"),
        ({"path": "image.png"}, "is no text but a PNG image"),
        ({"path": "pipe"}, "a named pipe"),
        ({"path": "../x"}, "leads out of the workspace"),
    ],
)
async def test_what_cannot_be_kept_in_sight_is_refused_with_the_mend(
    arguments: dict[str, object], words: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.md").write_text(LARGE)
    (tmp_path / "small.md").write_text("# A\n")
    (tmp_path / "large.txt").write_text("x" * 262145)
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    result = await called(tmp_path, "open_file", arguments)
    assert (result.is_error, result.command) == (True, None)
    assert words in result.output
