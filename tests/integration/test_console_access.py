"""Users, tokens, their rights at a real console; what is revoked ends."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from redshank_shared import clock
from tests.bench.figures import figure
from tests.integration.access_world import add_user, mint, person, signed_in
from tests.integration.console_world import (
    DEADLINE_SECONDS,
    TOKEN,
    NodeSide,
    RunningConsole,
    Stream,
    running,
)

pytest_plugins = ("tests.integration.console_fixtures",)

STREAM_ENDS_SECONDS = 10.0
ALL = ["read", "operate", "approve", "admin"]


async def acts(console: RunningConsole, **query: Any) -> list[tuple[str, str, str]]:
    """Who did what to whom, the newest first."""
    answer = await console.client.get("/v1/audit", params=query)
    assert answer.status_code == 200, answer.text
    return [(each["who"], each["act"], each["target"]) for each in answer.json()["items"]]


@pytest.mark.req("B-33")
async def test_a_user_may_what_their_role_says(both: RunningConsole) -> None:
    ws = await both.create()
    async with person(both, "vera", "viewer") as viewer, person(both, "otto", "operator") as worker:
        assert (await viewer.client.get("/v1/me")).json() == {
            "name": "vera",
            "role": "viewer",
            "scopes": ["read"],
        }
        for who, path, status in [
            (viewer, f"/v1/workstreams/{ws}/messages", 403),
            (worker, f"/v1/workstreams/{ws}/messages", 202),
        ]:
            answer = await who.client.post(path, json={"text": "hi"})
            assert answer.status_code == status
            assert (await who.client.get(f"/v1/workstreams/{ws}")).status_code == 200
            refused = await who.client.get("/v1/users")
            assert (refused.status_code, refused.json()["code"]) == (403, "role_needed")
            assert "GET /v1/users needs the role admin" in refused.json()["detail"]
    sent = [event for event in await both.events(ws) if event["kind"] == "message.user"]
    assert [event["author"] for event in sent] == ["otto"]


@pytest.mark.fault("F71")
async def test_a_token_is_never_wider_than_its_maker_nor_than_its_user(
    console: RunningConsole,
) -> None:
    await add_user(console, "vera", "viewer")
    narrow = {"scopes": ["read", "admin"], "expires_in_seconds": 3600}
    async with person(console, "ida", "admin", **narrow) as ida:
        for body, status, code, field in [
            ({"scopes": ["read", "operate"]}, 403, "wider_than_yours", "scopes"),
            ({"scopes": ["read"], "name": "admin", "expires_in_seconds": 7200}, 403,
             "wider_than_yours", "expires_in_seconds"),
            ({"name": "vera", "scopes": ["admin"]}, 422, "wider_than_the_role", "scopes"),
            ({"name": "nobody"}, 422, "no_such_user", "name"),
            ({"scopes": []}, 422, "invalid", "scopes"),
            ({"scopes": ["root"]}, 422, "invalid", "scopes[0]"),
            ({"expires_in_seconds": 0}, 422, "invalid", "expires_in_seconds"),
            ({"scopes": ["read"], "role": "admin"}, 422, "invalid", "role"),
        ]:  # fmt: skip
            answer = await ida.client.post("/v1/tokens", json=body)
            said = answer.json()
            assert (answer.status_code, said["code"], said["field"]) == (status, code, field)
        own = (await ida.client.post("/v1/tokens", json={})).json()
        assert own["name"] == "ida"
        assert own["scopes"] == ["read", "admin"]
        assert own["expires_at"] is not None
        for_vera = (await ida.client.post("/v1/tokens", json={"name": "vera"})).json()
        assert for_vera["scopes"] == ["read"]
        refused = await ida.client.post("/v1/workstreams", json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "scope_needed")
        assert "the scope operate; this one has read, admin" in refused.json()["detail"]


@pytest.mark.fault("F12")
async def test_a_tokens_secret_is_shown_once_then_kept_as_a_hash(console: RunningConsole) -> None:
    made = await mint(console, label="nightly", scopes=["read"])
    assert made["token"].startswith("rsk_")
    page = await console.client.get("/v1/tokens", params={"name": "admin"})
    shown, first = page.json()["items"]
    assert shown == {name: value for name, value in made.items() if name != "token"}
    assert first["label"] == "console.admin_token_file"
    texts = [page.text, (await console.client.get("/v1/audit")).text]
    with console.database.read() as connection:
        for table in ("tokens", "admin_audits", "idempotency_keys"):
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            texts.append(str(rows))
    assert [text for text in texts if made["token"] in text or TOKEN in text] == []


@pytest.mark.fault("F71")
async def test_a_session_may_no_more_than_the_token_it_came_from_nor_lasts_longer(
    console: RunningConsole,
) -> None:
    made = await mint(console, scopes=["read"], expires_in_seconds=5)
    async with console.new_client() as browser:
        me = await browser.post("/v1/signin", json={"token": made["token"]})
        assert me.json() == {"name": "admin", "role": "admin", "scopes": ["read"]}
        write = await browser.post("/v1/workstreams", json={}, headers={"X-Redshank": "1"})
        assert write.status_code == 403
        end = clock.monotonic() + DEADLINE_SECONDS
        while (await browser.get("/v1/me")).status_code == 200:
            assert clock.monotonic() < end, "the session outlives its token"
            await asyncio.sleep(0.1)


@pytest.mark.fault("F71")
async def test_a_token_that_may_not_approve_cannot_choose_a_mode_that_asks_nobody(
    console: RunningConsole,
) -> None:
    ws = await console.create()
    async with signed_in(console, "admin", scopes=["read", "operate"]) as worker:
        mode = {"mode": "bypassPermissions"}
        answer = await worker.client.post(f"/v1/workstreams/{ws}/mode", json=mode)
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_needed")
        for wider in ("bypassPermissions", "acceptEdits"):
            answer = await worker.client.post("/v1/workstreams", json={"mode": wider})
            assert (answer.status_code, answer.json()["code"]) == (403, "scope_needed")
        for narrow in ("default", "plan", "dontAsk"):
            answer = await worker.client.post("/v1/workstreams", json={"mode": narrow})
            assert answer.status_code == 201


@pytest.mark.fault("F71")
async def test_a_token_that_may_not_approve_makes_no_watch_since_nobody_is_asked_about_one(
    console: RunningConsole,
) -> None:
    ws = await console.create()
    async with signed_in(console, "admin", scopes=["read", "operate"]) as worker:
        asked = {"workstream": ws, "name": "gauge", "watch": {"command": "date", "poll_every": 30}}
        answer = await worker.client.post("/v1/schedules", json=asked)
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_needed")
        assert (await worker.client.get("/v1/schedules")).json()["items"] == []
        spoken = {"workstream": ws, "name": "tides", "interval": {"every_seconds": 60}}
        answer = await worker.client.post("/v1/schedules", json={**spoken, "message": "look"})
        assert answer.status_code == 201, answer.text


@pytest.mark.fault("F71")
async def test_a_token_that_may_not_approve_does_not_fork_back_into_a_wider_mode(
    console: RunningConsole,
) -> None:
    made = await console.client.post("/v1/workstreams", json={"mode": "bypassPermissions"})
    ws, before = made.json()["id"], made.json()["last_seq"]
    narrowed = await console.client.post(f"/v1/workstreams/{ws}/mode", json={"mode": "default"})
    after = narrowed.json()["last_seq"]
    async with signed_in(console, "admin", scopes=["read", "operate"]) as worker:
        path = f"/v1/workstreams/{ws}/fork"
        answer = await worker.client.post(path, json={"after": before})
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_needed")
        answer = await worker.client.post(path, json={"after": after})
        assert answer.status_code == 201, answer.text


@pytest.mark.fault("F71")
async def test_a_token_that_may_not_approve_gets_no_wider_mode_from_a_parent(
    console: RunningConsole,
) -> None:
    parent = await console.create(mode="bypassPermissions")
    async with signed_in(console, "admin", scopes=["read", "operate"]) as worker:
        child = {"parent": parent}
        answer = await worker.client.post("/v1/workstreams", json=child)
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_needed")
        answer = await worker.client.post("/v1/workstreams", json={**child, "mode": "default"})
        assert (answer.status_code, answer.json()["mode"]) == (201, "default")
    answer = await console.client.post("/v1/workstreams", json=child)
    assert (answer.status_code, answer.json()["mode"]) == (201, "bypassPermissions")


def streaming(client: httpx.AsyncClient, path: str) -> Any:
    return client.stream("GET", path, headers={"Accept": "text/event-stream"})


@pytest.mark.fault("F72")
@pytest.mark.parametrize("how", ["revoked", "removed", "lowered", "token", "signed out"])
async def test_what_is_revoked_is_refused_at_once_its_streams_end_within_ten_seconds(
    console: RunningConsole, how: str
) -> None:
    ws = await console.create()
    async with person(console, "ida", "admin") as ida, console.new_client() as browser:
        await browser.post("/v1/signin", json={"token": ida.secret})
        client = browser if how == "signed out" else ida.client
        log, cluster = f"/v1/workstreams/{ws}/events", "/v1/cluster/events"
        async with streaming(client, log) as one, streaming(client, cluster) as other:
            streams = [Stream(one), Stream(other)]
            assert (await streams[0].next()).event == "workstream.created"
            assert (await streams[1].next()).event == "snapshot"
            begin = clock.monotonic()
            match how:
                case "revoked":
                    body = {"state": "revoked"}
                    done = await console.client.patch("/v1/users/ida", json=body)
                case "removed":
                    done = await console.client.delete("/v1/users/ida")
                case "lowered":
                    done = await console.client.patch("/v1/users/ida", json={"role": "viewer"})
                case "token":
                    done = await console.client.delete(f"/v1/tokens/{ida.token_id}")
                case _:
                    done = await browser.post("/v1/signout", headers={"X-Redshank": "1"})
            assert done.is_success, done.text
            refused = await client.get("/v1/users")
            assert refused.status_code == (403 if how == "lowered" else 401)
            for stream in streams:
                (*_, last) = await stream.until("end")
                assert last.data["code"] == "access_changed"
                with pytest.raises(EOFError):
                    await stream.next()
        figure(
            "streams of who was revoked ended", clock.monotonic() - begin, STREAM_ENDS_SECONDS, "s"
        )


@pytest.mark.fault("F72")
async def test_streams_of_others_go_on(console: RunningConsole) -> None:
    ws = await console.create()
    async with person(console, "vera", "viewer") as vera, person(console, "otto", "viewer") as otto:
        log = f"/v1/workstreams/{ws}/events"
        async with streaming(vera.client, log) as one, streaming(otto.client, log) as other:
            ending, going = Stream(one), Stream(other)
            await console.client.delete("/v1/users/vera")
            await ending.until("end")
            await console.client.post(f"/v1/workstreams/{ws}/messages", json={"text": "still?"})
            assert (await going.until("message.user"))[-1].data["text"] == "still?"


@pytest.mark.fault("F72")
async def test_a_revoked_user_cannot_answer_what_waited_for_them(console: RunningConsole) -> None:
    ws = await console.create(message="hi")
    node = NodeSide(console, ws)
    (request,) = await node.ask_to_run("ls")
    allow = {"resolutions": [{"request_id": request, "behavior": "allow"}]}
    path = f"/v1/workstreams/{ws}/approvals"
    async with person(console, "otto", "operator") as otto:
        before = await console.events(ws)
        await console.client.patch("/v1/users/otto", json={"state": "revoked"})
        keyed = {"Idempotency-Key": "once"}
        assert (await otto.client.post(path, json=allow, headers=keyed)).status_code == 401
        await console.client.patch("/v1/users/otto", json={"state": "active", "role": "viewer"})
        assert (await otto.client.post(path, json=allow, headers=keyed)).status_code == 401
        async with signed_in(console, "otto") as again:
            assert (await again.client.post(path, json=allow)).status_code == 403
        assert await console.events(ws) == before
    assert (await console.client.post(path, json=allow)).status_code == 200


@pytest.mark.req("B-33")
async def test_the_last_admin_cannot_be_shut_out(both: RunningConsole) -> None:
    for call in (
        both.client.patch("/v1/users/admin", json={"role": "operator"}),
        both.client.patch("/v1/users/admin", json={"state": "revoked"}),
        both.client.delete("/v1/users/admin"),
    ):
        answer = await call
        assert (answer.status_code, answer.json()["code"]) == (409, "last_admin")
    assert (await both.client.get("/v1/me")).json()["role"] == "admin"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "../x"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"name": "local"}, "name"),
        ({"name": "Clock"}, "name"),
        ({"name": "ana", "role": "root"}, "role"),
        ({"name": "ana", "scopes": []}, "scopes"),
    ],
)
async def test_a_user_that_cannot_be_is_refused_by_the_field(
    standing: RunningConsole, body: dict[str, Any], field: str
) -> None:
    answer = await standing.client.post("/v1/users", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert (await standing.client.get("/v1/users")).json()["total"] == 1


async def test_what_is_not_there_is_said_with_where_to_look(console: RunningConsole) -> None:
    no_such = "tok_1111111111111111111111"
    for method, path, status, code in [
        ("PATCH", "/v1/users/nobody", 404, "no_such_user"),
        ("DELETE", "/v1/users/nobody", 404, "no_such_user"),
        ("DELETE", f"/v1/tokens/{no_such}", 404, "no_such_token"),
        ("DELETE", "/v1/tokens/mine", 422, "malformed_id"),
        ("DELETE", "/v1/tokens/tok_0000000000000000000000", 409, "token_in_file"),
    ]:
        body = {"role": "viewer"} if method == "PATCH" else None
        answer = await console.client.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    await add_user(console, "ana", "viewer")
    again = await console.client.post("/v1/users", json={"name": "ana"})
    assert (again.status_code, again.json()["code"]) == (409, "user_exists")
    nothing = await console.client.patch("/v1/users/ana", json={})
    assert (nothing.status_code, nothing.json()["field"]) == (422, "role")


async def test_a_request_for_a_user_that_is_sent_again_gets_the_same_answer(
    both: RunningConsole,
) -> None:
    body, keyed = {"name": "ana", "role": "operator"}, {"Idempotency-Key": "k-1"}
    sent = [both.client.post("/v1/users", json=body, headers=keyed) for _ in range(5)]
    answers = await asyncio.gather(*sent)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    other = await both.client.post("/v1/users", json={"name": "bea"}, headers=keyed)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert await acts(both, who="admin") == [("admin", "user.created", "ana")]


@pytest.mark.req("B-33")
async def test_every_act_is_written_down_with_who_did_it(console: RunningConsole) -> None:
    async with person(console, "ida", "admin") as ida:
        await ida.client.post("/v1/users", json={"name": "ana"})
        await ida.client.patch("/v1/users/ana", json={"role": "operator"})
        made = (await ida.client.post("/v1/tokens", json={"name": "ana"})).json()
        await ida.client.post("/v1/signin-links", json={"name": "ana"})
        await ida.client.delete(f"/v1/tokens/{made['id']}")
        await ida.client.patch("/v1/users/ana", json={"state": "revoked"})
        await ida.client.delete("/v1/users/ana")
        refused = await ida.client.delete("/v1/users/ana")
        assert refused.status_code == 404
        assert await acts(console, who="ida") == [
            ("ida", "user.removed", "ana"),
            ("ida", "user.revoked", "ana"),
            ("ida", "token.revoked", made["id"]),
            ("ida", "signin_link.made", "ana"),
            ("ida", "token.minted", made["id"]),
            ("ida", "user.changed", "ana"),
            ("ida", "user.created", "ana"),
        ]
    assert await acts(console, act="user.created", limit=2) == [
        ("ida", "user.created", "ana"),
        ("admin", "user.created", "ida"),
    ]
    (*_, first) = await acts(console)
    assert first == ("console", "user.created", "admin")


async def test_a_link_signs_another_user_in_with_their_own_role(console: RunningConsole) -> None:
    await add_user(console, "vera", "viewer")
    link = await console.client.post("/v1/signin-links", json={"name": "vera"})
    code = link.json()["url"].rpartition("=")[2]
    async with console.new_client() as browser:
        me = await browser.post("/v1/signin", json={"code": code})
        assert me.json() == {"name": "vera", "role": "viewer", "scopes": ["read"]}
    refused = await console.client.post("/v1/signin-links", json={"name": "nobody"})
    assert (refused.status_code, refused.json()["field"]) == (422, "name")


@pytest.mark.fault("F72")
async def test_another_token_in_the_file_ends_the_one_before_with_its_sessions(
    console: RunningConsole,
) -> None:
    fresh = "another-token-of-the-tests"
    async with console.new_client() as browser:
        await browser.post("/v1/signin", json={"token": TOKEN})
        console.thread.end()
        Path(console.settings.console.admin_token_file).write_text(fresh)
        async with running(console.settings) as world:
            assert (await world.client.get("/v1/me")).status_code == 401
            assert (await browser.get("/v1/me")).status_code == 401
            async with world.new_client({"Authorization": f"Bearer {fresh}"}) as client:
                assert (await client.get("/v1/me")).json()["scopes"] == ALL
