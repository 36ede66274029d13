"""What is accepted of servers' tools is one word for the whole cluster."""

import concurrent.futures
import threading

import pytest

from redshank_shared.stores.admin_audits import AdminAct, AdminAudits
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tools import FIRST_SIGHT, McpTools, SeenTool

pytestmark = pytest.mark.fault("F64")
AT, LATER = "2026-11-30T10:00:00.000Z", "2026-11-30T11:00:00.000Z"


def seen(tool: str, digest: str = "sha256:1", description: str = "Looks.") -> SeenTool:
    return SeenTool("wiki", tool, digest, description, '{"type":"object"}')


def accepting(who: str) -> AdminAct:
    return AdminAct(f"aud_{who}", LATER, who, "mcp_tool.accepted", "wiki/a")


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


def test_a_tool_that_reads_as_another_in_a_turn_is_held_to_what_was_accepted_of_that(
    database: Database,
) -> None:
    tools = McpTools(database)
    tools.saw_all("wiki", [seen("look.up")], AT)
    tools.saw_all("wiki", [seen("look_up", "sha256:2", "Takes."), seen("look-up")], LATER)
    found = {each.tool: each for each in tools.of("wiki")}
    renamed = found["look_up"]
    assert (renamed.digest, renamed.accepted_at) == ("sha256:1", AT)
    assert (renamed.changed_digest, renamed.changed_at) == ("sha256:2", LATER)
    assert found["look-up"].accepted_at == LATER
    again = tools.saw(seen("look/up", "sha256:3"), LATER)
    assert (again.digest, again.changed_digest) == ("sha256:1", "sha256:3")
    assert tools.saw(seen("look:up"), LATER).changed_digest == ""
    assert tools.accept_change("wiki", "look_up", "sha256:2", accepting("ana"))


def test_of_a_server_that_goes_on_inventing_tools_no_more_is_kept_nothing_more_accepted(
    database: Database,
) -> None:
    tools = McpTools(database, most_kept=3)
    tools.saw_all("wiki", [seen("a"), seen("b")], AT)
    tools.saw_all("wiki", [seen("c"), seen("d"), seen("e")], AT)
    assert [each.tool for each in tools.of("wiki")] == ["a", "b", "c"]
    unknown = tools.saw(seen("f"), LATER)
    assert (unknown.digest, unknown.changed_digest) == ("", "sha256:1")
    assert len(tools.of("wiki")) == 3
    assert tools.saw(seen("a", "sha256:2"), LATER).changed_digest == "sha256:2"


def test_of_two_nodes_that_first_see_a_tool_at_once_the_second_notes_its_difference(
    database: Database,
) -> None:
    names = [f"t{number}" for number in range(200)]
    together = threading.Barrier(2)

    def first_sight(digest: str) -> None:
        together.wait(30)
        McpTools(database).saw_all("wiki", [seen(name, digest) for name in names], AT)

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(first_sight, digest) for digest in ("one", "other")]:
            done.result(60)
    found = McpTools(database).of("wiki")
    assert len(found) == len(names)
    assert {frozenset((each.digest, each.changed_digest)) for each in found} == {
        frozenset(("one", "other"))
    }


def test_a_change_is_accepted_by_its_digest_alone(database: Database) -> None:
    tools = McpTools(database)
    tools.saw(seen("a"), AT)
    tools.saw(seen("a", "sha256:2", "Takes."), LATER)
    assert not tools.accept_change("wiki", "a", "sha256:3", accepting("ana"))
    assert not tools.accept_change("wiki", "a", "", accepting("ana"))
    assert AdminAudits(database).page().items == ()
    assert tools.accept_change("wiki", "a", "sha256:2", accepting("ana"))
    (accepted,) = tools.of("wiki")
    assert (accepted.digest, accepted.description, accepted.accepted_by) == (
        "sha256:2",
        "Takes.",
        "ana",
    )
    assert (accepted.changed_digest, accepted.changed_at) == ("", "")
    assert not tools.accept_change("wiki", "a", "sha256:2", accepting("bo"))
    assert AdminAudits(database).page().items == (accepting("ana"),)


def test_what_says_again_what_was_accepted_is_no_change_any_more(database: Database) -> None:
    tools = McpTools(database)
    tools.saw(seen("a"), AT)
    assert tools.saw(seen("a", "sha256:2"), LATER).changed_digest == "sha256:2"
    assert tools.saw(seen("a"), LATER).changed_digest == ""
    assert tools.of("wiki")[0].changed_digest == ""
