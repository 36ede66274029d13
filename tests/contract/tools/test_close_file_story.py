"""The story of close_file: an agent puts a document away."""

import json
import pathlib

import pytest

from redshank_shared.domain.commands import UnpinFile
from redshank_shared.domain.pins import Pin
from tests.contract.tools.file_calls import called


@pytest.mark.req("C-24")
@pytest.mark.parametrize("path", ["a.md", "./a.md", "link.md", "{root}/a.md"])
async def test_a_file_is_closed_by_whatever_path_leads_to_it(
    path: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "link.md").symlink_to("a.md")
    pins = {"a.md": Pin(), "b.md": Pin()}
    result = await called(tmp_path, "close_file", {"path": path.format(root=tmp_path)}, pins=pins)
    assert json.loads(result.output) == {"closed": True, "open": ["b.md"]}
    assert result.command == UnpinFile("a.md")


@pytest.mark.req("C-24")
async def test_what_is_not_open_or_gone_is_closed_without_an_error(tmp_path: pathlib.Path) -> None:
    gone = await called(tmp_path, "close_file", {"path": "a.md"}, pins={"a.md": Pin()})
    assert json.loads(gone.output) == {"closed": True, "open": []}
    never = await called(tmp_path, "close_file", {"path": "b.md"})
    assert (never.is_error, json.loads(never.output)) == (False, {"closed": False, "open": []})


async def test_a_path_that_leads_out_is_refused(tmp_path: pathlib.Path) -> None:
    result = await called(tmp_path, "close_file", {"path": "/etc/passwd"})
    assert "leads out of the workspace" in result.output
