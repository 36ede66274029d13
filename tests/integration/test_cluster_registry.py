"""What the census asks of the registry, on both databases."""

import msgspec

from redshank_shared.stores.database import Database
from redshank_shared.stores.services import Beat, ServiceRow, Services

AT = "2026-11-30T08:15:00.250Z"
NODE = ServiceRow("nd_1", "node", "http://127.0.0.1:8081", "0.1.0", AT, '{"slots":4}')
GATEWAY = ServiceRow("gw_1", "gateway", "http://127.0.0.1:8091", "0.1.0", AT, "{}")


def test_beats_are_of_every_kind_with_their_age(database: Database) -> None:
    services = Services(database)
    services.register(NODE)
    services.register(GATEWAY)
    beats = sorted(services.beats(), key=lambda beat: beat.service_id)
    assert [msgspec.structs.replace(beat, age_seconds=0.0) for beat in beats] == [
        Beat("gw_1", "gateway", "0.1.0", 0.0),
        Beat("nd_1", "node", "0.1.0", 0.0),
    ]
    assert all(0 <= beat.age_seconds < 30 for beat in beats)


def test_rows_are_found_by_their_ids_however_many(database: Database) -> None:
    services = Services(database)
    services.register(NODE)
    services.register(GATEWAY)
    wanted = [f"nd_{number}" for number in range(1200)]
    assert [row.service_id for row in services.named(wanted)] == ["nd_1"]
    assert services.named([]) == []


def test_a_process_tells_of_itself_again_and_again_under_one_id(database: Database) -> None:
    services = Services(database)
    assert services.tell(GATEWAY)
    later = msgspec.structs.replace(GATEWAY, version="0.2.0", started_at="", report='{"x":1}')
    assert services.tell(later)
    (row,) = services.all("gateway")
    assert (row.version, row.report, row.started_at) == ("0.2.0", '{"x":1}', AT)


def test_the_row_of_another_kind_is_not_touched(database: Database) -> None:
    services = Services(database)
    services.register(NODE)
    assert not services.tell(msgspec.structs.replace(GATEWAY, service_id="nd_1"))
    (row,) = services.all("node")
    assert msgspec.structs.replace(row, age_seconds=0.0) == NODE
