"""What docs/tools-files.md shows of edits is what the tools do."""

import json
import pathlib
import re

import pytest

from tests.contract.edit_cases import Session

TEXT = (pathlib.Path(__file__).parents[2] / "docs" / "tools-files.md").read_text()
SHOWN = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", TEXT, re.S)]
PATCHES = re.findall(r"```\n(\*\*\* Begin Patch.*?)```", TEXT, re.S)
CODE = "import os\n\ndef tally(items):\n    total = 0\n    print(os.sep)\n    return 0\n"


@pytest.fixture
def session(tmp_path: pathlib.Path) -> Session:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tally.py").write_text(CODE)
    (tmp_path / "old.txt").write_text("old\n")
    return Session(tmp_path)


@pytest.mark.req("T-25")
@pytest.mark.parametrize(
    "arguments", [each for each in SHOWN if "old_string" in each or "edits" in each]
)
async def test_edits_that_the_document_shows_apply(
    arguments: dict[str, object], session: Session
) -> None:
    result = await session.call("edit_file", **arguments)
    assert not result.is_error, result.output


@pytest.mark.req("K-12")
@pytest.mark.parametrize("patch", PATCHES)
async def test_patches_that_the_document_shows_apply(patch: str, session: Session) -> None:
    result = await session.call("apply_patch", patch=patch)
    assert not result.is_error, result.output
    assert result.output.startswith("M src/tally.py -> src/counting/tally.py\n")


def test_there_is_something_of_each_kind() -> None:
    assert len(SHOWN) >= 2
    assert len(PATCHES) == 1
