"""Hard texts in the stores: NUL, half characters, huge outputs, on both databases."""

import msgspec
import pytest

from redshank_shared.domain.events import AnyFact, CallFinished, MessagePosted, Unknown
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.workstreams import Workstreams
from tests.store_fixtures import appending, begin


def append_facts(database: Database, expected: int, *facts: AnyFact) -> int:
    entry = msgspec.structs.replace(appending(expected), facts=facts)
    return EventLog(database).append(entry)


@pytest.mark.fault("F43")
def test_nul_in_an_output_comes_back_as_it_was(database: Database) -> None:
    begin(database)
    finished = CallFinished(
        call_id="call_1", tool="bash", is_error=False, output="a\0b\x1b[0m", outcome="ok"
    )
    append_facts(database, 1, finished)
    assert EventLog(database).read("ws_1", after=1)[0].fact == finished


@pytest.mark.fault("F43")
def test_half_characters_are_stored_as_replacement_characters(database: Database) -> None:
    begin(database)
    append_facts(
        database,
        1,
        MessagePosted(text="a\ud800b"),
        MessagePosted(text="\ud83d\ude00"),
        Unknown("odd", {"k": ["\udfff"]}),
    )
    assert [recorded.fact for recorded in EventLog(database).read("ws_1", after=1)] == [
        MessagePosted(text="a\ufffdb"),
        MessagePosted(text="\N{GRINNING FACE}"),
        Unknown("odd", {"k": ["\ufffd"]}),
    ]


@pytest.mark.fault("F43")
def test_names_with_nul_or_half_characters_are_listed(database: Database) -> None:
    begin(database, name="a\0b", title="c\ud800", labels=("\0",), detail="\0")
    (row,) = Workstreams(database).page().items
    assert row.projection.name == "a\ufffdb"
    assert row.projection.title == "c\ufffd"


@pytest.mark.fault("F43")
def test_an_output_of_50_mb_is_stored(database: Database) -> None:
    begin(database)
    output = "reed warbler " * (50_000_000 // 13)
    append_facts(
        database,
        1,
        CallFinished(call_id="c", tool="bash", is_error=False, output=output, outcome="ok"),
    )
    fact = EventLog(database).read("ws_1", after=1)[0].fact
    assert isinstance(fact, CallFinished)
    assert fact.output == output
