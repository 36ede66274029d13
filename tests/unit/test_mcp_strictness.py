"""What a node's default profile does not put up with holds at its start."""

from pathlib import Path

import pytest

from redshank_node.mcp_client.node_servers import as_strict_as
from redshank_shared.profiles.profile import load as profile
from redshank_shared.settings.load import load


@pytest.mark.req("K-66", "C-53", "C-55")
@pytest.mark.parametrize(
    ("written", "name", "collision", "failure"),
    [
        ("", "default", "skip", "degrade"),
        ("", "turnstone", "skip", "degrade"),
        ("", "kheish", "fatal", "degrade"),
        ("", "cireilclaw", "fatal", "fatal"),
        ('[mcp]\non_failure = "fatal"\n', "default", "skip", "fatal"),
        ('[mcp]\non_collision = "fatal"\n', "turnstone", "fatal", "degrade"),
    ],
)
def test_one_word_of_fatal_is_enough(
    tmp_path: Path, written: str, name: str, collision: str, failure: str
) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text(written)
    mcp = as_strict_as(load(file, {}), profile(name)).mcp
    assert (mcp.on_collision, mcp.on_failure) == (collision, failure)
