"""Who comes in: tokens, the cookie, sign-in links, hosts, origins, bodies of a sane size."""

import contextlib
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from redshank_console.api.body_limit import MAX_BODY_BYTES
from redshank_shared.clock import monotonic
from redshank_shared.settings.sections import Settings
from tests.bench.figures import figure
from tests.fakes.valkey import Valkey
from tests.integration.console_world import (
    TOKEN,
    RunningConsole,
    running,
    settings_for,
)

pytest_plugins = ("tests.integration.console_fixtures",)

NO_SUCH = "ws_0000000000000000000000"
ADMIN = {"name": "admin", "role": "admin", "scopes": ["read", "operate", "approve", "admin"]}


@pytest.fixture
async def stranger(console: RunningConsole) -> AsyncIterator[httpx.AsyncClient]:
    """A client that has not signed in."""
    async with console.new_client() as client:
        yield client


async def link_code(console: RunningConsole) -> str:
    answer = await console.client.post("/v1/signin-links")
    assert answer.status_code == 201
    url = str(answer.json()["url"])
    assert url.startswith(f"{console.url}/#/signin?code=")
    return url.rpartition("=")[2]


@pytest.mark.fault("F71")
async def test_nothing_but_health_and_openapi_answers_a_stranger(
    console: RunningConsole, stranger: httpx.AsyncClient
) -> None:
    for header in (None, "Bearer", "Bearer nonsense", "Basic eDp5"):
        headers = {"Authorization": header} if header is not None else {}
        for path in ("/health", "/openapi.json", "/"):
            assert (await stranger.get(path, headers=headers)).status_code in (200, 503)
        await all_else_is_refused(stranger, headers)


async def all_else_is_refused(stranger: httpx.AsyncClient, headers: dict[str, str]) -> None:
    for method, path in [
        ("GET", "/v1/me"),
        ("GET", "/v1/workstreams"),
        ("POST", "/v1/workstreams"),
        ("GET", f"/v1/sessions/{NO_SUCH}/events"),
        ("GET", "/v1/approvals"),
        ("GET", "/v1/cluster/overview"),
        ("GET", "/v1/nowhere"),
        ("GET", "/metrics"),
        ("POST", "/v1/signin-links"),
        ("POST", "/v1/signout"),
    ]:
        answer = await stranger.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "redshank signin" in answer.json()["detail"]


async def test_a_link_signs_one_browser_in_once(
    console: RunningConsole, stranger: httpx.AsyncClient
) -> None:
    code = await link_code(console)
    first = await stranger.post("/v1/signin", json={"code": code})
    assert first.json() == ADMIN
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert (await stranger.get("/v1/me")).json() == ADMIN
    async with console.new_client() as other:
        second = await other.post("/v1/signin", json={"code": code})
        assert (second.status_code, second.json()["code"]) == (401, "signin_refused")
        assert "redshank signin" in second.json()["detail"]
        assert "set-cookie" not in second.headers
        assert (await other.get("/v1/me")).status_code == 401


async def test_the_admin_token_signs_a_browser_in_until_it_signs_out(
    stranger: httpx.AsyncClient,
) -> None:
    refused = await stranger.post("/v1/signin", json={"token": "wrong" * 5})
    assert (refused.status_code, refused.json()["field"]) == (401, "token")
    assert (await stranger.post("/v1/signin", json={"token": TOKEN})).status_code == 200
    secret = stranger.cookies["redshank_session"]
    out = await stranger.post("/v1/signout", headers={"X-Redshank": "1"})
    assert out.status_code == 204
    kept = {"Cookie": f"redshank_session={secret}"}
    assert (await stranger.get("/v1/me", headers=kept)).status_code == 401


async def test_a_sign_in_takes_one_credential(stranger: httpx.AsyncClient) -> None:
    bodies: list[Any] = [{}, {"code": "a", "token": "b"}, {"code": 1}, [], {"pin": "1"}]
    for body in bodies:
        answer = await stranger.post("/v1/signin", json=body)
        assert answer.status_code == 422, body
        assert answer.json()["field"], body


@pytest.mark.fault("F71")
async def test_one_kind_of_secret_does_not_pass_for_another(
    console: RunningConsole, stranger: httpx.AsyncClient
) -> None:
    code = await link_code(console)
    await stranger.post("/v1/signin", json={"token": TOKEN})
    session = stranger.cookies["redshank_session"]
    async with console.new_client() as other:
        for secret in (code, session):
            bearer = {"Authorization": f"Bearer {secret}"}
            assert (await other.get("/v1/me", headers=bearer)).status_code == 401
            refused = await other.post("/v1/signin", json={"token": secret})
            assert refused.status_code == 401
        cookie = {"Cookie": f"redshank_session={TOKEN}"}
        assert (await other.get("/v1/me", headers=cookie)).status_code == 401


