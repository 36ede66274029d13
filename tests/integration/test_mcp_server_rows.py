"""Servers added at run time in both databases: what changed is found by number."""

import pytest

from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_servers import Answered, McpServerRows, StoredServer
from redshank_shared.stores.permission_rules import Beside
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.wire.mcp_catalogue import decode_catalogue, encode_catalogue

AT = "2026-11-30T08:15:00.250Z"


def beside(_: StoredServer) -> Beside:
    return Beside()


def row(name: str, record: str = '{"url":"https://a.example/mcp"}') -> StoredServer:
    return StoredServer(name, record, "ana", AT)


def names(rows: tuple[StoredServer, ...]) -> list[str]:
    return [each.name for each in rows]


@pytest.mark.req("K-69", "T-73")
def test_whoever_was_away_finds_all_that_changed_since_by_its_number(database: Database) -> None:
    rows = McpServerRows(database)
    rows.add(row("wiki"), beside)
    seen, first = rows.changed(0)
    assert names(first) == ["wiki"]
    assert rows.changed(seen) == (seen, ())

    rows.add(row("mail"), beside)
    rows.remove("wiki", beside)
    serial = rows.order(["mail"], "reconnect")
    later, missed = rows.changed(seen)

    assert names(missed) == ["wiki", "mail"]
    assert [each.removed for each in missed] == [True, False]
    assert missed[1].reconnect_serial == serial == later
    assert names(rows.servers()) == ["mail"]


@pytest.mark.req("K-69")
def test_a_name_is_given_once_given_again_when_it_is_free(database: Database) -> None:
    rows = McpServerRows(database)
    rows.add(row("wiki"), beside)
    with pytest.raises(Conflict) as taken:
        rows.add(row("wiki", '{"url":"https://b.example/mcp"}'), beside)
    assert (taken.value.code, taken.value.field) == ("mcp_name_taken", "name")

    rows.remove("wiki", beside)
    for missing in (lambda: rows.remove("wiki", beside), lambda: rows.replace(row("wiki"), beside)):
        with pytest.raises(NotFound):
            missing()
    again = rows.add(row("wiki", '{"url":"https://b.example/mcp"}'), beside)
    assert rows.servers() == (again,)


@pytest.mark.req("T-73")
def test_an_order_for_a_server_of_the_settings_makes_it_none_of_those_added(
    database: Database,
) -> None:
    rows = McpServerRows(database)
    rows.order(["of-the-settings"], "refresh")
    assert rows.servers() == ()
    with pytest.raises(NotFound):
        rows.remove("of-the-settings", beside)
    assert rows.add(row("of-the-settings"), beside).refresh_serial == 0
    (kept,) = rows.servers()
    assert kept.refresh_serial > 0


@pytest.mark.req("T-73")
def test_only_answers_to_this_order_or_a_later_one_count(database: Database) -> None:
    rows, services = McpServerRows(database), Services(database)
    services.register(ServiceRow("n1", "node", "", "1", AT, "{}"))
    first = rows.order(["wiki"], "refresh")
    rows.answer(Answered("n1", "wiki", first, 0, ("egg",), ("nest",)))
    (said,) = rows.answers(["wiki"], "refresh", first)
    assert (said.added, said.removed, said.error) == (("egg",), ("nest",), "")

    second = rows.order(["wiki"], "refresh")
    assert rows.answers(["wiki"], "refresh", second) == ()
    rows.answer(Answered("n1", "wiki", second, 0, error="\0 it is down"))
    (said,) = rows.answers(["wiki"], "refresh", first)
    assert said.error.endswith("it is down")
    assert rows.answers(["wiki"], "reconnect", 1) == ()


def test_what_processes_said_that_are_gone_is_forgotten_with_the_next_order(
    database: Database,
) -> None:
    rows = McpServerRows(database)
    rows.answer(Answered("gone", "wiki", 1, 0))
    assert rows.answers(["wiki"], "refresh", 1) != ()
    rows.order(["mail"], "refresh")
    assert rows.answers(["wiki"], "refresh", 1) == ()


@pytest.mark.req("B-26")
def test_a_nodes_catalogue_stands_until_the_node_leaves(database: Database) -> None:
    services = Services(database)
    text = encode_catalogue(())
    assert not services.describe("n1", "[]", text)
    node = ServiceRow("n1", "node", "http://x", "1", AT, "{}", surface="[]")
    services.register(node)
    assert not services.is_described("n1")

    assert services.describe("n1", '["cards"]', text)
    services.register(node)
    assert services.is_described("n1")
    assert services.catalogues(["n1", "n2"]) == {"n1": text}
    assert decode_catalogue(text).servers == ()
    services.leave("n1")
    assert services.catalogues(["n1"]) == {}
