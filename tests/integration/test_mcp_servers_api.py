"""MCP servers over HTTP: what is refused, what is shown, what nobody is shown."""

import asyncio
import functools
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
from typer.testing import CliRunner

from redshank_console.bootstrap import Console
from redshank_console.cli.main import app
from redshank_console.services.mcp_rounds import ANSWER_SECONDS, McpRounds
from redshank_shared.queue.reports import McpServerReport
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.mcp_servers import Answered, McpServerRows
from redshank_shared.stores.mcp_tools import McpTools, SeenTool
from redshank_shared.wire.mcp_catalogue import ListedServer, ListedTool
from redshank_shared.wire.mcp_requests import McpServerRecord
from tests.fakes.valkey import Valkey
from tests.integration.access_world import person
from tests.integration.console_world import (
    DEADLINE_SECONDS,
    NO_PAGE,
    TOKEN,
    RunningConsole,
    ServingThread,
    running,
    settings_for,
)
from tests.integration.mcp_cluster_world import NodeSaid, telling

pytest_plugins = ("tests.integration.console_fixtures",)

AT = "2026-11-30T08:15:00.250Z"
WIKI = {"name": "wiki", "url": "https://wiki.example/mcp"}
SERVERS = "/v1/mcp/servers"
STDIO = {"name": "sh", "command": "sh"}


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, shared_valkey: Valkey
) -> Iterator[tuple[Settings, ServingThread]]:
    """A console for the tests of this file that have no wish of their own."""
    folder = tmp_path_factory.mktemp("mcp-servers")
    shutil.copy(sqlite_template, folder / "console.db")
    settings = settings_for(folder, f"sqlite:///{folder}/console.db", shared_valkey.url)
    thread = ServingThread(settings, NO_PAGE)
    thread.start()
    thread.listens.wait(DEADLINE_SECONDS)
    yield settings, thread
    thread.end()


@pytest.fixture
async def console(served: tuple[Settings, ServingThread]) -> AsyncIterator[RunningConsole]:
    """That console, without any server at the start."""
    world = RunningConsole(*served)
    for server in (await world.client.get(SERVERS)).json()["items"]:
        await world.client.delete(f"{SERVERS}/{server['name']}")
    yield world
    await world.close()


async def add(console: RunningConsole, **body: Any) -> httpx.Response:
    return await console.client.post(SERVERS, json=body)


def test_the_body_takes_every_field_of_a_server() -> None:
    fields = {field.name for field in msgspec.structs.fields(McpServer)}
    assert set(McpServerRecord.model_fields) == fields - {"name"}
    defaults = McpServer(name="")
    for name, field in McpServerRecord.model_fields.items():
        assert field.default == getattr(defaults, name), name


@pytest.mark.req("K-69")
async def test_a_record_that_contradicts_itself_is_refused_with_its_field(
    console: RunningConsole,
) -> None:
    wrong = []
    refused: list[tuple[dict[str, Any], str, str]] = [
        ({"name": "a"}, "command", "neither command nor url"),
        ({"name": "a", "url": "https://x", "command": "y"}, "url", "command and url"),
        ({"name": "a", "url": "ftp://x"}, "url", "neither https:// nor http://"),
        ({"name": "a__b", "url": "https://x"}, "name", "cannot name an MCP server"),
        ({"name": "a", "url": "https://x", "args": ["y"]}, "args", "take it out"),
        (
            {"name": "a", "url": "https://x", "headers": {"authorization": "x"}}
            | {"bearer_token_secret_ref": "mcp.custom.a.T"},
            "headers.authorization",
            "beside a bearer token",
        ),
        (
            {"name": "a", "url": "https://x", "bearer_token_secret_ref": "model.main"},
            "bearer_token_secret_ref",
            "begin with mcp.",
        ),
        ({"name": "a", "url": "https://x", "tool_timeout_sec": 0}, "tool_timeout_sec", "greater"),
        ({"name": "a", "url": "https://x", "nonsense": 1}, "nonsense", ""),
    ]
    for body, field, said in refused:
        answer = await add(console, **body)
        problem = answer.json()
        if (answer.status_code, problem["field"]) != (422, field) or said not in problem["detail"]:
            wrong.append((body, problem))
    assert wrong == []
    assert (await console.client.get(SERVERS)).json()["total"] == 0


