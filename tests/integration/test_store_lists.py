"""Lists: filters, pages, sums, on both databases."""

import pytest

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import ApprovalRequested, Preview, WaitFor
from redshank_shared.stores.approvals import Approvals
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.paging import encode_cursor
from redshank_shared.stores.workstreams import Totals, WorkstreamFilters, Workstreams
from tests.store_fixtures import AT, appending, begin


def ids(database: Database, **filters: str) -> list[str]:
    page = Workstreams(database).page(WorkstreamFilters(**filters))
    assert page.total == len(page.items)
    return [row.id for row in page.items]


def test_a_page_goes_on_where_the_last_one_ended(database: Database) -> None:
    for number in range(7):
        # Two share each moment, so that the id must decide.
        begin(database, f"ws_{number}", at=f"2026-11-30T08:00:0{number // 2}.000Z")
    store = Workstreams(database)
    seen, cursor = [], None
    while True:
        page = store.page(limit=3, cursor=cursor)
        assert page.total == 7
        seen.append([row.id for row in page.items])
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == [["ws_6", "ws_4", "ws_5"], ["ws_2", "ws_3", "ws_0"], ["ws_1"]]


def test_each_filter_narrows(database: Database) -> None:
    begin(database, "ws_1", state="idle", owner="ana", labels=("marsh", "tide"))
    begin(
        database,
        "ws_2",
        state="waiting",
        owner="bo",
        labels=("Marsh", "marshland"),
        waiting_for=(WaitFor("question", AT), WaitFor("approval", AT)),
    )
    Leases(database).claim("ws_1", "node_a", 60)
    assert ids(database, state="idle") == ["ws_1"]
    assert ids(database, owner="bo") == ["ws_2"]
    assert ids(database, node="node_a") == ["ws_1"]
    assert ids(database, label="marsh") == ["ws_1"]
    assert ids(database, label="mars") == []
    assert ids(database, waiting_for="approval") == ["ws_2"]
    assert ids(database, waiting_for="child") == []
    assert ids(database, state="idle", owner="bo") == []


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("REED", ["ws_1"]),
        ("warbler", ["ws_1"]),
        ("größe", ["ws_2"]),
        ("GRÖSSE", ["ws_2"]),
        ("100%", ["ws_3"]),
        ("_", ["ws_3"]),
        ("%", ["ws_3"]),
        ("\\", ["ws_3"]),
        ("'", []),
        ("", ["ws_1", "ws_2", "ws_3"]),
        ("\0", []),
    ],
)
def test_a_search_takes_every_sign_literally(database: Database, q: str, found: list[str]) -> None:
    begin(database, "ws_1", name="Reed", title="A Warbler")
    begin(database, "ws_2", name="Größe")
    begin(database, "ws_3", name="100%_\\")
    assert ids(database, q=q) == found


INJECTED = ["' OR 1=1 --", "idle'; DROP TABLE workstreams; --", "idle,running", "\0", "IDLE"]


@pytest.mark.fault("F69")
@pytest.mark.parametrize("value", INJECTED)
def test_injected_filters_are_refused_or_find_nothing(database: Database, value: str) -> None:
    begin(database, state="idle")
    for field in ("state", "waiting_for"):
        with pytest.raises(Invalid) as refused:
            Workstreams(database).page(WorkstreamFilters(**{field: value}))
        assert refused.value.field == field
    for field in ("owner", "node", "label", "q"):
        assert ids(database, **{field: value}) == []
    assert ids(database) == ["ws_1"]


@pytest.mark.fault("F69")
@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "!!!!", "a b", encode_cursor(7), encode_cursor(["a"]), encode_cursor({"a": 1})],
)
def test_a_cursor_that_no_list_gave_out_is_refused(database: Database, cursor: str) -> None:
    for page in (Workstreams(database).page, Approvals(database).pending):
        with pytest.raises(Invalid) as refused:
            page(limit=5, cursor=cursor)
        assert refused.value.field == "cursor"


def test_a_cursor_of_odd_letters_is_harmless(database: Database) -> None:
    begin(database)
    cursor = encode_cursor(("9\0' OR 1=1", "x"))
    assert [row.id for row in Workstreams(database).page(cursor=cursor).items] == ["ws_1"]


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_outside_its_bounds_is_refused(database: Database, limit: int) -> None:
    with pytest.raises(Invalid) as refused:
        Workstreams(database).page(limit=limit)
    assert refused.value.field == "limit"


def test_sums_cover_all_workstreams(database: Database) -> None:
    store = Workstreams(database)
    assert store.totals() == Totals(0, 0, 0, 0, 0, 0)
    assert store.counts_by_state() == {}
    begin(database, "ws_1", state="idle", pending=False, input_tokens=10, output_tokens=1)
    begin(database, "ws_2", state="waiting", calls=4, pending_approvals=2, input_tokens=5)
    begin(database, "ws_3", state="waiting", pending=False)
    assert store.counts_by_state() == {"idle": 1, "waiting": 2}
    assert store.totals() == Totals(3, 1, 15, 1, 4, 2)


def test_waiting_approvals_of_all_workstreams_are_one_list(database: Database) -> None:
    for number in range(3):
        begin(database, f"ws_{number}")
        request = ApprovalRequested(
            request_id=f"req_{number}",
            call_id="call_1",
            tool="bash",
            arguments="{}",
            input_digest="d",
            preview=Preview(title="ls"),
        )
        entry = appending(1, workstream_id=f"ws_{number}")
        EventLog(database).append(
            Append(
                workstream_id=entry.workstream_id,
                expected_version=1,
                facts=(request,),
                at=f"2026-11-30T08:00:0{2 - number}.000Z",
                projection=entry.projection,
            )
        )
    approvals = Approvals(database)
    page = approvals.pending(limit=2)
    assert [row.request.request_id for row in page.items] == ["req_2", "req_1"]
    assert page.total == 3
    rest = approvals.pending(limit=2, cursor=page.next_cursor)
    assert [row.request.request_id for row in rest.items] == ["req_0"]
    assert rest.next_cursor is None
    assert approvals.get("req_9") is None