async def test_a_write_with_the_cookie_must_come_from_our_own_page(
    console: RunningConsole, stranger: httpx.AsyncClient
) -> None:
    await stranger.post("/v1/signin", json={"token": TOKEN})
    for headers, status in [
        ({}, 403),
        ({"X-Redshank": "1"}, 201),
        ({"X-Redshank": "1", "Origin": console.url}, 201),
        ({"X-Redshank": "1", "Origin": "http://evil.example"}, 403),
        ({"X-Redshank": "1", "Origin": "http://127.0.0.1:1"}, 403),
        ({"X-Redshank": "1", "Origin": "null"}, 403),
    ]:
        answer = await stranger.post("/v1/workstreams", json={}, headers=headers)
        assert answer.status_code == status, headers
        assert status == 201 or answer.json()["code"] == "cross_site"
    assert (await console.client.get("/v1/workstreams")).json()["total"] == 2


async def test_a_name_that_is_not_ours_is_not_answered_on_loopback(
    console: RunningConsole,
) -> None:
    port = console.settings.console.port
    for host, status in [
        (f"localhost:{port}", 200),
        (f"[::1]:{port}", 200),
        (f"evil.example:{port}", 403),
        ("127.0.0.1.evil.example", 403),
    ]:
        answer = await console.client.get("/v1/me", headers={"Host": host})
        assert answer.status_code == status
        assert status == 200 or answer.json()["code"] == "host_not_allowed"


async def test_without_sign_in_a_page_elsewhere_still_cannot_write(
    tmp_path: Path, console_settings: Settings
) -> None:
    settings = settings_for(
        tmp_path,
        console_settings.database.url,
        console_settings.redis.url,
        CONSOLE__AUTH="off",
        CONSOLE__ADMIN_TOKEN_FILE="",
    )
    async with running(settings) as world, world.new_client() as anyone:
        assert (await anyone.get("/v1/me")).json()["name"] == "local"
        assert (await anyone.post("/v1/workstreams", json={})).status_code == 201
        elsewhere = {"Origin": "http://evil.example"}
        assert (await anyone.post("/v1/workstreams", headers=elsewhere)).status_code == 403


async def test_a_body_over_sixteen_mib_is_refused_whether_it_says_so_or_not(
    console: RunningConsole,
) -> None:
    ws = await console.create()
    path = f"/v1/workstreams/{ws}/messages"
    headers = {"Content-Type": "application/json"}
    body = b'{"text":"' + b"x" * MAX_BODY_BYTES + b'"}'

    async def in_pieces() -> AsyncIterator[bytes]:
        for begin in range(0, len(body), 1 << 20):
            yield body[begin : begin + (1 << 20)]

    before = await console.events(ws)
    for content in (body, in_pieces()):
        answer = await console.client.post(path, content=content, headers=headers)
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            413,
            "too_large",
            "body",
        )
    assert await console.events(ws) == before


@pytest.mark.fault("F43")
@pytest.mark.parametrize(
    ("content", "status", "field"),
    [
        (b'{"text":"a\\u0000b"}', 422, "text"),
        (b'{"text":"a\\ud800b"}', 422, "text"),
        (b'{"text":""}', 422, "text"),
        (b'{"text":7}', 422, "text"),
        (b'{"text":"a","when":"later"}', 422, "when"),
        (b'{"text":"a","attachments":[{}]}', 422, "attachments"),
        (b'{"text":"a","extra":1}', 422, "extra"),
        (b"{}", 422, "text"),
        (b"[]", 422, "body"),
        (b"", 422, "body"),
        (b'{"text":"a"', 400, "body"),
        (b"\xff\xfe", 400, "body"),
        (b"[" * 100_000, 400, "body"),
        (b'{"text":' + b"9" * 10_000 + b"}", 400, "body"),
    ],
)
async def test_a_message_that_cannot_be_kept_is_refused_by_the_name_of_its_field(
    standing: RunningConsole, content: bytes, status: int, field: str
) -> None:
    ws = await standing.create()
    answer = await standing.client.post(
        f"/v1/workstreams/{ws}/messages",
        content=content,
        headers={"Content-Type": "application/json"},
    )
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json().get("field")) == (status, field)
    assert len(await standing.events(ws)) == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
