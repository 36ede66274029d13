"""What waits in the database, counted on both brands."""

import pytest
from sqlalchemy import insert

from redshank_shared.stores.backlog import Backlog
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.tables import schedule_runs, schedules, workstreams
from tests.store_fixtures import begin


def schedule(database: Database, name: str, state: str, due_in_seconds: float) -> None:
    values = {
        "schedule_id": name,
        "workstream_id": "ws_1",
        "name": name,
        "kind": "once",
        "state": state,
        "spec": "{}",
        "cadence": "{}",
        "runs": 0,
        "created_at": "",
        "updated_at": "",
        "detail": "",
    }
    with database.begin() as connection:
        due = now_seconds() + due_in_seconds
        connection.execute(insert(schedules).values(**values, next_due=due))


def run(database: Database, name: str, state: str) -> None:
    values = {
        "run_id": name,
        "schedule_id": name,
        "workstream_id": "ws_1",
        "kind": "once",
        "due_at": 1.0,
        "state": state,
        "handed_at": 1.0,
        "node": "",
        "detail": "",
    }
    with database.begin() as connection:
        connection.execute(insert(schedule_runs).values(**values))


def test_an_empty_database_has_nothing_that_waits(database: Database) -> None:
    waiting = Backlog(database).waiting()
    assert (waiting.running, waiting.without_node, waiting.approvals) == (0, 0, 0)
    assert (waiting.overdue, waiting.runs_open) == (0, 0)
    assert (waiting.without_node_seconds, waiting.overdue_seconds) == (0.0, 0.0)
    assert waiting.approvals_since is None


def test_a_held_workstream_runs_until_its_lease_ends_then_it_waits(database: Database) -> None:
    begin(database, "ws_1")
    begin(database, "ws_2")
    begin(database, "ws_3", pending=False, state="idle")
    assert Leases(database).claim("ws_1", "nd_1", 15.0) is not None
    backlog = Backlog(database)
    before = backlog.waiting()
    assert (before.running, before.without_node) == (1, 1)
    with database.begin() as connection:
        ended = workstreams.update().where(workstreams.c.id == "ws_1")
        connection.execute(ended.values(lease_until=now_seconds() - 60.0))
    after = backlog.waiting()
    assert (after.running, after.without_node) == (0, 2)
    assert 60 <= after.without_node_seconds < 90


@pytest.mark.fault("F41")
def test_a_schedule_that_is_due_without_a_run_is_seen_and_so_is_a_run_that_nobody_ends(
    database: Database,
) -> None:
    begin(database, "ws_1")
    schedule(database, "late", "active", -30.0)
    schedule(database, "later", "active", 60.0)
    schedule(database, "paused", "paused", -300.0)
    run(database, "run-1", "handed")
    run(database, "run-2", "started")
    run(database, "run-3", "done")
    waiting = Backlog(database).waiting()
    assert waiting.overdue == 1
    assert 30 <= waiting.overdue_seconds < 60
    assert waiting.runs_open == 2
