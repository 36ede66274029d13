"""Leases: one holder at a time, nobody forgotten, on both databases."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from redshank_shared.domain.events import MessagePosted, Recorded
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.leases import Claim, Held, Leases
from redshank_shared.stores.workstreams import Workstreams
from tests.store_fixtures import PostgresTemplate, appending, begin


def test_a_claim_takes_the_lease_once(database: Database) -> None:
    begin(database)
    leases = Leases(database)
    assert leases.claim("ws_1", "node_a", 60) == Claim(1, 1, 1, None)
    assert leases.claim("ws_1", "node_b", 60) is None
    assert leases.claim("ws_1", "node_a", 60) is None
    assert leases.claim("ws_none", "node_a", 60) is None
    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert (row.lease_node, row.lease_alive) == ("node_a", True)


def test_of_many_claimants_one_gets_the_lease(database: Database) -> None:
    begin(database)
    leases = Leases(database)
    with ThreadPoolExecutor(5) as threads:
        claims = list(threads.map(lambda n: leases.claim("ws_1", f"node_{n}", 60), range(20)))
    assert [claim for claim in claims if claim is not None] == [Claim(1, 1, 1, None)]


def test_nothing_pending_is_nothing_to_claim(database: Database) -> None:
    begin(database, pending=False)
    assert Leases(database).claim("ws_1", "node_a", 60) is None


@pytest.mark.fault("F26")
def test_a_lease_that_ran_out_is_taken_and_its_holder_named(database: Database) -> None:
    begin(database)
    leases = Leases(database)
    leases.claim("ws_1", "node_a", -1)
    assert leases.claim("ws_1", "node_b", 60) == Claim(1, 2, 2, "node_a")


def test_progress_of_a_holder_sets_the_attempts_back(database: Database) -> None:
    begin(database)
    leases = Leases(database)
    for epoch in range(1, 4):
        assert leases.claim("ws_1", "node_a", -1) == Claim(
            1, epoch, epoch, "node_a" if epoch > 1 else None
        )
    EventLog(database).append(appending(1, "progress", epoch=3, node_id="node_a"))
    assert leases.claim("ws_1", "node_a", -1) == Claim(2, 4, 1, "node_a")


def test_a_claim_brings_what_is_newer_than_known(database: Database) -> None:
    begin(database)
    EventLog(database).append(appending(1, "one", "two"))
    leases = Leases(database)
    taken = leases.claim_and_read("ws_1", "node_a", 60, known_version=2)
    assert taken is not None
    claim, recorded = taken
    assert claim == Claim(3, 1, 1, None)
    assert [(one.seq, one.fact) for one in recorded] == [(3, MessagePosted(text="two"))]
    assert leases.claim_and_read("ws_1", "node_b", 60, known_version=0) is None


@pytest.mark.fault("F45")
def test_a_claim_that_waited_for_an_append_brings_that_too(
    postgres: PostgresTemplate,
) -> None:
    """One statement reads the log as it was before it waited for the row."""
    database = Database(postgres.server.url(postgres.server.create_database(postgres.migrated())))
    begin(database)
    taken: list[tuple[Claim, list[Recorded]] | None] = []
    claiming = threading.Thread(
        target=lambda: taken.append(Leases(database).claim_and_read("ws_1", "node_a", 60, 1))
    )
    with database.begin() as connection:
        connection.exec_driver_sql("UPDATE workstreams SET version = 2 WHERE id = 'ws_1'")
        connection.exec_driver_sql(
            "INSERT INTO events (workstream_id, seq, kind, at, fact) VALUES "
            """('ws_1', 2, 'message.user', 'now', '{"kind":"message.user","text":"late"}')"""
        )
        claiming.start()
        until_one_waits(database)
    claiming.join()
    assert taken[0] is not None
    claim, recorded = taken[0]
    assert claim.version == 2
    assert [(one.seq, one.fact) for one in recorded] == [(2, MessagePosted(text="late"))]
    database.close()


def until_one_waits(database: Database) -> None:
    """Until a statement of this database waits for a lock."""
    waiting = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with database.read() as connection:
            if connection.exec_driver_sql(waiting).scalar():
                return
        time.sleep(0.01)
    raise TimeoutError("no statement waits for a lock")


def test_renewal_returns_what_the_node_still_has(database: Database) -> None:
    leases = Leases(database)
    for number in range(3):
        begin(database, f"ws_{number}")
        leases.claim(f"ws_{number}", "node_a", -1)
    leases.claim("ws_1", "node_b", 60)

    assert leases.renew("node_a", 60) == {"ws_0": Held(1, 1), "ws_2": Held(1, 1)}
    assert leases.claim("ws_0", "node_b", 60) is None
    assert leases.renew("node_c", 60) == {}


def test_a_node_that_stops_in_order_gives_its_lease_back(database: Database) -> None:
    begin(database)
    leases = Leases(database)
    claim = leases.claim("ws_1", "node_a", 60)
    assert claim is not None
    assert not leases.release("ws_1", "node_b", claim.epoch)
    assert not leases.release("ws_1", "node_a", claim.epoch + 1)
    assert leases.release("ws_1", "node_a", claim.epoch)
    again = leases.claim("ws_1", "node_b", 60)
    assert again is not None
    assert again.previous is None


@pytest.mark.fault("F26")
def test_what_nobody_alive_holds_is_due_oldest_first(database: Database) -> None:
    leases = Leases(database)
    begin(database, "ws_released", directed_to="node-1")
    begin(database, "ws_held")
    begin(database, "ws_at_rest", pending=False)
    begin(database, "ws_expired")
    begin(database, "ws_asks")
    leases.claim("ws_held", "node_a", 60)
    leases.claim("ws_expired", "node_a", -30)
    claim = leases.claim("ws_released", "node_a", 60)
    assert claim is not None
    leases.release("ws_released", "node_a", claim.epoch)

    due = leases.due_for_nudge(idle_seconds=-1)
    assert [one.workstream_id for one in due] == ["ws_expired", "ws_asks", "ws_released"]
    assert [one.directed_to for one in due] == ["", "", "node-1"]
    first = leases.due_for_nudge(idle_seconds=-1, limit=1)
    assert first == due[:1]
    assert leases.due_for_nudge(idle_seconds=-1, after=first[0]) == due[1:]
    assert [one.workstream_id for one in leases.due_for_nudge(idle_seconds=10)] == ["ws_expired"]


def test_pending_since_stays_while_more_arrives(database: Database) -> None:
    begin(database)
    workstreams = Workstreams(database)
    before = workstreams.get("ws_1")
    EventLog(database).append(appending(1, "more"))
    after = workstreams.get("ws_1")
    assert before is not None
    assert after is not None
    assert before.pending_since == after.pending_since
    assert before.pending_since is not None


def test_a_lead_is_kept_by_its_holder_until_it_runs_out(database: Database) -> None:
    leases = Leases(database)
    assert leases.leader("clock", "node_a", 60)
    assert not leases.leader("clock", "node_b", 60)
    assert leases.leader("other", "node_b", 60)
    assert leases.leader("clock", "node_a", -1)
    assert leases.leader("clock", "node_b", 60)
    assert not leases.leader("clock", "node_a", 60)


def test_a_lead_is_given_up_by_its_holder_only(database: Database) -> None:
    leases = Leases(database)
    assert leases.leader("clock", "node_a", 60)
    leases.leave("clock", "node_b")
    assert not leases.leader("clock", "node_b", 60)
    leases.leave("clock", "node_a")
    assert leases.leader("clock", "node_b", 60)


def test_of_many_that_would_lead_one_does(database: Database) -> None:
    leases = Leases(database)
    with ThreadPoolExecutor(5) as threads:
        leads = list(threads.map(lambda n: leases.leader("clock", f"node_{n}", 60), range(10)))
    assert sum(leads) == 1
