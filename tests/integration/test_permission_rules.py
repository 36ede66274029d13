"""Stored rules: kept in their order, replaced in their place, each change moves the revision."""

import threading
from typing import Any

import pytest

from redshank_shared.domain.errors import Conflict, Invalid
from redshank_shared.permissions.rules import Rule
from redshank_shared.stores.admin_audits import AdminAct, AdminAudits
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import Idempotency, IdempotencyEntry
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.permission_rules import (
    Beside,
    PermissionRules,
    RuleFilters,
    RuleRow,
)
from redshank_shared.stores.policy_revisions import PolicyRevisions
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.stores.tables import RULES
from tests.integration.engine_world import fresh_id
from tests.store_fixtures import AT, begin


@pytest.fixture
def rules(database: Database) -> PermissionRules:
    return PermissionRules(database)


def row(pattern: str, decision: Any = "deny", **more: Any) -> RuleRow:
    """A user rule of ines."""
    given = {"scope": "user", "subject": "ines", "locked": False, "origin": "static", **more}
    return RuleRow(
        rule_id=fresh_id("rul"),
        pattern=pattern,
        decision=decision,
        note=given.pop("note", ""),
        created_by="ines",
        created_at=AT,
        **given,
    )


def patterns(rules: PermissionRules, owner: str) -> list[str]:
    return [rule.pattern for rule in rules.in_force(owner, "default")[1]]


@pytest.mark.req("K-38")
def test_rules_in_force_are_those_of_the_owner_the_project_or_everybody(
    rules: PermissionRules,
) -> None:
    rules.put(row("bash"))
    rules.put(row("edit_file", subject="tomasz"))
    rules.put(row("mcp__*", subject="*"))
    rules.put(row("mcp__linear__*", "allow", scope="project", subject="default"))
    rules.put(row("web_fetch", "ask", scope="project", subject="elsewhere"))
    rules.put(row("@network", scope="project", subject="*", locked=True))
    assert patterns(rules, "ines") == ["bash", "mcp__*", "mcp__linear__*", "@network"]
    assert patterns(rules, "tomasz") == ["edit_file", "mcp__*", "mcp__linear__*", "@network"]
    last = rules.in_force("ines", "default")[1][-1]
    assert last == Rule("@network", "deny", "project", "static", locked=True)


@pytest.mark.req("K-39")
def test_the_same_pattern_replaces_and_keeps_its_place(rules: PermissionRules) -> None:
    first, is_new = rules.put(row("bash"))
    assert is_new
    rules.put(row("edit_file"))
    replaced, is_new = rules.put(row("bash", "allow", note="trusted now"))
    assert not is_new
    assert (replaced.rule_id, replaced.position) == (first.rule_id, first.position)
    page = rules.page(RuleFilters())
    assert [(each.pattern, each.decision) for each in page.items] == [
        ("bash", "allow"),
        ("edit_file", "deny"),
    ]
    assert rules.get(first.rule_id) == replaced
    # Of another subject it is another rule.
    assert rules.put(row("bash", subject="tomasz"))[1]


def test_every_change_moves_the_revision_and_nothing_else_does(
    database: Database, rules: PermissionRules
) -> None:
    revisions = PolicyRevisions(database)
    assert revisions.all() == {}
    assert rules.in_force("ines", "default") == (0, ())
    kept, _ = rules.put(row("bash"))
    assert revisions.all() == {RULES: 1}
    rules.put(row("bash", "ask"))
    assert rules.in_force("ines", "default")[0] == 2
    begin(database)
    claim = Leases(database).claim_and_read("ws_1", "node_a", 15, 0)
    assert claim is not None
    assert claim[0].rules_revision == 2
    assert rules.delete("rul_unknown") is None
    rules.page(RuleFilters())
    assert revisions.all() == {RULES: 2}
    gone = rules.delete(kept.rule_id)
    assert gone is not None
    assert gone.decision == "ask"
    assert rules.all() == (3, ())


def test_writers_at_once_lose_no_rule_and_no_revision(rules: PermissionRules) -> None:
    faults: list[BaseException] = []

    def write(worker: int) -> None:
        try:
            for number in range(5):
                kept, _ = rules.put(row(f"tool_{worker}_{number}"))
                rules.put(row("shared", "allow" if worker % 2 else "deny"))
                if number == 4:
                    rules.delete(kept.rule_id)
        except BaseException as fault:  # noqa: BLE001 - told to the test below
            faults.append(fault)

    writers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert faults == []
    revision, rows = rules.all()
    assert revision == 4 * (5 + 5 + 1)
    assert len({each.position for each in rows}) == len(rows) == 4 * 4 + 1


def test_a_page_goes_on_where_the_last_one_ended(rules: PermissionRules) -> None:
    for number in range(5):
        rules.put(row(f"tool_{number}"))
    rules.put(row("bash", scope="project", subject="default"))
    first = rules.page(RuleFilters(scope="user"), limit=3)
    assert [each.pattern for each in first.items] == ["tool_0", "tool_1", "tool_2"]
    assert first.total == 5
    rest = rules.page(RuleFilters(scope="user"), 3, first.next_cursor)
    assert [each.pattern for each in rest.items] == ["tool_3", "tool_4"]
    assert rest.next_cursor is None
    for limit, cursor in ((0, None), (3, "rubbish")):
        with pytest.raises(Invalid):
            rules.page(RuleFilters(), limit, cursor)


def test_an_answer_is_kept_with_the_change_or_neither_is(
    database: Database, rules: PermissionRules
) -> None:
    def beside(put: RuleRow, _: bool) -> Beside:
        act = AdminAct(fresh_id("aud"), AT, "ines", "rule.added", put.rule_id)
        return Beside(act, IdempotencyEntry("ines POST rules", "k1", "digest", 201, "{}"))

    rules.put(row("bash"), beside)
    found = Idempotency(database).find("ines POST rules", "k1")
    assert found is not None
    assert found.status == 201
    with pytest.raises(Conflict):
        rules.put(row("edit_file"), beside)
    assert patterns(rules, "ines") == ["bash"]
    assert [act.act for act in AdminAudits(database).page().items] == ["rule.added"]


@pytest.mark.req("K-48")
def test_the_registry_gives_every_surface_of_living_nodes_once(database: Database) -> None:
    services = Services(database)
    for name, surface in (("a", "[1]"), ("b", "[1]"), ("c", "[2]"), ("d", "")):
        services.register(ServiceRow(name, "node", "", "1", AT, "{}", surface=surface))
    services.register(ServiceRow("e", "console", "", "1", AT, "{}", surface="[3]"))
    assert services.surfaces(15) == ["[1]", "[2]"]
    assert services.heartbeat("c", '{"busy": 1}')
    assert services.surfaces(15) == ["[1]", "[2]"]
    services.offer("c", "[4]")
    services.leave("a")
    services.leave("b")
    assert services.surfaces(15) == ["[4]"]
