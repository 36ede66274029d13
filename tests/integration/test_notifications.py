"""A notification that was accepted is told once, or shown as failed: outbox, delivery, outcome."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web

from redshank_node.delivery.notifications import Notifications
from redshank_node.dueclock.clock_lead import ClockLead
from redshank_node.dueclock.due_clock import DueClock
from redshank_shared import clock
from redshank_shared.domain.commands import RequestNotification
from redshank_shared.domain.due_events import NotificationSettled
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.metrics import Metrics
from redshank_shared.queue import keys
from redshank_shared.queue.dispatch import Dispatch, HandOver
from redshank_shared.stores.database import Database
from redshank_shared.stores.outbox import Outbox
from redshank_shared.stores.schedules import Schedules
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.stores.watch_pushes import WatchPushes
from redshank_shared.wire.service_token import GATEWAY_AUDIENCE, sign, verify
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, fresh_id

SECRET = "a-secret-for-tests-of-thirty-two-bytes"


class GatewayStandIn:
    """Answers as it is told; keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.asked: list[tuple[dict[str, Any], str, str]] = []
        self.url = ""

    async def notify(self, request: web.Request) -> web.Response:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        subject = verify(token, SECRET, GATEWAY_AUDIENCE, clock.now_utc())
        self.asked.append((await request.json(), request.headers["Idempotency-Key"], subject))
        status, body = self.answers.pop(0)
        return web.json_response(body, status=status)


@pytest.fixture
async def gateway() -> AsyncIterator[GatewayStandIn]:
    stand_in = GatewayStandIn()
    application = web.Application()
    application.router.add_post("/v1/api/notify", stand_in.notify)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    stand_in.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield stand_in
    await runner.cleanup()


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


@pytest.fixture
def outbox(world: World) -> Outbox:
    return Outbox(world.database)


@pytest.fixture
def notifications(world: World, outbox: Outbox) -> Notifications:
    return Notifications(
        world.database,
        outbox,
        Services(world.database),
        world.commands,
        Metrics(),
        lambda: sign(SECRET, "marsh-1", GATEWAY_AUDIENCE, clock.now_utc()),
        clock.now_utc,
    )


def register(world: World, gateway: GatewayStandIn) -> None:
    row = ServiceRow("gw_1", "gateway", gateway.url, "0", "2026-01-01T00:00:00Z", "{}")
    Services(world.database).register(row)


def results(*statuses: str) -> dict[str, Any]:
    return {"results": [{"target": "discord:1", "status": status} for status in statuses]}


async def requested(world: World) -> tuple[WorkstreamId, str]:
    workstream = await world.create("hello")
    delivery_id = fresh_id("dl")
    await world.do(
        workstream, RequestNotification(delivery_id, "the tide is in", "Tide", username="ines")
    )
    return workstream, delivery_id


def settled(world: World, workstream: WorkstreamId) -> list[NotificationSettled]:
    return [fact for fact in world.facts(workstream) if isinstance(fact, NotificationSettled)]


@pytest.mark.req("T-43")
async def test_a_notification_lies_in_the_outbox_then_goes_to_the_gateway_once(
    world: World, outbox: Outbox, notifications: Notifications, gateway: GatewayStandIn
) -> None:
    register(world, gateway)
    workstream, delivery_id = await requested(world)
    assert [delivery.delivery_id for delivery in outbox.due()] == [delivery_id]
    gateway.answers = [(200, results("sent"))]
    await notifications.deliver(delivery_id)
    await notifications.deliver(delivery_id)
    ((body, key, subject),) = gateway.asked
    assert body == {
        "message": "the tide is in",
        "title": "Tide",
        "username": "ines",
        "workstream": workstream,
    }
    assert (key, subject) == (delivery_id, "marsh-1")
    (fact,) = settled(world, workstream)
    assert (fact.sent, fact.results) == (True, ("discord:1 sent",))
    assert outbox.due() == []


@pytest.mark.req("T-43")
async def test_it_is_retried_twice_under_the_same_key_then_shown_as_failed(
    world: World, outbox: Outbox, notifications: Notifications, gateway: GatewayStandIn
) -> None:
    register(world, gateway)
    workstream, delivery_id = await requested(world)
    gateway.answers = [(503, {}), (200, results("timeout")), (200, results("failed"))]
    for attempt in range(3):
        assert settled(world, workstream) == []
        found = outbox.get(delivery_id)
        assert found is not None
        assert found.attempts == attempt
        await notifications.deliver(delivery_id)
    assert {key for _, key, _ in gateway.asked} == {delivery_id}
    (fact,) = settled(world, workstream)
    assert (fact.sent, fact.results) == (False, ("discord:1 failed",))
    assert outbox.get(delivery_id) is None


