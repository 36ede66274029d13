"""Every route of the console, each role, nobody: who is let in where."""

from collections.abc import AsyncIterator
from typing import Literal

import httpx
import pytest

from redshank_console.api.app import api
from redshank_console.api.page import root_files
from redshank_console.api.route_needs import NEEDS
from redshank_console.api.routing import Place, places
from redshank_console.bootstrap import PAGE_FOLDER, Console
from redshank_shared.settings.load import load
from tests.integration.access_world import person
from tests.integration.console_world import RunningConsole

pytest_plugins = ("tests.integration.console_fixtures",)

Least = Literal["nobody", "anyone", "viewer", "operator", "admin"]
# `stripped`: a token for writing, whose user may only read now, so that nothing is left of it.
WHO = ("nobody", "stripped", "viewer", "operator", "admin")
# The least that lets in: `anyone` is who has signed in, whatever their token may.
OF_A_WORKSTREAM: dict[str, Least] = {
    "GET ": "viewer",
    "GET /{id}": "viewer",
    "GET /{id}/events": "viewer",
    "GET /{id}/export": "viewer",
    "GET /{id}/previews": "viewer",
    "GET /{id}/history": "viewer",
    "GET /{id}/permission-audits": "viewer",
    "GET /{id}/questions": "viewer",
    "POST ": "operator",
    "POST /{id}/approval-runs": "operator",
    "POST /{id}/approvals": "operator",
    "POST /{id}/cancel": "operator",
    "POST /{id}/close": "operator",
    "POST /{id}/compact": "operator",
    "POST /{id}/fork": "operator",
    "POST /{id}/messages": "operator",
    "POST /{id}/mode": "operator",
    "POST /{id}/questions": "operator",
    "POST /{id}/questions/{rid}/cancel": "operator",
    "POST /{id}/retry": "operator",
    "POST /{id}/revoke-grant": "operator",
}
OTHERS: dict[str, Least] = {
    "DELETE /v1/permissions/rules": "admin",
    "DELETE /v1/permissions/rules/{id}": "admin",
    "DELETE /v1/tokens/{id}": "admin",
    "DELETE /v1/skills/{name}": "admin",
    "DELETE /v1/users/{name}": "admin",
    "DELETE /v1/schedules/{id}/hook": "operator",
    "GET /": "nobody",
    "GET /health": "nobody",
    "GET /metrics": "viewer",
    "GET /openapi.json": "nobody",
    "GET /v1/approvals": "viewer",
    "GET /v1/approvals/decided": "viewer",
    "GET /v1/assets/{digest}": "viewer",
    "GET /v1/audit": "admin",
    "GET /v1/cluster/events": "viewer",
    "GET /v1/cluster/nodes": "viewer",
    "GET /v1/cluster/nodes/{id}": "viewer",
    "GET /v1/cluster/overview": "viewer",
    "GET /v1/cluster/snapshot": "viewer",
    "GET /v1/hooks/dead-letters": "viewer",
    "GET /v1/ledger": "viewer",
    "GET /v1/ledger/export": "viewer",
    "GET /v1/ledger/keys": "viewer",
    "GET /v1/ledger/verify": "viewer",
    "GET /v1/me": "anyone",
    "GET /v1/mcp/servers": "viewer",
    "POST /v1/mcp/servers": "admin",
    "GET /v1/mcp/servers/{name}": "viewer",
    "PUT /v1/mcp/servers/{name}": "admin",
    "DELETE /v1/mcp/servers/{name}": "admin",
    "POST /v1/mcp/servers/{name}/refresh": "operator",
    "POST /v1/mcp/servers/{name}/reconnect": "operator",
    "POST /v1/mcp/servers/{name}/tools/accept": "operator",
    "POST /v1/mcp/servers/{name}/tools/{tool}/accept": "operator",
    "POST /v1/mcp/refresh": "operator",
    "GET /v1/mcp/catalog": "viewer",
    "GET /v1/mcp/catalog/{name}": "viewer",
    "GET /v1/mcp/profiles": "viewer",
    "GET /v1/mcp/profiles/{name}": "viewer",
    "GET /v1/mcp/slots": "admin",
    "GET /v1/mcp/accounts": "viewer",
    "GET /v1/mcp/servers/{name}/login": "viewer",
    "POST /v1/mcp/servers/{name}/login": "operator",
    "POST /v1/mcp/servers/{name}/login/refresh": "operator",
    "POST /v1/mcp/servers/{name}/logout": "operator",
    "POST /v1/mcp/oauth/complete": "operator",
    "GET /v1/mcp/oauth/callback": "nobody",
    "GET /v1/mcp/oauth/client.json": "nobody",
    "GET /v1/permissions/decisions": "viewer",
    "GET /v1/permissions/rules": "viewer",
    "GET /v1/profiles": "viewer",
    "GET /v1/profiles/{name}": "viewer",
    "GET /v1/questions": "viewer",
    "GET /v1/runs/{id}": "viewer",
    "GET /v1/runtime/tool-limits": "viewer",
    "GET /v1/schedules": "viewer",
    "GET /v1/schedules/{id}": "viewer",
    "GET /v1/secrets": "admin",
    "GET /v1/skills": "viewer",
    "GET /v1/skills/{name}": "viewer",
    "GET /v1/tokens": "admin",
    "GET /v1/tool-limits": "viewer",
    "GET /v1/tool-surface": "viewer",
    "GET /v1/users": "admin",
    "HEAD /": "nobody",
    "HEAD /openapi.json": "nobody",
    "PATCH /v1/users/{name}": "admin",
    "POST /v1/hooks/watch/{token}": "nobody",
    "POST /v1/permissions/check": "viewer",
    "POST /v1/permissions/diff": "viewer",
    "POST /v1/permissions/matrix": "viewer",
    "POST /v1/permissions/rules": "admin",
    "POST /v1/permissions/test": "viewer",
    "POST /v1/runs/{id}/approvals": "operator",
    "POST /v1/runs/{id}/questions": "operator",
    "POST /v1/runs/{id}/questions/{rid}/cancel": "operator",
    "POST /v1/runtime/permissions/check": "viewer",
    "POST /v1/runtime/permissions/matrix": "viewer",
    "POST /v1/runtime/tool-limits": "admin",
    "POST /v1/schedules": "operator",
    "POST /v1/schedules/{id}/cancel": "operator",
    "POST /v1/schedules/{id}/hook": "operator",
    "POST /v1/schedules/{id}/pause": "operator",
    "POST /v1/schedules/{id}/resume": "operator",
    "POST /v1/schedules/{id}/trigger": "operator",
    "POST /v1/secrets/rotate": "admin",
    "POST /v1/secrets/{slot}/revoke": "admin",
    "POST /v1/signin": "nobody",
    "POST /v1/signin-links": "admin",
    "POST /v1/signout": "anyone",
    "POST /v1/skills": "admin",
    "POST /v1/tokens": "admin",
    "POST /v1/users": "admin",
    "PUT /v1/secrets/{slot}": "admin",
    "PUT /v1/skills/{name}": "admin",
    "PUT /v1/tool-limits": "admin",
}
# The door is open there, the route itself asks for an admin's token or a service's.
BY_SERVICE_TOKEN = "POST /v1/cluster/services"
A_GATEWAY = {"service_id": "gw-1", "kind": "gateway", "address": "http://x", "version": "1"}
LETS_IN: dict[Least, frozenset[str]] = {
    "nobody": frozenset(WHO),
    "anyone": frozenset(WHO[1:]),
    "viewer": frozenset(WHO[2:]),
    "operator": frozenset(WHO[3:]),
    "admin": frozenset(WHO[4:]),
}


