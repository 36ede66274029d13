"""Pushing a watch over HTTP: made by who may, used by who has the address, told nothing else."""

import asyncio
import json

import httpx
import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from redshank_console.cli.main import app
from redshank_shared.stores.tables import watch_pushes, watch_tokens
from tests.integration.console_world import TOKEN, RunningConsole

pytest_plugins = ("tests.integration.console_fixtures",)

WATCH = {"watch": {"command": "cat state.json", "poll_every": 3600}}


async def made(console: RunningConsole, **cadence: object) -> str:
    ws = await console.create()
    body = {"workstream": ws, "name": "tide", "message": "look", **(cadence or WATCH)}
    answer = await console.client.post("/v1/schedules", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def hooked(console: RunningConsole, schedule: str) -> str:
    """Its address below the console's own."""
    answer = await console.client.post(f"/v1/schedules/{schedule}/hook")
    assert answer.status_code == 201, answer.text
    address = str(answer.json()["address"])
    assert address.startswith(f"{console.url}/v1/hooks/watch/")
    return address.removeprefix(console.url)


async def push(console: RunningConsole, path: str, body: bytes | str) -> httpx.Response:
    """As somebody does who has nothing but the address."""
    async with console.new_client() as stranger:
        return await stranger.post(path, content=body)


def kept(console: RunningConsole) -> list[str]:
    with console.database.read() as connection:
        rows = connection.execute(select(watch_pushes).order_by(watch_pushes.c.pushed_at))
        return [row.output for row in rows]


@pytest.mark.req("B-10")
async def test_what_is_pushed_is_kept_once_it_is_answered(console: RunningConsole) -> None:
    path = await hooked(console, await made(console))
    answer = await push(console, path, '{"level": 4}')
    assert answer.status_code == 202, answer.text
    assert answer.json()["run"].startswith("run_")
    assert (await push(console, path, b"")).status_code == 202
    assert kept(console) == ['{"level": 4}', ""]


@pytest.mark.req("B-10")
async def test_the_secret_is_long_random_and_kept_only_as_its_hash(console: RunningConsole) -> None:
    schedule = await made(console)
    secrets = {(await hooked(console, schedule)).rpartition("/")[2] for _ in range(3)}
    assert len(secrets) == 3
    assert all(len(secret) >= 43 for secret in secrets)
    with console.database.read() as connection:
        (row,) = connection.execute(watch_tokens.select()).all()
    assert not any(secret in str(row) for secret in secrets)


@pytest.mark.req("B-10")
async def test_an_address_that_is_none_says_nothing_of_what_there_is(
    console: RunningConsole,
) -> None:
    schedule = await made(console)
    old = await hooked(console, schedule)
    new = await hooked(console, schedule)
    answers = [await push(console, path, "x") for path in (old, f"{old}x", "/v1/hooks/watch/reed")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert (await push(console, new, "x")).status_code == 202


@pytest.mark.req("B-10")
async def test_a_revoked_address_and_that_of_a_watch_that_is_over_are_none(
    console: RunningConsole,
) -> None:
    schedule = await made(console)
    path = await hooked(console, schedule)
    answer = await console.client.delete(f"/v1/schedules/{schedule}/hook")
    assert answer.status_code == 204
    assert (await push(console, path, "x")).status_code == 404
    path = await hooked(console, schedule)
    await console.client.post(f"/v1/schedules/{schedule}/cancel")
    assert (await push(console, path, "x")).status_code == 404
    answer = await console.client.post(f"/v1/schedules/{schedule}/hook")
    assert (answer.status_code, answer.json()["code"]) == (409, "schedule_over")


@pytest.mark.req("B-10")
async def test_what_cannot_be_pushed_is_refused_with_its_reason(console: RunningConsole) -> None:
    schedule = await made(console)
    path = await hooked(console, schedule)
    large = await push(console, path, b"x" * 65537)
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
    assert (await push(console, path, b"x" * 65536)).status_code == 202
    binary = await push(console, path, b"\xff\xfe\x00")
    assert (binary.status_code, binary.json()["field"]) == (422, "body")
    await console.client.post(f"/v1/schedules/{schedule}/pause")
    paused = await push(console, path, "x")
    assert (paused.status_code, paused.json()["code"]) == (409, "watch_paused")
    assert len(kept(console)) == 1


@pytest.mark.req("B-10")
async def test_above_sixty_a_minute_it_is_said_how_long_to_wait(console: RunningConsole) -> None:
    path = await hooked(console, await made(console))
    async with console.new_client() as stranger:
        for _ in range(60):
            assert (await stranger.post(path, content="x")).status_code == 202
        answer = await stranger.post(path, content="x")
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_requests")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


async def test_only_a_watch_that_is_there_can_be_hooked(console: RunningConsole) -> None:
    hourly = await made(console, interval={"every_seconds": 3600})
    answer = await console.client.post(f"/v1/schedules/{hourly}/hook")
    assert (answer.status_code, answer.json()["field"]) == (422, "id")
    answer = await console.client.post("/v1/schedules/sch_0000000000000000000000/hook")
    assert answer.status_code == 404
    answer = await push(console, f"/v1/schedules/{hourly}/hook", "")
    assert answer.status_code == 401


@pytest.mark.req("B-30")
async def test_the_command_line_prints_the_address_once(console: RunningConsole) -> None:
    schedule = await made(console)
    runner = CliRunner(env={"HOME": "/nonexistent"})
    options = ("--url", console.url, "--token", TOKEN)

    async def typed(*words: str) -> str:
        done = await asyncio.to_thread(
            runner.invoke, app, ["schedules", "hook", *words, *options], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        return done.stdout

    address = (await typed(schedule)).strip()
    assert (await push(console, address.removeprefix(console.url), "x")).status_code == 202
    made_again = json.loads(await typed(schedule, "-o", "json"))
    assert made_again["schedule"] == schedule
    assert (await push(console, address.removeprefix(console.url), "x")).status_code == 404
    await typed(schedule, "--revoke")
    path = made_again["address"].removeprefix(console.url)
    assert (await push(console, path, "x")).status_code == 404