@pytest.mark.fault("F42")
@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (401, {"detail": "the token was signed with another secret"}, "another secret"),
        (404, {"detail": "nobody is called ines"}, "nobody"),
        (200, results("no_adapter"), "no_adapter"),
    ],
)
async def test_a_refusal_is_not_repeated_and_names_its_cause(
    world: World,
    notifications: Notifications,
    gateway: GatewayStandIn,
    status: int,
    body: dict[str, Any],
    says: str,
) -> None:
    register(world, gateway)
    workstream, delivery_id = await requested(world)
    gateway.answers = [(status, body)]
    await notifications.deliver(delivery_id)
    (fact,) = settled(world, workstream)
    assert not fact.sent
    assert says in fact.detail


@pytest.mark.req("T-43")
async def test_without_a_gateway_it_says_how_to_start_one(
    world: World, notifications: Notifications
) -> None:
    workstream, delivery_id = await requested(world)
    for _ in range(3):
        await notifications.deliver(delivery_id)
    (fact,) = settled(world, workstream)
    assert "redshank gateway" in fact.detail


@pytest.mark.fault("F42")
async def test_a_missing_secret_is_named(world: World, gateway: GatewayStandIn) -> None:
    register(world, gateway)
    unsigned = Notifications(
        world.database,
        Outbox(world.database),
        Services(world.database),
        world.commands,
        Metrics(),
        lambda: sign("", "marsh-1", GATEWAY_AUDIENCE, clock.now_utc()),
        clock.now_utc,
    )
    workstream, delivery_id = await requested(world)
    await unsigned.deliver(delivery_id)
    (fact,) = settled(world, workstream)
    assert "gateway.service_secret" in fact.detail


class NoLead(ClockLead):
    """Leads without asking anybody: there is one clock here."""

    def __init__(self, world: World) -> None:
        super().__init__(world.database, world.leases, world.dispatch, "marsh-1")
        self.leads = True


@pytest.fixture
async def due_clock(
    world: World, outbox: Outbox, notifications: Notifications
) -> AsyncIterator[DueClock]:
    schedules = Schedules(world.database)
    clock_ = DueClock(
        world.database,
        schedules,
        WatchPushes(world.database),
        outbox,
        world.dispatch,
        NoLead(world),
        lambda: fresh_id("run"),
        notifications.give_up,
    )
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(clock_.run(stop))
        yield clock_
        stop.set()


async def deliver_job(world: World, delivery_id: str, **fields: str) -> None:
    job = keys.job_hash(keys.kept_job("deliver", delivery_id))
    await world.redis.hset(job, mapping=fields)


@pytest.mark.req("T-43")
async def test_a_delivery_that_takes_its_node_along_again_and_again_is_shown_as_failed(
    world: World, due_clock: DueClock
) -> None:
    workstream = await world.create("hello")
    delivery_id = fresh_id("dl")
    await deliver_job(world, delivery_id, status="failed")
    await world.do(workstream, RequestNotification(delivery_id, "high water", username="ines"))
    due_clock.wake()
    await world.until(lambda: settled(world, workstream) != [], "it is shown as failed")
    (fact,) = settled(world, workstream)
    assert not fact.sent
    assert "three times" in fact.detail


@pytest.mark.req("T-43")
async def test_a_retry_that_was_set_while_it_was_handed_over_keeps_its_time(
    world: World, outbox: Outbox
) -> None:
    """A node may take a job and fail it before its hand-over returns to the clock."""
    _, delivery_id = await requested(world)

    class FailsAtOnce(Dispatch):
        async def hand_over(
            self, function: keys.KeptFunction, subject_id: str, *, force: bool = False
        ) -> HandOver:
            outbox.again(subject_id, -1.0, failed=True)
            return "handed"

    async def never(_: str) -> None:
        raise AssertionError("nothing is given up here")

    one = DueClock(
        world.database,
        Schedules(world.database),
        WatchPushes(world.database),
        outbox,
        FailsAtOnce(world.redis),
        NoLead(world),
        lambda: fresh_id("run"),
        never,
    )
    await one.hand_out()
    assert [(each.delivery_id, each.attempts) for each in outbox.due()] == [(delivery_id, 1)]


@pytest.mark.req("T-43")
async def test_five_notifications_a_turn_are_enough(world: World) -> None:
    workstream = await world.create("hello")
    for number in range(5):
        await world.do(workstream, RequestNotification(f"dl_{number}", "again", username="ines"))
    before = world.recorded(workstream)
    with pytest.raises(Conflict, match="5 notifications"):
        await world.do(workstream, RequestNotification("dl_5", "again", username="ines"))
    assert world.recorded(workstream) == before
    assert msgspec.json.encode(sorted(world.state(workstream).untold)).startswith(b'["dl_0"')