async def test_a_key_that_cannot_be_kept_is_refused(standing: RunningConsole, key: str) -> None:
    headers = {"Idempotency-Key": key}
    answer = await standing.client.post("/v1/workstreams", json={}, headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (422, "Idempotency-Key")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nowhere", 404, "no_such_route"),
        ("POST", "/nowhere", 404, "no_such_route"),
        ("DELETE", "/v1/workstreams", 405, "method_not_allowed"),
        ("GET", "/assets/../bootstrap.py", 404, "no_such_route"),
        ("GET", "/assets/%2e%2e/index.html", 404, "no_such_route"),
        ("GET", "/assets/a%00b", 404, "no_such_route"),
    ],
)
async def test_what_is_not_there_is_a_problem_too(
    standing: RunningConsole, method: str, path: str, status: int, code: str
) -> None:
    answer = await standing.client.request(method, path)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_the_page_comes_with_its_types_and_its_guards(
    tmp_path: Path, console_settings: Settings
) -> None:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>Redshank</title>")
    (page / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (page / "assets" / "index-abc.js").write_text("export {};")
    async with running(console_settings, page) as world, world.new_client() as anyone:
        for path, media_type, cache in [
            ("/", "text/html", "no-cache"),
            ("/icon.svg", "image/svg+xml", "no-cache"),
            ("/assets/index-abc.js", "text/javascript", "public, max-age=31536000, immutable"),
        ]:
            answer = await anyone.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(media_type)
            assert answer.headers["cache-control"] == cache
            assert "default-src 'self'" in answer.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_page_that_was_not_built_says_how_to_build_it(stranger: httpx.AsyncClient) -> None:
    answer = await stranger.get("/")
    assert answer.status_code == 503
    assert "make install" in answer.text


@pytest.mark.fault("F12")
async def test_no_secret_stands_in_an_answer_or_in_the_log(
    console: RunningConsole, stranger: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = "canary-" + "0123456789abcdef"
    answers = [
        await stranger.get("/v1/me", headers={"Authorization": f"Bearer {canary}"}),
        await stranger.post("/v1/signin", json={"token": canary}),
        await stranger.post("/v1/signin", json={"code": canary, "nonsense": canary}),
        await stranger.post("/v1/signin", json={"code": [canary]}),
        await stranger.get("/v1/me", headers={"Cookie": f"redshank_session={canary}"}),
        await console.client.get("/v1/workstreams", params={"cursor": canary, "limit": canary}),
    ]
    for answer in answers:
        assert answer.status_code in (401, 422)
        assert canary not in answer.text
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert [line for line in ours if canary in line or TOKEN in line] == []


@pytest.fixture
def process_environment(console_settings: Settings) -> dict[str, str]:
    """What a console process is told; its database and Redis are real."""
    settings = console_settings
    return {
        "PATH": os.environ["PATH"],  # noqa: TID251 - a child process needs it
        "PYTHONPATH": os.pathsep.join(sys.path),
        "REDSHANK_DATABASE__URL": settings.database.url,
        "REDSHANK_REDIS__URL": settings.redis.url,
        "REDSHANK_CONSOLE__PORT": str(settings.console.port),
        "REDSHANK_CONSOLE__ADMIN_TOKEN_FILE": settings.console.admin_token_file,
    }


def start(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a console that ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "redshank_console"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"REDSHANK_CONSOLE__AUTH": "off", "REDSHANK_CONSOLE__HOST": "0.0.0.0"}, "console.auth"),
        ({"REDSHANK_CONSOLE__ADMIN_TOKEN_FILE": ""}, "console.admin_token_file"),
        ({"REDSHANK_CONSOLE__ADMIN_TOKEN_FILE": "/nonexistent"}, "console.admin_token_file"),
    ],
)
def test_a_console_that_may_not_start_says_why_in_one_line(
    process_environment: dict[str, str], changes: dict[str, str], said: str
) -> None:
    done = start({**process_environment, **changes})
    assert done.returncode == 2
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert said in lines[0]


@pytest.mark.fault("F55")
def test_a_console_refuses_a_redis_that_evicts(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    evicting = Valkey(tmp_path, options=("--maxmemory-policy", "allkeys-lru"))
    evicting.start()
    try:
        done = start({**process_environment, "REDSHANK_REDIS__URL": evicting.url})
    finally:
        evicting.kill()
    assert done.returncode == 2
    assert "maxmemory-policy noeviction" in done.stderr


def test_a_console_refuses_a_database_of_a_newer_version(
    process_environment: dict[str, str], console_settings: Settings
) -> None:
    path = console_settings.database.url.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    done = start(process_environment)
    assert done.returncode == 2
    assert "9999" in done.stderr
    assert "install the newer Redshank" in done.stderr


async def test_a_port_in_use_is_named_with_the_mend(
    console: RunningConsole, process_environment: dict[str, str]
) -> None:
    done = start(process_environment)
    assert done.returncode == 2
    assert f"port {console.settings.console.port}" in done.stderr
    assert "console.port" in done.stderr
    assert (await console.client.get("/v1/me")).status_code == 200


def test_sigterm_ends_a_console_with_an_open_stream_soon(
    process_environment: dict[str, str],
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "redshank_console"], env=process_environment, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stderr is not None
            assert b"console answers at" in process.stderr.readline()
            url = f"http://127.0.0.1:{process_environment['REDSHANK_CONSOLE__PORT']}"
            headers = {"Authorization": f"Bearer {TOKEN}"}
            with httpx.Client(base_url=url, headers=headers) as client:
                ws = client.post("/v1/workstreams", json={}).json()["id"]
                path = f"/v1/workstreams/{ws}/events"
                with client.stream("GET", path, headers={"Accept": "text/event-stream"}) as stream:
                    pieces = stream.iter_text()
                    assert "workstream.created" in next(pieces)
                    process.terminate()
                    assert list(pieces) == []
            told = monotonic()
            assert process.wait(timeout=30) == 0
            figure("a console with a stream ends", monotonic() - told, 3, "s")
        finally:
            process.kill()
