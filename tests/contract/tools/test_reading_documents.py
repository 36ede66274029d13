"""What docs/tools-files.md shows of reading is what the tools do."""

import json
import pathlib
import re

import pytest

from redshank_shared.profiles.profile import load, read
from tests.contract.tools.file_calls import called

TEXT = (pathlib.Path(__file__).parents[3] / "docs" / "tools-files.md").read_text()
READING = TEXT.partition("## Editing")[0]
SHOWN = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", READING, re.S)]
PROFILES = re.findall(r"```toml\n(.*?)```", READING, re.S)


@pytest.mark.req("T-22")
async def test_reads_that_the_document_shows_give_what_it_says(tmp_path: pathlib.Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tally.py").write_text("x = 1\n" * 200)
    assert len(SHOWN) == 1
    result = await called(tmp_path, "read_file", SHOWN[0])
    assert result.output.endswith("[more lines follow; go on with offset=160]")


@pytest.mark.req("C-18", "C-19")
def test_the_options_that_the_document_shows_are_those_of_the_profile() -> None:
    assert len(PROFILES) == 1
    own = read("own", f'title = "Own"\n{PROFILES[0]}')
    shipped = load("cireilclaw").exposures["read"]
    assert own.exposures["read_file"].preset == shipped.preset
