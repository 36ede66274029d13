"""Every act that only admins may do is written down, with who did it."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from redshank_console.api.audited import Audited
from redshank_console.api.route_needs import NEEDS
from redshank_console.api.routing import Place
from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.principal import LOCAL
from redshank_shared.stores.admin_audits import AdminAudits
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.access_world import add_user, mint, person
from tests.integration.console_world import RunningConsole, running, settings_for

pytest_plugins = ("tests.integration.console_fixtures",)

AT = "2026-11-30T08:15:00.250Z"
RULE = {"scope": "user", "subject": "*", "pattern": "bash", "decision": "deny"}
SKILL = {"name": "tidy", "body": "Leave the place as you found it."}
SERVER = {"name": "wiki", "url": "https://wiki.example/mcp"}
SLOT = "/v1/secrets/mcp.custom.acme.TOKEN"
OTHER_SLOT = "/v1/secrets/mcp.custom.depot.TOKEN"
OTHER_SERVER = {"name": "depot", "url": "https://depot.example/mcp"}


async def _sent(
    client: httpx.AsyncClient, route: str, path: str = "", body: Any = None
) -> httpx.Response:
    method, _, usual = route.partition(" ")
    return await client.request(method, path or usual, json=body)


async def _rule(console: RunningConsole) -> str:
    answer = await console.client.post("/v1/permissions/rules", json=RULE)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def _user(console: RunningConsole) -> str:
    await add_user(console, "ana", "viewer")
    return "/v1/users/ana"


async def _other_user(console: RunningConsole) -> str:
    await add_user(console, "cleo", "viewer")
    return "/v1/users/cleo"


async def _slot(console: RunningConsole) -> str:
    answer = await console.client.put(SLOT, json={"value": "v" * 20})
    assert answer.status_code == 200, answer.text
    return f"{SLOT}/revoke"


async def _no_more(console: RunningConsole) -> str:
    return ""


async def _one_rule(console: RunningConsole) -> str:
    return f"/v1/permissions/rules/{await _rule(console)}"


async def _rule_by_query(console: RunningConsole) -> str:
    return f"/v1/permissions/rules?id={await _rule(console)}"


async def _token(console: RunningConsole) -> str:
    return f"/v1/tokens/{(await mint(console))['id']}"


async def _new_slot(console: RunningConsole) -> str:
    return OTHER_SLOT


async def _skill(console: RunningConsole) -> str:
    answer = await console.client.post("/v1/skills", json=SKILL)
    assert answer.status_code == 201, answer.text
    return "/v1/skills/tidy"


async def _posted_skill(console: RunningConsole) -> str:
    return f"/v1/skills/{SKILL['name']}"


async def _server(console: RunningConsole) -> str:
    answer = await console.client.post("/v1/mcp/servers", json=SERVER)
    assert answer.status_code == 201, answer.text
    return "/v1/mcp/servers/wiki"


async def _other_server(console: RunningConsole) -> str:
    answer = await console.client.post("/v1/mcp/servers", json=OTHER_SERVER)
    assert answer.status_code == 201, answer.text
    return "/v1/mcp/servers/depot"


LIMITS = {"limits": {"max_parallel_tools": 3}}
OTHER_LIMITS = {"limits": {"max_parallel_tools": 4}}
# Each write that only admins may do, in an order in which none stands in the way of a later one:
# what must be there before, where it is sent, its body.
ACTS: dict[str, tuple[Callable[[RunningConsole], Awaitable[str]], Any]] = {
    "DELETE /v1/mcp/servers/{name}": (_server, None),
    "DELETE /v1/permissions/rules": (_rule_by_query, None),
    "DELETE /v1/permissions/rules/{id}": (_one_rule, None),
    "DELETE /v1/tokens/{id}": (_token, None),
    "DELETE /v1/skills/{name}": (_skill, None),
    "DELETE /v1/users/{name}": (_user, None),
    "PATCH /v1/users/{name}": (_other_user, {"role": "operator"}),
    "POST /v1/mcp/servers": (_no_more, SERVER),
    "POST /v1/permissions/rules": (_no_more, RULE),
    "POST /v1/runtime/tool-limits": (_no_more, LIMITS),
    "POST /v1/secrets/rotate": (_no_more, None),
    "POST /v1/secrets/{slot}/revoke": (_slot, None),
    "POST /v1/signin-links": (_no_more, None),
    "POST /v1/skills": (_no_more, SKILL),
    "POST /v1/tokens": (_no_more, {}),
    "POST /v1/users": (_no_more, {"name": "bea"}),
    "PUT /v1/mcp/servers/{name}": (_other_server, {"url": "https://wiki.example/other"}),
    "PUT /v1/secrets/{slot}": (_new_slot, {"value": "v" * 20}),
    "PUT /v1/skills/{name}": (_posted_skill, {"body": "Leave it better."}),
    "PUT /v1/tool-limits": (_no_more, OTHER_LIMITS),
}

NAMED = {
    "mcp_server.added",
    "mcp_server.removed",
    "mcp_server.replaced",
    "rule.added",
    "rule.removed",
    "secret.revoked",
    "secret.set",
    "secrets.rotated",
    "signin_link.made",
    "skill.added",
    "skill.changed",
    "skill.removed",
    "token.minted",
    "token.revoked",
    "tool_limits.set",
    "user.changed",
    "user.created",
    "user.removed",
}


@pytest.fixture
async def console(tmp_path: Path, sqlite_url: str, valkey: Valkey) -> AsyncIterator[RunningConsole]:
    """A console with a master key."""
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(range(32))).decode())
    key_file.chmod(0o600)
    more = {"VAULT__KEY_FILE": str(key_file)}
    async with running(settings_for(tmp_path, sqlite_url, valkey.url, **more)) as world:
        yield world


@pytest.mark.req("B-33")
def test_every_write_that_is_an_admins_alone_is_tried_here() -> None:
    writes = {
        route
        for route, need in NEEDS.items()
        if need == "admin" and not route.startswith(("GET ", "HEAD "))
    }
    assert writes == set(ACTS)


@pytest.mark.req("B-33")
async def test_an_admins_write_is_one_act_in_their_name(console: RunningConsole) -> None:
    for number, (route, (before, body)) in enumerate(ACTS.items()):
        name = f"ida-{number}"
        async with person(console, name, "admin") as ida:
            path = await before(console)
            answer = await _sent(ida.client, route, path, body)
            assert answer.is_success, f"{route}: {answer.text}"
        page = (await console.client.get("/v1/audit", params={"who": name})).json()
        assert [act["who"] for act in page["items"]] == [name], route
        # A name of its own, not the route's: somebody has said what it means.
        assert page["items"][0]["act"] in NAMED, route
        assert "v" * 20 not in str(page), route


@pytest.mark.parametrize("route", ["POST /v1/permissions/rules", "PUT /v1/tool-limits"])
async def test_an_act_whose_request_is_repeated_is_one_act(
    console: RunningConsole, route: str
) -> None:
    method, _, path = route.partition(" ")
    keyed = {"Idempotency-Key": "once"}
    answers = [
        await console.client.request(method, path, json=ACTS[route][1], headers=keyed)
        for _ in range(3)
    ]
    assert {answer.text for answer in answers} == {answers[0].text}
    assert (await console.client.get("/v1/audit", params={"who": "admin"})).json()["total"] == 1


class Admitted:
    """What the door leaves in a request's scope."""

    def __init__(self, app: ASGIApp, place: Place) -> None:
        self._app = app
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["redshank.principal"], scope["redshank.place"] = LOCAL, self._place
        await self._app(scope, receive, send)


@pytest.mark.req("B-33")
@pytest.mark.parametrize(
    ("method", "need", "status", "recorded"),
    [
        ("POST", "admin", 200, ["POST /v1/things"]),
        ("DELETE", "admin", 204, ["DELETE /v1/things"]),
        ("GET", "admin", 200, []),
        ("POST", "operate", 200, []),
        ("POST", "admin", 409, []),
    ],
)
async def test_an_act_that_its_route_forgot_is_recorded_all_the_same(
    database: Database, method: str, need: Any, status: int, recorded: list[str]
) -> None:
    async def route(_request: Request) -> Response:
        return PlainTextResponse("", status)

    audits = AdminAudits(database)
    audit = AdminAudit(database, audits, lambda: AT, lambda: 0, lambda size: b"\0" * size)
    app = Starlette(routes=[Route("/v1/things", route, methods=[method])])
    door = Admitted(Audited(app, audit), Place(method, "/v1/things", need))
    transport = httpx.ASGITransport(door)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        assert (await client.request(method, "/v1/things")).status_code == status
    rows = audits.page().items
    assert [(row.who, row.act, row.target) for row in rows] == [
        ("local", act, "/v1/things") for act in recorded
    ]