def expected() -> dict[str, Least]:
    """`METHOD path` to the least that lets in."""
    below: dict[str, Least] = {
        key.replace(" ", f" {prefix}", 1): least
        for prefix in ("/v1/workstreams", "/v1/sessions")
        for key, least in OF_A_WORKSTREAM.items()
    }
    return {**below, **OTHERS, BY_SERVICE_TOKEN: "admin"}


def walked() -> list[Place]:
    """Every route of the app but the page's own files."""
    settings = load(None, {"HOME": "/nonexistent", "REDSHANK_DATABASE__URL": "sqlite:////tmp/none"})
    files = root_files(PAGE_FOLDER)
    return [place for place in places(api(Console(settings).parts)) if place.path not in files]


@pytest.fixture
async def clients(console: RunningConsole) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """A client for each of WHO."""
    async with (
        console.new_client() as nobody,
        person(console, "max", "operator", scopes=["operate", "approve"]) as stripped,
        person(console, "vera", "viewer") as viewer,
        person(console, "otto", "operator") as operator,
        person(console, "ida", "admin") as admin,
    ):
        lowered = await console.client.patch("/v1/users/max", json={"role": "viewer"})
        assert lowered.status_code == 200
        people = [each.client for each in (stripped, viewer, operator, admin)]
        yield dict(zip(WHO, (nobody, *people), strict=True))


@pytest.mark.req("B-33")
@pytest.mark.fault("F71")
def test_no_route_is_without_a_line_in_both_tables() -> None:
    routes = {f"{place.method} {place.path}" for place in walked()}
    assert routes == set(expected())
    assert routes == set(NEEDS)


@pytest.mark.fault("F71")
def test_a_route_without_a_line_is_an_admins_alone() -> None:
    settings = load(None, {"HOME": "/nonexistent", "REDSHANK_DATABASE__URL": "sqlite:////tmp/none"})
    app = api(Console(settings).parts)
    assert {place.need for place in places(app, needs={})} == {"admin"}


@pytest.mark.req("B-33")
@pytest.mark.fault("F71")
@pytest.mark.timeout(300)
async def test_each_role_is_let_in_where_the_table_says_so_nowhere_else(
    clients: dict[str, httpx.AsyncClient],
) -> None:
    wrong = []
    for route, least in expected().items():
        for who in WHO:
            status = await status_of(clients[who], route)
            let_in = status not in (401, 403)
            if route == "POST /v1/signin":
                # Without a credential it is refused for what it lacks, not for who asks.
                let_in = status == 422
            if let_in != (who in LETS_IN[least]):
                wrong.append((route, who, status))
            if not let_in and status != (401 if who == "nobody" else 403):
                wrong.append((route, who, status))
    assert wrong == []


async def status_of(client: httpx.AsyncClient, route: str) -> int:
    """The status of a request to this route, with ids of what is not there."""
    method, _, path = route.partition(" ")
    for part, value in [
        ("{id}", "ws_0000000000000000000000"),
        ("{rid}", "qst_0000000000000000000000"),
        ("{name}", "nobody-of-this-name"),
        ("{slot}", "no.such.slot"),
        ("{tool}", "no-such-tool"),
        ("{digest}", "sha256:0"),
    ]:
        path = path.replace(part, value)
    body = None if method in ("GET", "HEAD", "DELETE") else {"nonsense": 1}
    body = A_GATEWAY if route == BY_SERVICE_TOKEN else body
    # A stream's status is all that is read of it.
    async with client.stream(method, path, json=body) as answer:
        return answer.status_code
