"""Which workstream refers to which kept bytes; what nobody refers to is collected."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from redshank_node.dueclock.clock_lead import ClockLead
from redshank_node.dueclock.collecting import Collecting, collectable
from redshank_node.engine.artifacts import WorkstreamArtifacts
from redshank_shared.clock import rfc3339
from redshank_shared.domain.artifact_events import (
    AssetPart,
    OutputEmitted,
    PreviewOpened,
    TextPart,
)
from redshank_shared.domain.artifacts import digests_of
from redshank_shared.domain.events import AnyFact, CallFinished
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.images import KeptImage
from redshank_shared.queue.connection import connect
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.assets import Assets, Unreferred
from redshank_shared.stores.database import Database
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.migrations.versions import v0004_artifacts
from redshank_shared.stores.tables import workstreams
from tests.fakes.valkey import Valkey
from tests.integration.kept_assets import append, refer
from tests.store_fixtures import AT, begin

pytestmark = pytest.mark.req("T-33")

ONE, TWO = WorkstreamId("ws_1"), WorkstreamId("ws_2")
NOW = datetime(2026, 12, 24, 12, tzinfo=UTC)


def kept(database: Database, body: bytes, age: timedelta = timedelta(days=2)) -> str:
    """The digest of bytes that were kept so long ago."""
    return Assets(database).put(body, "text/plain", rfc3339(NOW - age))


@pytest.fixture
def lead(database: Database, valkey: Valkey) -> ClockLead:
    return ClockLead(database, Leases(database), Dispatch(connect(valkey.url)), "marsh-1")


@pytest.fixture
def collecting(database: Database, lead: ClockLead) -> Collecting:
    return Collecting(database, lead, lambda: NOW, page=2)


def finished(**fields: object) -> CallFinished:
    return CallFinished("call_1", "bash", False, "", "ok", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fact", "digests"),
    [
        (finished(), ()),
        (finished(asset="sha256:a"), ("sha256:a",)),
        (finished(images=(KeptImage("sha256:b", "image/png", 1),)), ("sha256:b",)),
        (PreviewOpened("web", "t", "sha256:c", "s", "text/html", 1), ("sha256:c",)),
        (OutputEmitted("call_1", (TextPart("a"), AssetPart("sha256:d"))), ("sha256:d",)),
    ],
)
def test_a_fact_says_what_it_refers_to(fact: AnyFact, digests: tuple[str, ...]) -> None:
    assert digests_of(fact) == digests


def test_the_log_makes_the_reference_in_the_same_append(database: Database) -> None:
    begin(database, ONE)
    begin(database, TWO)
    digest = kept(database, b"tides")
    assets = Assets(database)
    assert assets.referred(digest) is None

    append(database, ONE, finished(asset=digest), finished(asset=digest))
    append(database, ONE, PreviewOpened("text", "t", digest, "s", "text/plain", 5))

    found = assets.referred(digest, ONE)
    assert found is not None
    assert found.body == b"tides"
    assert assets.referred(digest) == found
    assert assets.referred(digest, TWO) is None


async def test_what_a_call_keeps_is_its_own_once_the_log_says_so(database: Database) -> None:
    begin(database, ONE)
    begin(database, TWO)
    mine, other = (WorkstreamArtifacts(database, ws, lambda: AT) for ws in (ONE, TWO))

    made = await mine.keep(b"tides", "text/plain")
    assert await mine.find(made.digest) is None
    refer(database, ONE, made.digest)

    assert await mine.find(made.digest) == made
    assert await other.find(made.digest) is None


async def test_what_no_workstream_refers_to_goes_after_a_day(
    database: Database, collecting: Collecting
) -> None:
    begin(database, ONE)
    used = kept(database, b"used")
    young = kept(database, b"young", timedelta(hours=23))
    old = [kept(database, bytes([number])) for number in range(5)]
    refer(database, ONE, used)

    assert await collecting.collect() == 5

    assets = Assets(database)
    assert all(assets.get(digest) is None for digest in old)
    assert assets.get(used) is not None
    assert assets.get(young) is not None
    assert await collecting.collect() == 0


async def test_what_a_removed_workstream_referred_to_goes_with_it(
    database: Database, collecting: Collecting
) -> None:
    begin(database, ONE)
    begin(database, TWO)
    shared, own = kept(database, b"shared"), kept(database, b"own")
    refer(database, ONE, shared, own)
    refer(database, TWO, shared)
    with database.begin() as connection:
        connection.execute(workstreams.delete().where(workstreams.c.id == ONE))

    await collecting.collect()

    assert Assets(database).get(own) is None
    assert Assets(database).referred(shared, TWO) is not None


def test_bytes_that_are_kept_anew_are_young_again(database: Database) -> None:
    assets = Assets(database)
    kept(database, b"tides")
    found = assets.unreferred(10)
    digest = kept(database, b"tides", timedelta())

    assert assets.remove(found) == 0
    assert assets.get(digest) is not None


def test_what_is_referred_to_since_the_look_stays(database: Database) -> None:
    begin(database, ONE)
    digest = kept(database, b"tides")
    found = Assets(database).unreferred(10)
    refer(database, ONE, digest)

    assert [each.digest for each in found] == [digest]
    assert Assets(database).remove(found) == 0


def test_a_day_is_the_age_of_what_goes() -> None:
    ages = [timedelta(hours=23, minutes=59), timedelta(days=1), timedelta(days=1, seconds=1)]
    found = [Unreferred(str(age), rfc3339(NOW - age)) for age in ages]

    assert collectable(found, NOW) == found[2:]


async def test_only_the_node_that_leads_the_clock_collects(
    database: Database, lead: ClockLead, collecting: Collecting
) -> None:
    digest, stop = kept(database, b"old"), asyncio.Event()

    async def collected() -> None:
        while Assets(database).get(digest) is not None:
            await asyncio.sleep(0.005)

    async with asyncio.TaskGroup() as group:
        lead.leads = True
        group.create_task(collecting.run(stop))
        async with asyncio.timeout(30):
            await collected()
        stop.set()

    lead.leads = False
    other, stop = kept(database, b"other"), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(collecting.run(stop))
        await asyncio.sleep(0)
        stop.set()
        await running
    assert Assets(database).get(other) is not None


def test_outputs_kept_before_the_table_was_there_are_referred_to(database: Database) -> None:
    begin(database, ONE)
    digest, image = kept(database, b"large"), kept(database, b"bird")
    images = (KeptImage(image, "image/png", 4),)
    append(database, ONE, finished(asset=digest), finished(images=images), finished())
    append(database, ONE, finished(asset=digest))

    with database.begin() as connection:
        connection.execute(text("DROP TABLE asset_references"))
        with Operations.context(MigrationContext.configure(connection)):
            v0004_artifacts.upgrade()

    assert Assets(database).referred(digest, ONE) is not None
    assert Assets(database).unreferred(10) == []
