"""The story of read_sections: an agent brings more of an open document into sight."""

import json
import pathlib

import pytest

from redshank_shared.domain.commands import PinFile
from redshank_shared.domain.pins import Pin
from tests.contract.tools.file_calls import called

LARGE = "".join(f"## Part {part}\n" + f"words of part {part}\n" * 200 for part in ("one", "two"))
OPEN = {"a.md": Pin(("part-one",)), "small.md": Pin(), "whole.md": Pin(whole=True)}


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    for name in ("a.md", "whole.md", "closed.md"):
        (tmp_path / name).write_text(LARGE)
    (tmp_path / "small.md").write_text("# A\n")
    return tmp_path


@pytest.mark.req("C-23")
async def test_further_sections_come_into_sight(root: pathlib.Path) -> None:
    arguments = {"path": "a.md", "sections": ["part-two", "part-one"]}
    result = await called(root, "read_sections", arguments, pins=OPEN)
    said = json.loads(result.output)
    assert said == {
        "path": "a.md",
        "added": ["part-two"],
        "activeSections": ["part-one", "part-two"],
    }
    assert result.command == PinFile("a.md", ("part-one", "part-two"))


@pytest.mark.req("C-23")
async def test_what_is_active_already_adds_nothing(root: pathlib.Path) -> None:
    arguments = {"path": "a.md", "sections": ["part-one"]}
    result = await called(root, "read_sections", arguments, pins=OPEN)
    assert json.loads(result.output)["added"] == []
    assert result.command is None


@pytest.mark.req("C-23")
async def test_all_brings_the_whole_file(root: pathlib.Path) -> None:
    result = await called(root, "read_sections", {"path": "a.md", "all": True}, pins=OPEN)
    assert json.loads(result.output)["activeSections"] == "all"
    assert result.command == PinFile("a.md", (), whole=True)


@pytest.mark.req("C-23")
@pytest.mark.parametrize("path", ["small.md", "whole.md"])
async def test_a_file_that_is_shown_as_a_whole_has_nothing_to_add(
    path: str, root: pathlib.Path
) -> None:
    result = await called(root, "read_sections", {"path": path, "all": True}, pins=OPEN)
    assert "whole file is in context" in result.output
    assert (result.is_error, result.command) == (False, None)


@pytest.mark.req("C-23")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "closed.md", "sections": ["part-one"]}, "is not open; open it with open_file"),
        ({"path": "a.md", "sections": ["x"]}, "has no section x; it has part-one, part-two"),
        ({"path": "a.md"}, "name sections, or set all to true"),
        ({"path": "a.md", "sections": ["part-one"], "all": True}, "one of the two"),
        ({"path": "a.md", "sections": []}, "sections must have at least 1 item(s)"),
        ({"path": "gone.md", "all": True}, "'gone.md' does not exist"),
    ],
)
async def test_what_cannot_be_shown_is_refused_with_the_mend(
    arguments: dict[str, object], words: str, root: pathlib.Path
) -> None:
    result = await called(root, "read_sections", arguments, pins=OPEN)
    assert result.is_error
    assert words in result.output
