"""What is accepted of servers' tools is one word for the whole cluster."""

import pytest

from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tools import FIRST_SIGHT, McpTools, SeenTool

pytestmark = pytest.mark.fault("F64")
AT, LATER = "2026-11-30T10:00:00.000Z", "2026-11-30T11:00:00.000Z"


def seen(tool: str, digest: str = "sha256:1", description: str = "Looks.") -> SeenTool:
    return SeenTool("wiki", tool, digest, description, '{"type":"object"}')


def test_many_tools_are_accepted_at_first_sight_and_changes_of_known_ones_noted(
    database: Database,
) -> None:
    tools = McpTools(database)
    tools.saw(seen("a"), AT)
    tools.saw_all("wiki", [seen("a", "sha256:2", "Takes."), seen("b"), seen("b\0")], LATER)
    a, b, odd = tools.of("wiki")
    assert (a.accepted_at, a.digest, a.changed_digest, a.changed_description) == (
        AT,
        "sha256:1",
        "sha256:2",
        "Takes.",
    )
    assert (b.accepted_at, b.accepted_by, b.changed_digest) == (LATER, FIRST_SIGHT, "")
    assert odd.tool == "b�"
    tools.saw_all("wiki", [seen("a", "sha256:2", "Takes."), seen("b")], "never")
    assert tools.of("wiki") == [a, b, odd]


def test_a_change_is_accepted_by_its_digest_alone(database: Database) -> None:
    tools = McpTools(database)
    tools.saw(seen("a"), AT)
    tools.saw(seen("a", "sha256:2", "Takes."), LATER)
    assert not tools.accept_change("wiki", "a", "sha256:3", "ana", LATER)
    assert not tools.accept_change("wiki", "a", "", "ana", LATER)
    assert tools.accept_change("wiki", "a", "sha256:2", "ana", LATER)
    (accepted,) = tools.of("wiki")
    assert (accepted.digest, accepted.description, accepted.accepted_by) == (
        "sha256:2",
        "Takes.",
        "ana",
    )
    assert (accepted.changed_digest, accepted.changed_at) == ("", "")
    assert not tools.accept_change("wiki", "a", "sha256:2", "bo", LATER)


def test_what_says_again_what_was_accepted_is_no_change_any_more(database: Database) -> None:
    tools = McpTools(database)
    tools.saw(seen("a"), AT)
    assert tools.saw(seen("a", "sha256:2"), LATER).changed_digest == "sha256:2"
    assert tools.saw(seen("a"), LATER).changed_digest == ""
    assert tools.of("wiki")[0].changed_digest == ""
