"""The ledger in both databases: written with its call's end, read back, tampered with, checked."""

from collections.abc import Callable, Sequence

import msgspec
import pytest
from sqlalchemy import Connection, delete, update

from redshank_console.services.forks import forked_facts
from redshank_shared.domain.errors import Fenced, Invalid, VersionMoved
from redshank_shared.domain.events import AnyFact, CallFinished, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number, project
from redshank_shared.domain.workstream import advance, fold
from redshank_shared.ledger.lines import Line, Whole
from redshank_shared.ledger.sealing import Sealer
from redshank_shared.ledger.signing import SigningKey, new_key
from redshank_shared.ledger.verifying import Report, verify
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.ledger import Ledger
from redshank_shared.stores.tables import events, ledger, ledger_keys, workstreams
from tests.unit.ledger_building import AT, BEFORE, WS, Log, finished, interrupted

OTHER = "ws_0000000000000000000002"
THIRD = "ws_0000000000000000000003"


class Stored(Log):
    """A workstream whose facts go into a database, one append a fact, as a node writes them."""

    def __init__(self, database: Database, key: SigningKey, workstream: str = WS) -> None:
        self.database = database
        self.log = EventLog(database)
        super().__init__(key, workstream)

    def append(self, *facts: AnyFact) -> list[AnyFact]:
        before = self.state
        sealed = super().append(*facts)
        if before.version == 0:
            self.log.create(before.id, sealed, AT, project(self.state))
        else:
            self.log.append(
                Append(before.id, before.version, tuple(sealed), AT, project(self.state))
            )
        return sealed


@pytest.fixture
def key(database: Database) -> SigningKey:
    made = new_key()
    Ledger(database).register(made.key_id, made.public_key, BEFORE)
    return made


@pytest.fixture
def stored(database: Database, key: SigningKey) -> Stored:
    """A workstream with four records."""
    log = Stored(database, key)
    for turn in range(1, 5):
        log.run(f"cl_{turn}")
    return log


def checked(database: Database, *whose: str) -> Report:
    """What a check of these workstreams finds."""
    book = Ledger(database)
    lines: list[Line] = [*book.known_keys()]
    for workstream in whose or (WS,):
        lines += book.lines(workstream)
    return verify([*lines, Whole(len(lines))])


def wrongs(database: Database, *whose: str) -> list[tuple[int, str]]:
    return [(each.position, each.wrong) for each in checked(database, *whose).findings]


def tampering(database: Database, work: Callable[[Connection], object]) -> None:
    with database.begin() as connection:
        work(connection)


def at(position: int, workstream: str = WS) -> object:
    return (ledger.c.workstream_id == workstream) & (ledger.c.position == position)


@pytest.mark.req("K-7", "B-8")
def test_records_come_back_in_order_with_the_key_that_signed_them(
    database: Database, stored: Stored
) -> None:
    book = Ledger(database)
    page = book.page(WS, limit=3)
    assert [(each.position, each.call_id) for each in page.items] == [
        (1, "cl_1"),
        (2, "cl_2"),
        (3, "cl_3"),
    ]
    rest = book.page(WS, limit=3, cursor=page.next_cursor)
    assert [each.position for each in rest.items] == [4]
    assert (page.total, rest.next_cursor) == (4, None)
    assert [each.key_id for each in book.known_keys()] == [stored.key.key_id]
    assert checked(database).is_whole
    with pytest.raises(Invalid):
        book.page(WS, cursor="tide")


def test_all_records_are_listed_by_workstream(
    database: Database, stored: Stored, key: SigningKey
) -> None:
    other = Stored(database, key, OTHER)
    other.run("cl_1")
    book = Ledger(database)
    page = book.page(limit=4)
    assert [each.workstream for each in page.items] == [WS] * 4
    rest = book.page(limit=4, cursor=page.next_cursor)
    assert [(each.workstream, each.position) for each in rest.items] == [(OTHER, 1)]
    assert book.workstreams("", 1) == [WS]
    assert book.workstreams(WS) == [OTHER]
    assert checked(database, WS, OTHER).records == 5


def test_a_key_is_written_down_once(database: Database, key: SigningKey) -> None:
    Ledger(database).register(key.key_id, key.public_key, AT)
    assert [each.created_at for each in Ledger(database).known_keys()] == [BEFORE]


@pytest.mark.req("B-8")
def test_several_records_of_one_append_are_chained(database: Database, key: SigningKey) -> None:
    log = Stored(database, key)
    log.begin({"cl_1": "process", "cl_2": "network", "cl_3": "read"})
    log.append(interrupted("cl_1"), interrupted("cl_2", "network"), interrupted("cl_3", "read"))
    assert [each.position for each in Ledger(database).page(WS).items] == [1, 2]
    assert checked(database).is_whole


@pytest.mark.req("B-8")
def test_an_append_that_is_refused_leaves_neither_result_nor_record(
    database: Database, stored: Stored
) -> None:
    stored.begin({"cl_5": "process"})
    state, sealer = stored.state, Sealer(stored.key)
    claim = Leases(database).claim(state.id, "nd_1", 15.0)
    assert claim is not None

    def entry(facts: Sequence[AnyFact], expected: int, epoch: int) -> Append:
        after = advance(state, number(state.version, AT, list(facts)))
        return Append(
            state.id, expected, tuple(facts), AT, project(after), epoch=epoch, node_id="nd_1"
        )

    facts = sealer.sealed(state, [finished("cl_5")], AT)
    with pytest.raises(VersionMoved):
        stored.log.append(entry(facts, state.version - 1, claim.epoch))
    with pytest.raises(Fenced):
        stored.log.append(entry(facts, state.version, claim.epoch + 1))
    assert Ledger(database).page(WS).total == 4
    assert stored.log.count(WS) == state.version

    stored.log.append(entry(facts, state.version, claim.epoch))
    assert Ledger(database).page(WS).total == 5
    assert checked(database).is_whole