@pytest.mark.req("K-69")
async def test_a_taken_name_is_a_conflict_whoever_has_it(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    file = tmp_path / "servers.json"
    file.write_text('{"mcpServers": {"mine": {"url": "https://mine.example/mcp"}}}')
    settings = settings_for(tmp_path, sqlite_url, valkey.url, MCP__CONFIG=str(file))
    async with AsyncExitStack() as stack:
        console = await stack.enter_async_context(running(settings))
        listed = ListedServer("theirs", "settings", {"command": "theirs"})
        theirs = NodeSaid("marsh", (McpServerReport("theirs", "failed"),), (listed,))
        await stack.enter_async_context(telling(console, theirs))
        assert (await add(console, **WIKI)).status_code == 201
        for name in ("wiki", "mine", "theirs"):
            answer = await add(console, name=name, url="https://b.example/mcp")
            assert (answer.status_code, answer.json()["code"]) == (409, "mcp_name_taken"), name
        alike = await add(console, name="wi.ki".replace(".", "_"), url="https://b.example/mcp")
        assert alike.status_code == 201
        same = await add(console, name="wi.ki", url="https://b.example/mcp")
        assert (same.status_code, same.json()["field"]) == (409, "name")

        for name in ("mine", "theirs"):
            kept = await console.client.delete(f"{SERVERS}/{name}")
            assert (kept.status_code, kept.json()["code"]) == (409, "mcp_server_of_settings")
        page = (await console.client.get(SERVERS)).json()
        origins = {each["name"]: each["origin"] for each in page["items"]}
        assert origins == dict(mine="settings", theirs="settings", wi_ki="added", wiki="added")


@pytest.mark.req("K-62")
@pytest.mark.fault("F12")
async def test_no_answer_has_a_secret_of_a_record(console: RunningConsole) -> None:
    secret = "canary-7b1f-secret"
    added = await add(
        console,
        name="wiki",
        url=f"https://me:{secret}@wiki.example/mcp?key={secret}#{secret}",
        headers={"X-Key": secret},
        http_header_secret_refs={"X-Slot": "mcp.custom.wiki.KEY"},
    )
    assert added.status_code == 201, added.text
    command = await add(console, name="local", command="srv", args=["--token", secret, "-v"])
    kept = await console.client.put(
        f"{SERVERS}/local", json={"command": "srv", "env": {"KEY": secret}, "args": ["-q"]}
    )
    seen = [added.text, command.text, kept.text]
    for path in (SERVERS, f"{SERVERS}/wiki", f"{SERVERS}/local", "/v1/audit", "/v1/mcp/slots"):
        answer = await console.client.get(path)
        assert answer.status_code == 200, answer.text
        seen.append(answer.text)
    assert not [text for text in seen if secret in text]
    shown = (await console.client.get(f"{SERVERS}/wiki")).json()
    assert shown["address"] == "https://***@wiki.example/mcp?***#***"
    assert shown["record"]["http_header_secret_refs"] == {"X-Slot": "mcp.custom.wiki.KEY"}
    assert shown["auth"] == "headers"


@pytest.mark.fault("F68")
async def test_only_an_admin_adds_changes_removes_a_server(console: RunningConsole) -> None:
    async with person(console, "otto", "operator") as otto, person(console, "ida", "admin") as ida:
        for body in (STDIO, WIKI):
            place = f"{SERVERS}/{body['name']}"
            record = {key: value for key, value in body.items() if key != "name"}
            refused = await otto.client.post(SERVERS, json=body)
            assert refused.status_code == 403
            assert (await ida.client.post(SERVERS, json=body)).json()["added_by"] == "ida"
            for answer in (
                await otto.client.put(place, json=record),
                await otto.client.delete(place),
            ):
                assert answer.status_code == 403
            assert (await ida.client.delete(place)).status_code == 200


async def test_a_repeated_request_adds_one_server(console: RunningConsole) -> None:
    keyed = {"Idempotency-Key": "once"}
    answers = [await console.client.post(SERVERS, json=WIKI, headers=keyed) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].text == answers[1].text
    other = await console.client.post(SERVERS, json=STDIO, headers=keyed)
    assert other.json()["code"] == "idempotency_key_reused"


@pytest.mark.req("C-50")
async def test_a_way_that_the_operator_does_not_allow_is_refused(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    settings = settings_for(tmp_path, sqlite_url, valkey.url, MCP__TRANSPORTS="http")
    async with running(settings) as console:
        answer = await add(console, **STDIO)
        assert (answer.status_code, answer.json()["field"]) == (422, "command")
        assert (await add(console, **WIKI)).status_code == 201


@pytest.mark.req("B-26", "T-78")
async def test_the_list_has_each_server_on_each_node_with_the_totals(
    console: RunningConsole,
) -> None:
    assert (await add(console, **WIKI)).status_code == 201
    assert (await add(console, name="mail", url="https://mail.example/mcp")).status_code == 201
    well = McpServerReport("wiki", "connected", AT, "", 12.0, 5, 7, 3, 1, 2, 40, 1, 9, 1)
    down = McpServerReport("wiki", "failed", AT, "connection refused")
    login = McpServerReport("mail", "needs_login", AT)
    nodes = NodeSaid("marsh-1", (well, login)), NodeSaid("marsh-2", (down,))
    async with telling(console, *nodes):
        page = (await console.client.get(SERVERS)).json()
        first = (await console.client.get(SERVERS, params={"limit": 1})).json()
        rest = {"limit": 1, "cursor": first["next_cursor"]}
        second = (await console.client.get(SERVERS, params=rest)).json()
    mail, wiki = page["items"]
    on_wiki, on_mail = ({node["node"]: node for node in each["nodes"]} for each in (wiki, mail))
    assert [on_wiki[name]["state"] for name in ("marsh-1", "marsh-2")] == ["connected", "failed"]
    assert on_wiki["marsh-2"]["detail"] == "connection refused"
    assert [on_mail[name]["state"] for name in ("marsh-1", "marsh-2")] == ["needs_login", None]
    assert (wiki["state"], wiki["tools"], wiki["offered"]) == ("failed", 5, 7)
    assert (wiki["calls"], wiki["errors"], wiki["latency_ms"]) == (40, 1, 12.0)
    assert (wiki["hour_calls"], page["totals"]["hour_calls"]) == (9, 9)
    assert (wiki["hour_errors"], page["totals"]["hour_errors"]) == (1, 1)
    totals = page["totals"]
    assert {name: totals[name] for name in ("servers", "well", "down", "needs_login")} == {
        "servers": 2,
        "well": 0,
        "down": 2,
        "needs_login": 1,
    }
    assert [totals[name] for name in ("tools", "offered", "resources", "prompts")] == [5, 7, 3, 2]

    assert [each["name"] for each in (*first["items"], *second["items"])] == ["mail", "wiki"]
    assert (second["next_cursor"], second["total"], second["totals"]) == (None, 2, totals)


@pytest.mark.req("B-26", "K-48")
async def test_one_server_has_all_that_it_offers_with_what_is_decided_on_it(
    both: RunningConsole,
) -> None:
    assert (await add(both, **WIKI)).status_code == 201
    schema = {"type": "object"}
    listed = ListedServer(
        "wiki",
        "added",
        {},
        protocol="2026-07-28",
        tools=(ListedTool("find", "mcp__wiki__find", "", "Finds pages", schema),),
        warnings=("no message: hello",),
    )
    line = McpServerReport("wiki", "connected", tools=1)
    rule = {"scope": "user", "subject": "*", "pattern": "mcp__wiki__find", "decision": "deny"}
    nodes = [NodeSaid(name, (line,), (listed,)) for name in ("marsh-1", "marsh-2")]
    async with telling(both, *nodes):
        asked = (await both.client.get(f"{SERVERS}/wiki")).json()
        assert (await both.client.post("/v1/permissions/rules", json=rule)).status_code == 201
        denied = (await both.client.get(f"{SERVERS}/wiki")).json()

    (tool,) = asked["tools_list"]
    assert (tool["name"], tool["exposed"], tool["decision"]) == ("find", "mcp__wiki__find", "ask")
    assert (tool["input_schema"], tool["changed"]) == (schema, None)
    assert tool["nodes"] == ["marsh-1", "marsh-2"]
    assert denied["tools_list"][0]["decision"] == "deny"
    assert asked["protocol"] == "2026-07-28"
    assert asked["warnings"] == {name: ["no message: hello"] for name in ("marsh-1", "marsh-2")}


@pytest.mark.fault("F64")
async def test_a_changed_tool_is_shown_with_the_difference_until_it_is_accepted(
    both: RunningConsole,
) -> None:
    assert (await add(both, **WIKI)).status_code == 201
    tools = McpTools(both.database)
    first = SeenTool("wiki", "find", "sha256:1", "Finds", '{"type":"object"}')
    now = SeenTool("wiki", "find", "sha256:2", "Finds, deletes", '{"type":"object","x":1}')
    for seen in (first, now):
        await both.database.run(tools.saw, seen, AT)
    listed = ListedServer("wiki", "added", {}, tools=(ListedTool("find", "mcp__wiki__find"),))
    marsh = NodeSaid("marsh", (McpServerReport("wiki", "connected"),), (listed,))
    rule = {"scope": "user", "subject": "*", "pattern": "mcp__wiki__find", "decision": "allow"}
    kept = await both.client.post("/v1/permissions/rules", json={**rule, "confirm": True})
    assert kept.status_code == 201, kept.text

    path = f"{SERVERS}/wiki/tools/find/accept"
    async with telling(both, marsh):
        shown = (await both.client.get(f"{SERVERS}/wiki")).json()
        moved = await both.client.post(path, json={"digest": "sha256:1"})
        done = await both.client.post(path, json={"digest": "sha256:2"})

    (tool,) = shown["tools_list"]
    assert (shown["changed"], tool["decision"]) == (1, "ask")
    change = tool["changed"]
    assert (change["description_before"], change["digest"]) == ("Finds", "sha256:2")
    assert change["description_after"] == "Finds, deletes"
    assert change["schema_after"] == {"type": "object", "x": 1}
    assert (moved.status_code, moved.json()["code"]) == (409, "mcp_change_moved")
    assert done.status_code == 200, done.text
    (tool,) = done.json()["tools_list"]
    assert (tool["changed"], tool["decision"], done.json()["changed"]) == (None, "allow", 0)
    audit = (await both.client.get("/v1/audit", params={"act": "mcp_tool.accepted"})).json()
    assert audit["items"][0]["target"] == "wiki/find"


@pytest.mark.req("K-69")
async def test_a_change_that_is_repeated_while_it_is_carried_out_gets_the_answer_of_the_first(
    both: RunningConsole,
) -> None:
    named = f"{SERVERS}/wiki"
    changes = [
        ("POST", SERVERS, WIKI, 201),
        ("PUT", named, {"url": "https://wiki.example/v2"}, 200),
        ("DELETE", named, None, 200),
    ]
    # The ways to the console and its database are open: none of them waits for that.
    await asyncio.gather(*(both.client.get(SERVERS) for _ in range(5)))
    for method, path, body, status in changes:
        headers = {"Idempotency-Key": f"once-{method}"}
        send = functools.partial(both.client.request, method, path, json=body, headers=headers)
        first, *others = await asyncio.gather(*(send() for _ in range(5)))
        assert first.status_code == status, first.text
        assert {(other.status_code, other.text) for other in others} == {(status, first.text)}
    acts = (await both.client.get("/v1/audit")).json()["items"]
    done = [each["act"] for each in acts if each["act"].startswith("mcp_server")]
    assert sorted(done) == ["mcp_server.added", "mcp_server.removed", "mcp_server.replaced"]


ODD_NAMES = ("a/b", "a%2Fb", "..", "tools", "-x", "/", "a/accept")


def changed_once(console: RunningConsole, server: str, *names: str) -> None:
    tools = McpTools(console.database)
    for digest in ("sha256:1", "sha256:2"):
        tools.saw_all(server, [SeenTool(server, name, digest, "", "{}") for name in names], AT)


def still_changed(console: RunningConsole, server: str) -> list[str]:
    return [each.tool for each in McpTools(console.database).of(server) if each.changed_digest]


@pytest.mark.fault("F64")
async def test_a_changed_tool_is_accepted_whatever_characters_its_server_gave_its_name(
    console: RunningConsole,
) -> None:
    assert (await add(console, **WIKI)).status_code == 201
    changed_once(console, "wiki", *ODD_NAMES)
    path = f"{SERVERS}/wiki/tools/accept"
    for name in ODD_NAMES[:3]:
        body = {"tool": name, "digest": "sha256:2"}
        done = await console.client.post(path, json=body)
        assert done.status_code == 200, (name, done.text)
        again = await console.client.post(path, json=body)
        assert (again.status_code, again.json()["code"]) == (409, "mcp_change_moved")
    for name in ODD_NAMES[3:]:
        words = ("mcp", "accept", "wiki", "--digest", "sha256:2", "--url", console.url)
        runner = CliRunner(env={"HOME": "/nonexistent", "REDSHANK_TOKEN": TOKEN})
        ran = await asyncio.to_thread(runner.invoke, app, [*words, "--", name])
        assert (ran.exit_code, ran.output) == (0, f"{name} of wiki is accepted as it is now\n")
    assert not set(ODD_NAMES) & set(still_changed(console, "wiki"))
    acts = (await console.client.get("/v1/audit", params={"act": "mcp_tool.accepted"})).json()
    assert {f"wiki/{name}" for name in ODD_NAMES} <= {each["target"] for each in acts["items"]}


@pytest.mark.fault("F64")
async def test_the_path_that_names_a_tool_takes_every_name_without_a_slash(
    console: RunningConsole,
) -> None:
    assert (await add(console, name="sea", url="https://sea.example/mcp")).status_code == 201
    names = ("a%2Fb", "tools", "a b?c#d", "ü")
    changed_once(console, "sea", *names)
    for name in names:
        path = f"{SERVERS}/sea/tools/{quote(name, safe='')}/accept"
        done = await console.client.post(path, json={"digest": "sha256:2"})
        assert done.status_code == 200, (name, done.text)
    assert still_changed(console, "sea") == []


@pytest.mark.req("T-73")
async def test_a_silent_node_is_asked_and_not_waited_for_longer_than_ten_seconds(
    console: RunningConsole,
) -> None:
    assert (await add(console, **WIKI)).status_code == 201
    rows = McpServerRows(console.database)
    # A clock of the test's own: each look is six seconds after the one before.
    ticks = itertools.count(0.0, ANSWER_SECONDS * 0.6)
    other = Console(console.settings)
    reading, audit = other.parts.mcp.reading, other.parts.admin_audit
    told: list[str] = []

    async def tell() -> None:
        told.append("look")

    rounds = McpRounds(console.database, reading, audit, lambda: next(ticks), tell)
    serial = await console.database.run(rows.order, ["wiki"], "refresh")
    quick, silent = NodeSaid("quick"), NodeSaid("silent")
    async with telling(console, quick, silent):
        said = Answered(quick.node_id, "wiki", serial + 9, 0, ("egg",))
        await console.database.run(rows.answer, said)
        view = await rounds.of_server("wiki", "refresh", "ana")
    await other.close()

    by_node = {each.node: each for each in view.nodes}
    assert (by_node["quick"].answered, by_node["quick"].added) == (True, ["egg"])
    assert not by_node["silent"].answered
    assert told == ["look"]


async def test_an_order_for_a_server_that_is_not_there_is_not_found(
    console: RunningConsole,
) -> None:
    for path in ("nobody/refresh", "nobody/reconnect", "nobody/tools/x/accept"):
        answer = await console.client.post(f"{SERVERS}/{path}", json={})
        assert answer.status_code in (404, 422), path
    assert (await console.client.post(f"{SERVERS}/nobody/refresh")).status_code == 404
    assert (await console.client.get(f"{SERVERS}/nobody")).status_code == 404
    assert (await console.client.post("/v1/mcp/refresh")).json() == {"items": []}


@pytest.mark.req("K-71")
async def test_slots_that_servers_name_are_listed_with_what_is_in_them(
    console: RunningConsole,
) -> None:
    slot = "mcp.custom.wiki.TOKEN"
    assert (await add(console, **WIKI, bearer_token_secret_ref=slot)).status_code == 201
    (shown,) = (await console.client.get("/v1/mcp/slots")).json()["items"]
    assert shown == {
        "server": "wiki",
        "slot": slot,
        "field": "bearer_token_secret_ref",
        "state": "missing",
    }


@pytest.mark.req("K-56")
async def test_the_catalog_is_listed_and_shown_with_its_slots(console: RunningConsole) -> None:
    page = (await console.client.get("/v1/mcp/catalog", params={"limit": 3})).json()
    assert (len(page["items"]), page["total"]) == (3, 10)
    github = (await console.client.get("/v1/mcp/catalog/github")).json()
    assert github["slots"] == ["mcp.custom.github.BEARER_TOKEN"]
    added = await add(console, name="github", **github["record"])
    assert (added.status_code, added.json()["auth"]) == (201, "bearer")
    near = await console.client.get("/v1/mcp/catalog/githup")
    assert near.status_code == 404
    assert "did you mean github?" in near.json()["detail"]
    profiles = (await console.client.get("/v1/mcp/profiles")).json()
    assert {each["name"] for each in profiles["items"]} == {"try", "local", "web", "work"}
    assert (await console.client.get("/v1/mcp/profiles/locla")).status_code == 404
