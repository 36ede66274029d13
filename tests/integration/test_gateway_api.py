"""What a gateway answers: to whom, about what, with which mend."""

import io
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from redshank_gateway.api.app import gateway_api
from redshank_gateway.api.parts import HealthView, Parts
from redshank_gateway.channels.terminal import TerminalChannel
from redshank_gateway.delivery.counts import Counts
from redshank_gateway.delivery.deliveries import Deliveries
from redshank_gateway.delivery.recipients import Recipients, Target
from redshank_shared.wire.service_token import CONSOLE_AUDIENCE, GATEWAY_AUDIENCE, sign
from tests.fakes.gateway import SECRET

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
PATH = "/v1/api/notify"
TERMINAL = {"channel_type": "terminal", "channel_id": "-"}


class Door:
    """A gateway's API over a terminal that is kept in `output`."""

    def __init__(self, client: httpx.AsyncClient, output: io.StringIO) -> None:
        self.client = client
        self.output = output

    async def post(
        self, body: object, authorization: str | None = None, key: str = ""
    ) -> httpx.Response:
        signed = f"Bearer {sign(SECRET, 'nd_1', GATEWAY_AUDIENCE, NOW)}"
        headers = {"Authorization": signed if authorization is None else authorization}
        if key:
            headers["Idempotency-Key"] = key
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.client.post(PATH, content=content, headers=headers)


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    output, counts = io.StringIO(), Counts(["terminal", "discord"])
    links = {"ines": (Target("terminal", "-"), Target("discord", "222"))}
    parts = Parts(
        secret=SECRET,
        recipients=Recipients(links),
        deliveries=Deliveries({"terminal": TerminalChannel(output)}, 5.0, counts),
        counts=counts,
        health=lambda: HealthView("ok", "0", "ok", ()),
        now=lambda: NOW,
        new_key=iter(map(str, range(1000))).__next__,
    )
    transport = httpx.ASGITransport(gateway_api(parts), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield Door(client, output)


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return dict(answer.json())


@pytest.mark.req("T-43")
async def test_a_notification_for_a_channel_is_printed_with_its_title(door: Door) -> None:
    answer = await door.post({"message": "disk is full", "title": "Alarm", **TERMINAL})
    assert answer.status_code == 200
    assert answer.json() == {"results": [{"target": "terminal:-", "status": "sent"}]}
    assert door.output.getvalue() == "Alarm: disk is full\n"


@pytest.mark.req("T-43")
async def test_every_linked_channel_has_its_own_status(door: Door) -> None:
    answer = await door.post({"message": "hi", "username": "ines"})
    assert answer.json()["results"] == [
        {"target": "terminal:-", "status": "sent"},
        {"target": "discord:222", "status": "no_adapter"},
    ]


@pytest.mark.req("T-43")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"message": "hi"}, "username"),
        ({"message": "hi", "username": "ines", **TERMINAL}, "username"),
        ({"message": "hi", "username": "ines", "channel_id": "1"}, "username"),
        ({"message": "hi", "channel_type": "terminal"}, "channel_id"),
        ({"message": "hi", "channel_id": "1"}, "channel_type"),
        ({"message": "x" * 2001, **TERMINAL}, "message"),
        ({"message": " \n", **TERMINAL}, "message"),
        (TERMINAL, "message"),
        ({"message": 7, **TERMINAL}, "message"),
        ({"message": "hi", "title": "x" * 201, **TERMINAL}, "title"),
        ({"message": "hi", "username": "in\nes"}, "username"),
        ({"message": "hi", "username": ""}, "username"),
        ({"message": "hi", "colour": "red", **TERMINAL}, "colour"),
        ([], "body"),
        (b"{", "body"),
        (b"\xff", "body"),
        (b'{"message": "\\ud800"}', "body"),
    ],
)
async def test_bad_input_is_400_with_the_field_to_blame_and_nothing_is_told(
    door: Door, body: object, field: str
) -> None:
    said = problem(await door.post(body), 400)
    assert said["field"] == field
    assert field in said["detail"]
    assert door.output.getvalue() == ""


@pytest.mark.req("T-43")
async def test_two_thousand_characters_are_taken_however_many_bytes_they_have(door: Door) -> None:
    answer = await door.post({"message": "🦆" * 2000, **TERMINAL})
    assert answer.status_code == 200


async def test_an_unknown_user_is_404(door: Door) -> None:
    said = problem(await door.post({"message": "hi", "username": "nobody"}), 404)
    assert (said["code"], said["field"]) == ("unknown_user", "username")


@pytest.mark.req("T-43")
@pytest.mark.fault("F42")
@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("", "no_token"),
        (f"Bearer {sign(SECRET, 'nd_1', CONSOLE_AUDIENCE, NOW)}", "wrong_audience"),
        (
            f"Bearer {sign(SECRET, 'nd_1', GATEWAY_AUDIENCE, NOW - timedelta(minutes=5))}",
            "token_expired",
        ),
        (f"Bearer {sign(SECRET[::-1], 'nd_1', GATEWAY_AUDIENCE, NOW)}", "wrong_secret"),
        ("Bearer abc", "bad_token"),
    ],
)
async def test_a_token_that_does_not_hold_is_401_with_its_cause_and_nothing_is_told(
    door: Door, authorization: str, code: str
) -> None:
    answer = await door.post({"message": "hi", **TERMINAL}, authorization)
    assert problem(answer, 401)["code"] == code
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert door.output.getvalue() == ""


async def test_a_body_that_is_too_large_is_413(door: Door) -> None:
    assert problem(await door.post(b" " * (64 * 1024 + 1)), 413)["field"] == "body"


async def test_the_same_key_and_body_is_told_once_another_body_is_409(door: Door) -> None:
    for _ in range(2):
        answer = await door.post({"message": "hi", **TERMINAL}, key="k")
        assert answer.json()["results"] == [{"target": "terminal:-", "status": "sent"}]
    assert door.output.getvalue() == "hi\n"
    said = problem(await door.post({"message": "other", **TERMINAL}, key="k"), 409)
    assert said["field"] == "Idempotency-Key"


async def test_without_a_key_each_request_is_told(door: Door) -> None:
    for _ in range(2):
        await door.post({"message": "hi", **TERMINAL})
    assert door.output.getvalue() == "hi\nhi\n"


async def test_what_is_not_there_says_what_is(door: Door) -> None:
    assert PATH in problem(await door.client.get("/v1/nothing"), 404)["detail"]
    assert problem(await door.client.get(PATH), 405)["code"] == "method_not_allowed"


@pytest.mark.fault("F-32")
async def test_metrics_count_by_channel_and_status(door: Door) -> None:
    await door.post({"message": "hi", "username": "ines"})
    await door.post({"message": "hi", "channel_type": "made-up", "channel_id": "1"})
    lines = (await door.client.get("/metrics")).text.splitlines()
    assert sorted(line for line in lines if line.startswith("redshank_notifications_total{")) == [
        'redshank_notifications_total{channel="discord",status="no_adapter"} 1.0',
        'redshank_notifications_total{channel="other",status="no_adapter"} 1.0',
        'redshank_notifications_total{channel="terminal",status="sent"} 1.0',
    ]
