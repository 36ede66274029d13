"""Every edit case under each of the tools that edit: the engine is one."""

import pathlib
from typing import Any

import pytest

from tests.contract.edit_cases import cases, check

CASES = cases("edits.toml", "edits_more.toml")


@pytest.mark.req("T-25", "C-28", "C-29", "C-30", "C-31", "C-32", "C-33", "C-36", "C-37", "K-12")
@pytest.mark.fault("F16")
@pytest.mark.fault("F33")
@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']} {case['tool']}" for case in CASES])
async def test_an_edit_case_ends_as_it_must(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    await check(case, tmp_path)