@pytest.mark.req("B-8")
def test_any_node_goes_on_with_the_chain_from_the_log_alone(
    database: Database, stored: Stored
) -> None:
    other = new_key()
    Ledger(database).register(other.key_id, other.public_key, AT)
    stored.state = fold(WorkstreamId(WS), stored.log.read(WS))
    stored.key = other
    stored.run("cl_5")
    report = checked(database)
    assert (report.is_whole, report.records, len(report.keys)) == (True, 5, 2)


@pytest.mark.req("B-8")
def test_a_changed_record_is_found_by_its_place(database: Database, stored: Stored) -> None:
    row = Ledger(database).page(WS).items[1]
    said = row.record.replace("marsh-1", "marsh-2")
    tampering(database, lambda c: c.execute(update(ledger).where(at(2)).values(record=said)))
    assert wrongs(database) == [(2, "changed")]


@pytest.mark.req("B-8")
@pytest.mark.parametrize("position", [1, 3, 4])
def test_a_missing_record_is_found_by_its_place(
    database: Database, stored: Stored, position: int
) -> None:
    tampering(database, lambda c: c.execute(delete(ledger).where(at(position))))
    assert wrongs(database) == [(position, "missing")]


@pytest.mark.req("B-8")
def test_reordered_records_are_found_by_their_places(database: Database, stored: Stored) -> None:
    def swap(connection: Connection) -> None:
        for old, new in ((2, 99), (3, 2), (99, 3)):
            connection.execute(update(ledger).where(at(old)).values(position=new))

    tampering(database, swap)
    assert wrongs(database) == [(2, "reordered"), (3, "reordered")]


@pytest.mark.req("B-8")
def test_a_record_of_another_workstream_is_found(
    database: Database, stored: Stored, key: SigningKey
) -> None:
    other = Stored(database, key, OTHER)
    other.run("cl_1")

    def move(connection: Connection) -> None:
        connection.execute(delete(ledger).where(at(1)))
        connection.execute(update(ledger).where(at(1, OTHER)).values(workstream_id=WS))

    tampering(database, move)
    assert wrongs(database, WS, OTHER) == [(1, "foreign"), (1, "missing")]


@pytest.mark.req("B-8")
def test_a_record_of_a_stranger_s_key_is_found(database: Database, stored: Stored) -> None:
    stranger = new_key()
    row = Ledger(database).page(WS).items[3]
    values = {"key_id": stranger.key_id, "signature": stranger.sign(row.record)}
    tampering(database, lambda c: c.execute(update(ledger).where(at(4)).values(values)))
    assert wrongs(database) == [(4, "foreign")]
    tampering(database, lambda c: c.execute(delete(ledger_keys)))
    assert {wrong for _, wrong in wrongs(database)} == {"foreign"}


@pytest.mark.req("B-8")
def test_an_output_that_was_rewritten_in_the_log_is_found(
    database: Database, stored: Stored
) -> None:
    end = stored.log.read(WS)[-1]
    assert isinstance(end.fact, CallFinished)

    def rewrite(connection: Connection) -> None:
        row = (events.c.workstream_id == WS) & (events.c.seq == end.seq)
        text = connection.execute(events.select().where(row)).one().fact
        said = text.replace("is done", "was not done")
        connection.execute(update(events).where(row).values(fact=said))

    tampering(database, rewrite)
    assert wrongs(database) == [(4, "changed")]


@pytest.mark.req("B-8")
def test_records_of_a_workstream_that_is_gone_are_found(database: Database, stored: Stored) -> None:
    def forget(connection: Connection) -> None:
        connection.execute(delete(events))
        connection.execute(delete(workstreams))

    tampering(database, forget)
    assert Ledger(database).workstreams("") == [WS]
    assert {wrong for _, wrong in wrongs(database)} == {"foreign"}


@pytest.mark.req("B-8", "B-4")
def test_a_fork_begins_a_ledger_of_its_own(
    database: Database, stored: Stored, key: SigningKey
) -> None:
    log = stored.log.read(WS)
    made = iter(range(100))
    facts = forked_facts(log, WorkstreamId(WS), "bo", AT, lambda: f"apr_{next(made)}")
    first = facts[0]
    assert isinstance(first, WorkstreamCreated)
    facts[0] = msgspec.structs.replace(first, forked_at=len(log))
    fork = Stored.__new__(Stored)
    fork.database, fork.log, fork.key, fork.facts = database, stored.log, key, []
    fork.state = fold(WorkstreamId(THIRD), number(0, AT, facts))
    stored.log.create(THIRD, facts, AT, project(fork.state))
    assert Ledger(database).page(THIRD).total == 0
    assert checked(database, THIRD).is_whole

    fork.run("cl_of_the_fork")
    report = checked(database, THIRD)
    assert (report.is_whole, report.records) == (True, 1)
