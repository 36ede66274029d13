"""What `[mcp]` and a server's `sandbox` take, and that the guide's own example is taken."""

from pathlib import Path

import pytest

from redshank_node.mcp_client.starting import check_transport
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Mcp, Settings

GUIDE = Path(__file__).parents[2] / "docs" / "mcp.md"


def read(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "redshank.toml"
    file.write_text(text)
    return load(file, {"HOME": str(tmp_path)})


@pytest.mark.req("C-50", "O18")
def test_the_example_of_the_guide_is_what_it_says(tmp_path: Path) -> None:
    settings = read(tmp_path, GUIDE.read_text().partition("```toml\n")[2].partition("```")[0])
    assert settings.mcp == Mcp()
    assert (settings.mcp.on_failure, settings.mcp.on_collision) == ("degrade", "skip")
    assert (settings.mcp.inventory, settings.mcp.transports) == ("live", "both")
    files, forge = settings.mcp_servers
    assert (files.sandbox, forge.required, forge.startup_timeout_sec) == ("read_only", True, 20)
    for server in settings.mcp_servers:
        check_transport(server, settings.mcp.transports)


@pytest.mark.req("K-59")
@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('[mcp]\non_failure = "ignore"', "mcp.on_failure"),
        ('[mcp]\ninventory = "sometimes"', "mcp.inventory"),
        ('[mcp.servers.a]\ncommand = "x"\nsandbox = "tight"', "mcp.servers.a.sandbox"),
        ('[mcp.servers.a]\nurl = "https://x/"\nsandbox = "read_only"', "mcp.servers.a.sandbox"),
    ],
)
def test_what_is_meant_otherwise_is_refused_with_its_field(
    tmp_path: Path, text: str, field: str
) -> None:
    with pytest.raises(Misconfigured) as raised:
        read(tmp_path, text)
    assert raised.value.field == field
