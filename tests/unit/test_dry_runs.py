"""Dry runs that wait to be applied."""

import pytest

from redshank_node.tools.support.edits.previews import DryRun, DryRuns
from redshank_node.tools.tool import BadArguments


@pytest.mark.req("C-36")
def test_the_last_hundred_are_kept() -> None:
    dry_runs = DryRuns()
    shown = DryRun("ws_1", "a.txt", "0" * 64, {})
    ids = [dry_runs.keep(f"call_{number}", shown) for number in range(101)]
    assert len(set(ids)) == 101
    with pytest.raises(BadArguments, match="make the dry run again"):
        dry_runs.find(ids[0], "ws_1", "a.txt")
    assert dry_runs.find(ids[1], "ws_1", "a.txt") == shown


@pytest.mark.req("C-36")
@pytest.mark.parametrize(("workstream", "path"), [("ws_2", "a.txt"), ("ws_1", "b.txt")])
def test_one_is_bound_to_its_workstream_and_file(workstream: str, path: str) -> None:
    dry_runs = DryRuns()
    apply_id = dry_runs.keep("call_1", DryRun("ws_1", "a.txt", "0" * 64, {}))
    with pytest.raises(BadArguments, match=f"there is no dry run {apply_id}"):
        dry_runs.find(apply_id, workstream, path)
