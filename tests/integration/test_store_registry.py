"""The registry, tokens, the outbox, on both databases."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from redshank_shared.domain.errors import Conflict
from redshank_shared.stores.database import Database
from redshank_shared.stores.outbox import Delivery, Outbox
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.stores.tokens import TokenRow, Tokens

AT = "2026-11-30T08:15:00.250Z"
NODE = ServiceRow("nd_1", "node", "http://127.0.0.1:8081", "0.1.0", AT, '{"turns":0}')
TOKEN = TokenRow("hash-1", "api", "ana", "admin")


def test_a_process_that_registered_is_live(database: Database) -> None:
    services = Services(database)
    services.register(NODE)
    services.register(msgspec.structs.replace(NODE, service_id="cs_1", kind="console"))
    (row,) = services.live("node", within_seconds=30)
    assert msgspec.structs.replace(row, age_seconds=0.0) == NODE
    assert 0 <= row.age_seconds < 30


def test_a_heartbeat_brings_a_new_report(database: Database) -> None:
    services = Services(database)
    assert not services.heartbeat("nd_1", "{}")
    services.register(NODE)
    assert services.heartbeat("nd_1", '{"turns":3}')
    assert [row.report for row in services.all("node")] == ['{"turns":3}']


def test_a_silent_process_is_listed_but_not_live(database: Database) -> None:
    services = Services(database)
    services.register(NODE)
    assert services.live("node", within_seconds=-1) == []
    assert len(services.all("node")) == 1
    assert services.forget(silent_for_seconds=60) == 0
    assert services.forget(silent_for_seconds=-1) == 1
    assert services.all("node") == []


def test_a_process_that_left_is_gone(database: Database) -> None:
    services = Services(database)
    services.register(NODE)
    services.register(msgspec.structs.replace(NODE, address="http://127.0.0.1:9000"))
    assert [row.address for row in services.all("node")] == ["http://127.0.0.1:9000"]
    services.leave("nd_1")
    assert services.all("node") == []


def test_a_token_is_found_until_it_is_revoked(database: Database) -> None:
    tokens = Tokens(database)
    assert tokens.find("hash-1") is None
    tokens.put(TOKEN)
    tokens.put(TOKEN)
    assert tokens.find("hash-1") == TOKEN
    assert tokens.revoke("hash-1")
    assert not tokens.revoke("hash-1")
    assert tokens.find("hash-1") is None


def test_an_expired_token_is_as_good_as_none(database: Database) -> None:
    tokens = Tokens(database)
    tokens.put(msgspec.structs.replace(TOKEN, expires_at=1.0))
    assert tokens.find("hash-1") is None
    assert tokens.take("hash-1") is None
    lasting = msgspec.structs.replace(TOKEN, expires_at=9e9)
    tokens.put(lasting)
    assert tokens.find("hash-1") == lasting


def test_a_sign_in_token_is_taken_by_one_caller(database: Database) -> None:
    tokens = Tokens(database)
    tokens.put(msgspec.structs.replace(TOKEN, kind="signin"))
    with ThreadPoolExecutor(5) as threads:
        taken = list(threads.map(lambda _: tokens.take("hash-1"), range(10)))
    assert [row.name for row in taken if row is not None] == ["ana"]


def test_deliveries_are_due_in_order(database: Database) -> None:
    outbox = Outbox(database)
    later = Delivery("dl_3", "ws_1", "notify", "{}", AT)
    outbox.add(later, in_seconds=600)
    outbox.add(msgspec.structs.replace(later, delivery_id="dl_2"), in_seconds=-5)
    outbox.add(msgspec.structs.replace(later, delivery_id="dl_1"), in_seconds=-1)
    assert [one.delivery_id for one in outbox.due()] == ["dl_2", "dl_1"]
    assert [one.delivery_id for one in outbox.due(limit=1)] == ["dl_2"]
    with pytest.raises(Conflict):
        outbox.add(later)
