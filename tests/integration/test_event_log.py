"""The log's promises, on both databases."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from redshank_shared.domain.errors import (
    Conflict,
    Fenced,
    Invalid,
    Misconfigured,
    NotFound,
    VersionMoved,
)
from redshank_shared.domain.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallDecided,
    MessagePosted,
    Preview,
    Recorded,
    Unknown,
    WaitFor,
    WorkstreamCreated,
    encode_recorded,
    kind_of,
)
from redshank_shared.domain.projection import Projection
from redshank_shared.stores.approvals import Approvals
from redshank_shared.stores.audits import Audits
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.idempotency import Idempotency, IdempotencyEntry, IdempotencyRace
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.paging import Page
from redshank_shared.stores.workstreams import Workstreams
from tests.store_fixtures import AT, appending, begin, projected

REQUEST = ApprovalRequested(
    request_id="req_1",
    call_id="call_1",
    tool="bash",
    arguments='{"command":"rm reed"}',
    input_digest="d1",
    preview=Preview(title="rm reed", kind="command", body="a\0b"),
)
RESOLVED = ApprovalResolved(
    request_id="req_1", call_id="call_1", behavior="allow", by="ana", reason="tidy"
)
DECIDED = CallDecided(
    call_id="call_1",
    tool="bash",
    canonical="bash",
    effect="process",
    decision="ask",
    base_decision="ask",
    effective_mode="default",
    pattern="bash",
    scope="project",
    origin="rule",
    why="it starts a process",
    input_digest="d1",
)


def append_facts(database: Database, expected: int, *facts: object) -> int:
    entry = msgspec.structs.replace(appending(expected), facts=facts)
    return EventLog(database).append(entry)


def test_facts_come_back_in_order_under_consecutive_numbers(database: Database) -> None:
    log = EventLog(database)
    assert begin(database) == 1
    assert log.append(appending(1, "one", "two")) == 3

    assert log.read("ws_1") == [
        Recorded(1, AT, WorkstreamCreated(name="reed", owner="ana")),
        Recorded(2, AT, MessagePosted(text="one")),
        Recorded(3, AT, MessagePosted(text="two")),
    ]
    assert [recorded.seq for recorded in log.read("ws_1", after=1, limit=1)] == [2]
    assert log.count("ws_1") == 3
    assert log.read("ws_unknown") == []


def test_encoded_events_are_the_bytes_that_a_stream_carries(database: Database) -> None:
    log = EventLog(database)
    begin(database)
    append_facts(database, 1, MessagePosted(text="é\0\u2028"), Unknown("tide.turned", {"m": 3}))

    expected = [
        (recorded.seq, kind_of(recorded.fact), encode_recorded(recorded))
        for recorded in log.read("ws_1", after=1)
    ]
    assert log.read_encoded("ws_1", after=1) == expected
    assert log.read("ws_1", after=2) == [Recorded(3, AT, Unknown("tide.turned", {"m": 3}))]


def test_the_row_shows_the_last_projection(database: Database) -> None:
    begin(database)
    shown = Projection(
        name="heron",
        owner="bo",
        state="waiting",
        pending=False,
        title="Counting herons",
        profile="kheish",
        persona="birder",
        mode="plan",
        model="qwen3",
        labels=("marsh", 'a "b"'),
        parent="ws_0",
        directed_to="node-1",
        waiting_for=(WaitFor("approval", AT, "bash"), WaitFor("question", AT)),
        input_tokens=2**40,
        output_tokens=2,
        calls=3,
        detail="waits",
        pending_approvals=1,
    )
    later = "2026-11-30T09:00:00.000Z"
    EventLog(database).append(
        msgspec.structs.replace(appending(1, "x"), projection=shown, at=later)
    )

    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert row.projection == shown
    assert (row.version, row.created_at, row.updated_at) == (2, AT, later)
    assert row.pending_since is None
    assert Workstreams(database).get("ws_2") is None


def test_an_append_behind_an_old_version_writes_nothing(database: Database) -> None:
    begin(database)
    EventLog(database).append(appending(1, "first"))
    with pytest.raises(VersionMoved):
        EventLog(database).append(appending(1, "second"))
    assert EventLog(database).count("ws_1") == 2


def test_an_append_to_a_workstream_that_is_not_there_says_so(database: Database) -> None:
    with pytest.raises(NotFound):
        EventLog(database).append(appending(0, "x", workstream_id="ws_none"))


def test_a_taken_id_cannot_be_created_again(database: Database) -> None:
    begin(database)
    with pytest.raises(Conflict):
        begin(database)
    assert EventLog(database).count("ws_1") == 1


def test_concurrent_appends_lose_nothing(database: Database) -> None:
    log = EventLog(database)
    begin(database)

    def post(writer: int) -> None:
        for number in range(15):
            while True:
                try:
                    log.append(appending(log.count("ws_1"), f"{writer}-{number}"))
                    break
                except VersionMoved:
                    continue

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(post, range(4)))

    recorded = log.read("ws_1")
    assert [one.seq for one in recorded] == list(range(1, 62))
    texts = [one.fact.text for one in recorded if isinstance(one.fact, MessagePosted)]
    assert sorted(texts) == sorted(f"{w}-{n}" for w in range(4) for n in range(15))
    assert all(
        [text for text in texts if text.startswith(f"{w}-")] == [f"{w}-{n}" for n in range(15)]
        for w in range(4)
    )


@pytest.mark.fault("F45")
def test_a_holder_whose_lease_was_taken_over_is_refused(database: Database) -> None:
    begin(database)
    leases = Leases(database)
    first = leases.claim("ws_1", "node_a", lease_seconds=-1)
    second = leases.claim("ws_1", "node_b", lease_seconds=60)
    assert first is not None
    assert second is not None

    with pytest.raises(Fenced):
        EventLog(database).append(appending(1, "late", epoch=first.epoch, node_id="node_a"))
    with pytest.raises(Fenced):
        EventLog(database).append(appending(1, "late", epoch=second.epoch, node_id="node_a"))
    assert EventLog(database).count("ws_1") == 1
    held = appending(1, "mine", epoch=second.epoch, node_id="node_b")
    assert EventLog(database).append(held) == 2


def test_rest_releases_the_lease_with_the_last_facts(database: Database) -> None:
    begin(database)
    claim = Leases(database).claim("ws_1", "node_a", 60)
    assert claim is not None
    EventLog(database).append(
        appending(1, "done", pending=False, epoch=claim.epoch, node_id="node_a", release=True)
    )
    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert (row.lease_node, row.lease_alive, row.attempts) == (None, False, 0)
    assert row.lease_epoch == claim.epoch


def test_rest_is_refused_when_something_arrived(database: Database) -> None:
    begin(database)
    claim = Leases(database).claim("ws_1", "node_a", 60)
    assert claim is not None
    EventLog(database).append(appending(1, "from a person"))
    with pytest.raises(VersionMoved):
        EventLog(database).append(
            appending(1, "done", pending=False, epoch=claim.epoch, node_id="node_a", release=True)
        )
    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert row.lease_node == "node_a"
    assert row.projection.pending


def test_an_append_of_others_leaves_the_lease_and_its_attempts(database: Database) -> None:
    begin(database)
    Leases(database).claim("ws_1", "node_a", 60)
    EventLog(database).append(appending(1, "from a person"))
    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert (row.lease_node, row.attempts) == ("node_a", 1)


def test_an_approval_is_a_row_from_request_to_answer(database: Database) -> None:
    begin(database)
    append_facts(database, 1, DECIDED, REQUEST)
    waiting = Approvals(database).get("req_1")
    assert waiting is not None
    assert (waiting.state, waiting.request, waiting.workstream_id) == ("pending", REQUEST, "ws_1")

    append_facts(database, 3, RESOLVED)
    answered = Approvals(database).get("req_1")
    assert answered is not None
    assert (answered.state, answered.resolved_by, answered.reason) == ("allowed", "ana", "tidy")
    assert answered.resolved_at == AT
    assert Approvals(database).pending() == Page((), None, 0)
    assert Approvals(database).of_workstream("ws_1") == [answered]


def test_an_approval_is_answered_once(database: Database) -> None:
    begin(database)
    append_facts(database, 1, REQUEST)
    append_facts(database, 2, RESOLVED)
    with pytest.raises(Conflict) as refused:
        append_facts(database, 3, msgspec.structs.replace(RESOLVED, behavior="deny"))
    assert refused.value.code == "approval_resolved"
    assert EventLog(database).count("ws_1") == 3
    answered = Approvals(database).get("req_1")
    assert answered is not None
    assert answered.state == "allowed"


def test_every_decision_is_an_audit_in_the_logs_order(database: Database) -> None:
    begin(database)
    second = msgspec.structs.replace(DECIDED, call_id="call_2", decision="deny")
    append_facts(database, 1, DECIDED, MessagePosted(text="between"), second)

    audits = Audits(database)
    page = audits.of_workstream("ws_1", limit=1)
    assert [(row.seq, row.decided) for row in page.items] == [(2, DECIDED)]
    assert page.total == 2
    rest = audits.of_workstream("ws_1", limit=1, cursor=page.next_cursor)
    assert [(row.seq, row.at, row.decided) for row in rest.items] == [(4, AT, second)]
    assert rest.next_cursor is None


def test_an_answer_under_a_key_is_written_with_its_facts(database: Database) -> None:
    begin(database)
    entry = IdempotencyEntry("ana:messages", "key-1", "digest", 202, '{"seq":2}')
    EventLog(database).append(appending(1, "x", idempotency=entry))
    assert Idempotency(database).find("ana:messages", "key-1") == entry
    assert Idempotency(database).find("ana:messages", "key-2") is None
    assert Idempotency(database).find("bo:messages", "key-1") is None


def test_the_second_writer_of_a_key_writes_nothing(database: Database) -> None:
    begin(database)
    entry = IdempotencyEntry("ana:messages", "key-1", "digest", 202, "{}")
    EventLog(database).append(appending(1, "x", idempotency=entry))
    with pytest.raises(IdempotencyRace):
        EventLog(database).append(appending(2, "y", idempotency=entry))
    assert EventLog(database).count("ws_1") == 2
    row = Workstreams(database).get("ws_1")
    assert row is not None
    assert row.version == 2


def test_of_many_creations_under_one_key_one_is_written(database: Database) -> None:
    log = EventLog(database)
    entry = IdempotencyEntry("ana:workstreams", "key-1", "digest", 201, "{}")

    def create(number: int) -> bool:
        facts = [WorkstreamCreated(name="reed", owner="ana")]
        try:
            log.create(f"ws_{number}", facts, AT, projected(), entry)
        except IdempotencyRace:
            return False
        return True

    with ThreadPoolExecutor(5) as threads:
        assert sum(threads.map(create, range(10))) == 1
    assert Workstreams(database).page().total == 1


def test_keys_are_forgotten_by_age(database: Database) -> None:
    begin(database)
    entry = IdempotencyEntry("s", "k", "d", 202, "{}")
    EventLog(database).append(appending(1, "x", idempotency=entry))
    keys = Idempotency(database)
    assert keys.forget(older_than_seconds=3600) == 0
    assert keys.find("s", "k") == entry
    assert keys.forget(older_than_seconds=-1) == 1
    assert keys.find("s", "k") is None


def test_a_log_of_10000_facts_is_read_whole(database: Database) -> None:
    begin(database)
    facts = tuple(MessagePosted(text=f"message {number}") for number in range(10_000))
    append_facts(database, 1, *facts)
    assert [one.fact for one in EventLog(database).read("ws_1", after=1)] == list(facts)
    assert len(EventLog(database).read_encoded("ws_1", after=5_000)) == 5_001


def test_a_number_beyond_the_databases_is_refused(database: Database) -> None:
    with pytest.raises(Invalid, match="too large"):
        EventLog(database).read("ws_1", after=2**70)


def test_a_database_without_tables_says_how_to_get_them(empty_database_url: str) -> None:
    opened = Database(empty_database_url)
    with pytest.raises(Misconfigured, match="redshank migrate"):
        EventLog(opened).read("ws_1")
    opened.close()


def test_an_append_may_release_without_a_fact(database: Database) -> None:
    begin(database)
    claim = Leases(database).claim("ws_1", "node_a", 60)
    assert claim is not None
    entry = Append(
        workstream_id="ws_1",
        expected_version=1,
        facts=(),
        at=AT,
        projection=projected(pending=False),
        epoch=claim.epoch,
        node_id="node_a",
        release=True,
    )
    assert EventLog(database).append(entry) == 1
    assert Leases(database).renew("node_a", 60) == {}
