"""Secrets put wherever a person could put them: none is in anything that the product wrote."""

import asyncio
import base64
import contextlib
import json
import os
import secrets
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.e2e.redshank_up import Home, Up
from tests.fakes.model_server import ModelServer, Reply, chunk, events, model_server

pytestmark = pytest.mark.timeout(180)

PATIENCE_SECONDS = 30.0


def canary(name: str) -> str:
    return f"canary-{name}-{secrets.token_hex(12)}"


class Canaries:
    """Twenty secrets, each under the name of the place where a person put it."""

    def __init__(self) -> None:
        named = ("model_slot", "model_slot_new", "model_variable", "mcp_slot", "hook_slot")
        named += ("channel_slot", "replaced", "revoked", "service", "discord", "database")
        named += ("unrelated_variable", "bearer_sent", "query_sent", "refused_value", "argument")
        made = {name: canary(name) for name in named}
        # What real ones look like: nobody told the product of these.
        made["provider_echo"] = f"sk-proj-{secrets.token_hex(16)}"
        made["metrics_token"] = secrets.token_hex(16)
        made["admin_token"] = f"rs_{secrets.token_urlsafe(32)}"
        made["key_in_pem"] = base64.b64encode(secrets.token_bytes(45)).decode()
        self.by_name: dict[str, str] = made

    def __getattr__(self, name: str) -> str:
        return self.by_name[name]

    def found_in(self, data: bytes) -> list[str]:
        """The names of those that stand in it, as they are or in base64."""
        return [
            name
            for name, value in self.by_name.items()
            if value.encode() in data or base64.b64encode(value.encode())[:-4] in data
        ]


class Person:
    """Speaks HTTP to the console and keeps every byte that came back."""

    def __init__(self, url: str, token: str) -> None:
        self.heard: list[tuple[str, bytes]] = []
        headers = {"Authorization": f"Bearer {token}", "X-Redshank": "1"}
        self.http = httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_SECONDS)

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        answer = await self.http.request(method, path, **more)
        told = repr(answer.headers).encode() + answer.content
        self.heard.append((f"{method} {path}", told))
        return answer

    async def put(self, slot: str, value: str) -> None:
        answer = await self.ask("PUT", f"/v1/secrets/{slot}", json={"value": value})
        assert answer.status_code == 200, answer.text

    async def rest(self, workstream: str, state: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                view = dict((await self.ask("GET", f"/v1/workstreams/{workstream}")).json())
                if view["state"] == state:
                    return view
                await asyncio.sleep(0.05)

    async def send(self, workstream: str, text: str) -> None:
        path = f"/v1/workstreams/{workstream}/messages"
        assert (await self.ask("POST", path, json={"text": text})).status_code == 202

    async def listen(self, path: str) -> None:
        """Keep a stream's bytes until cancelled."""
        headers = {"Accept": "text/event-stream"}
        with contextlib.suppress(httpx.TransportError):
            async with self.http.stream("GET", path, headers=headers) as answer:
                async for data in answer.aiter_bytes():
                    self.heard.append((f"stream {path}", data))


def answer_with_calls(*commands: str) -> Reply:
    """An answer that asks for these commands, one batch."""
    calls = [
        {
            "index": number,
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": command})},
        }
        for number, command in enumerate(commands)
    ]
    return Reply(events(chunk({"tool_calls": calls}), chunk(finish="tool_calls"), "[DONE]"))


def text_answer(text: str) -> Reply:
    return Reply(events(chunk({"content": text}), chunk(finish="stop"), "[DONE]"))


def replies(canaries: Canaries, home: Home) -> list[Reply]:
    """What the model asks for: everything a careless or hostile agent would look at."""
    leaks = home.workspace / "leaks.txt"
    halves = (
        f"sh -c 'head -c 20 {leaks}; sleep 0.4; tail -c +21 {leaks} | head -c 40; sleep 0.4; "
        f"tail -c +61 {leaks}'"
    )
    refusal = {
        "error": {
            "message": f"Incorrect API key provided: {canaries.provider_echo}. "
            f"You sent Bearer {canaries.model_slot}",
            "code": "invalid_api_key",
        }
    }
    return [
        answer_with_calls(
            "env",
            f"cat {leaks}; base64 -w0 {leaks}; xxd -p {leaks} || true",
            halves,
            f"cat {home.data}/vault.key {home.folder}/tokens/*; cat {home.folder}/redshank.toml",
            f"cat {home.workspace}/key.pem >&2; false",
            f"cat $(sed 's:.*:/proc/&/environ:' {home.workspace}/pids) | tr '\\0' '\\n'",
            f"python3 -c 'raise ValueError(open(\"{leaks}\").read())'",
        ),
        text_answer("done"),
        Reply(
            [json.dumps(refusal).encode()], status=401, content_type="application/json", end="keep"
        ),
        text_answer("again"),
    ]


def configure(home: Home, canaries: Canaries, model_url: str, database_url: str) -> None:
    """Put the secrets where people put them."""
    tokens = home.folder / "tokens"
    tokens.mkdir()
    for name in ("admin_token", "metrics_token"):
        (tokens / name).write_text(f"{canaries.by_name[name]}\n")
    database = f'[database]\nurl = "{database_url}"\n' if database_url else ""
    (home.folder / "redshank.toml").write_text(
        f"""{database}
[console]
admin_token_file = "{tokens / "admin_token"}"
[metrics]
token_file = "{tokens / "metrics_token"}"
[log]
level = "debug"
[gateway.discord]
token_env = "BOT_OF_THE_MARSH"
api_url = "http://127.0.0.1:9"
gateway_url = "ws://127.0.0.1:9"
[models.main]
provider = "openai"
model = "m"
base_url = "{model_url}/v1"
api_key_slot = "model.main"
[models.other]
provider = "openai"
model = "m"
base_url = "{model_url}/v1"
api_key_env = "OTHER_MODEL"
[models.demo]
provider = "demo"
"""
    )
    home.environ |= {
        "REDSHANK_CONFIG": str(home.folder / "redshank.toml"),
        "OTHER_MODEL": canaries.model_variable,
        "BOT_OF_THE_MARSH": canaries.discord,
        "REDSHANK_SLOT__GATEWAY_SERVICE": canaries.service,
        "PAYROLL_API_KEY": canaries.unrelated_variable,
        # What a sandbox keeps away must be masked where there is none.
        "REDSHANK_SANDBOX__BACKEND": "none",
    }
    slots = ("model_slot", "mcp_slot", "hook_slot", "channel_slot", "replaced", "revoked")
    leaked = [*(canaries.by_name[name] for name in slots), database_url]
    (home.workspace / "leaks.txt").write_text("\n".join(leaked))
    pem = f"-----BEGIN PRIVATE KEY-----\n{canaries.key_in_pem}\n-----END PRIVATE KEY-----\n"
    (home.workspace / "key.pem").write_text(pem)


async def set_by_command(home: Home, slot: str, value: str) -> None:
    """`redshank secrets set`, the value on its standard input."""
    done = await asyncio.to_thread(
        subprocess.run,
        home.command("secrets", "set", slot),
        input=f"{value}\n",
        env=home.environ,
        cwd=home.workspace,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert value not in done.stdout + done.stderr


async def misuse(person: Person, canaries: Canaries) -> None:
    """Bad input that holds secrets: every answer must leave them out."""
    value = {"value": canaries.refused_value}
    ask = person.ask
    await ask("PUT", "/v1/secrets/model.main", json=[value])
    await ask("PUT", "/v1/secrets/model.main", json={"value": [canaries.refused_value]})
    await ask("PUT", "/v1/secrets/model.main", json={**value, "more": canaries.argument})
    await ask("PUT", "/v1/secrets/payroll.main", json=value)
    await ask("PUT", "/v1/secrets/model.main", content=f'{{"value": "{canaries.refused_value}')
    await ask("GET", f"/v1/workstreams?limit=5&token={canaries.query_sent}")
    await ask("POST", "/v1/workstreams", json={"mode": canaries.argument})
    wrong = {"Authorization": f"Bearer {canaries.bearer_sent}"}
    await ask("GET", "/v1/workstreams", headers=wrong)
    await ask("POST", "/v1/signin", json={"token": canaries.bearer_sent})


async def known_to_the_node(person: Person, home: Home) -> None:
    """Return once the node masks a secret that was set last: it learns all of them at once."""
    value = secrets.token_hex(16)
    (home.workspace / "last.txt").write_text(value)
    await person.put("hook.last", value)
    new = {"mode": "bypassPermissions", "name": "probe", "model": "demo"}
    workstream = (await person.ask("POST", "/v1/workstreams", json=new)).json()["id"]
    path = f"/v1/workstreams/{workstream}/events"
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await person.send(workstream, "run: cat last.txt")
            await person.rest(workstream, "idle")
            page = (await person.ask("GET", path, params={"limit": 1000})).json()
            shown = [each["output"] for each in page["items"] if each["kind"] == "call.finished"]
            if shown and value not in shown[-1]:
                return


async def use(person: Person, home: Home, canaries: Canaries, model: ModelServer) -> None:
    """A day's work with secrets: set, used, leaked, refused, revoked, set anew, rotated."""
    await set_by_command(home, "model.main", canaries.model_slot)
    await set_by_command(home, "mcp.acme.BEARER_TOKEN", canaries.mcp_slot)
    await person.put("hook.audit", canaries.hook_slot)
    await person.put("channel.irc", canaries.channel_slot)
    await person.put("hook.replaced", canaries.replaced)
    await person.put("hook.revoked", canaries.revoked)
    await known_to_the_node(person, home)
    await person.put("hook.replaced", "another-value-by-now")
    await person.ask("POST", "/v1/secrets/hook.revoked/revoke")
    new = {"mode": "bypassPermissions", "name": "leaky"}
    workstream = (await person.ask("POST", "/v1/workstreams", json=new)).json()["id"]
    async with asyncio.TaskGroup() as group:
        streams = [f"/v1/workstreams/{workstream}/events?after=0", "/v1/cluster/events"]
        listening = [group.create_task(person.listen(path)) for path in streams]
        await person.send(workstream, "look around")
        await person.rest(workstream, "idle")
        await person.send(workstream, "once more")
        failed = await person.rest(workstream, "failed")
        assert "Incorrect API key provided: ***" in failed["detail"]
        await person.ask("POST", "/v1/secrets/model.main/revoke")
        asked = len(model.requests)
        await person.send(workstream, "and now")
        revoked = await person.rest(workstream, "failed")
        while "was revoked" not in revoked["detail"]:
            revoked = await person.rest(workstream, "failed")
        assert "redshank secrets set model.main" in revoked["detail"]
        assert len(model.requests) == asked
        await set_by_command(home, "model.main", canaries.model_slot_new)
        await person.send(workstream, "go on")
        await person.rest(workstream, "idle")
        for listener in listening:
            listener.cancel()
    sent = [request.headers["authorization"] for request in model.requests]
    assert sent == [f"Bearer {canaries.model_slot}"] * 3 + [f"Bearer {canaries.model_slot_new}"]
    await misuse(person, canaries)
    key_file = home.data / "vault.key"
    fresh = base64.b64encode(secrets.token_bytes(32)).decode()
    key_file.write_text(f"{fresh}\n{key_file.read_text()}")
    assert (await person.ask("POST", "/v1/secrets/rotate")).json()["left"] == []
    await look_at_everything(person, home, workstream, canaries)


async def look_at_everything(
    person: Person, home: Home, workstream: str, canaries: Canaries
) -> None:
    """Every reading that the product offers."""
    events_of = f"/v1/workstreams/{workstream}/events"
    page = (await person.ask("GET", events_of, params={"limit": 1000})).json()
    outputs = [each["output"] for each in page["items"] if each["kind"] == "call.finished"]
    assert len(outputs) == 7
    # They were masked, not merely left out.
    assert all("***" in output for output in outputs[1:]), outputs
    whose = f"/v1/workstreams/{workstream}"
    for path in (
        "/health",
        "/metrics",
        "/openapi.json",
        "/v1/secrets",
        "/v1/audit",
        "/v1/ledger",
        "/v1/tokens",
        "/v1/cluster/overview",
        "/v1/cluster/nodes",
        "/v1/workstreams",
        "/v1/approvals",
        whose,
        f"{whose}/history",
        f"{whose}/export",
        f"{whose}/permission-audits",
    ):
        await person.ask("GET", path)
    scraping = {"Authorization": f"Bearer {canaries.metrics_token}"}
    for path in ("/health", "/metrics"):
        node = await person.http.get(f"http://127.0.0.1:{home.node_port}{path}", headers=scraping)
        person.heard.append((f"node {path}", node.content))
    done = await asyncio.to_thread(home.run, "doctor")
    person.heard.append(("doctor", (done.stdout + done.stderr).encode()))


def command_lines(pid: int) -> Sequence[tuple[str, bytes]]:
    """What `ps` shows of the processes of a start."""
    session = os.getsid(pid)
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = folder.joinpath("cmdline").read_bytes()
            parent = int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if pid in (parent, int(folder.name)) or os.getsid(int(folder.name)) == session:
                found.append((f"ps {folder.name}", line))
    return found


def rows(database_url: str) -> list[tuple[str, bytes]]:
    """Every row of every table of a PostgreSQL database as text."""
    found = []
    with psycopg.connect(database_url) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"').fetchall():
                found.append((f"table {table}", repr(row).encode()))
    return found


def files_of(home: Home) -> list[tuple[str, bytes]]:
    """All that the product wrote; what the person wrote is not its own."""
    persons = (home.workspace, home.folder / "tokens", home.folder / "redshank.toml")
    found = []
    for path in home.folder.rglob("*"):
        own = path.name == "vault.key" or any(path.is_relative_to(each) for each in persons)
        if path.is_file() and not own:
            found.append((str(path.relative_to(home.folder)), path.read_bytes()))
    return found


@contextlib.asynccontextmanager
async def started(home: Home) -> AsyncIterator[Up]:
    with home.up("--config", str(home.folder / "redshank.toml")) as up:
        await asyncio.to_thread(up.ready)
        pids = [up.process.pid, *up.children().values()]
        (home.workspace / "pids").write_text("\n".join(map(str, pids)))
        yield up


@pytest.mark.fault("F-12")
@pytest.mark.parametrize("brand", ["sqlite", "postgresql"])
async def test_twenty_secrets_put_everywhere_are_found_nowhere(
    brand: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    canaries, home = Canaries(), Home(tmp_path / "home")
    url = request.getfixturevalue("postgres_url") if brand == "postgresql" else ""
    # Its server trusts this machine: the password is only there to be found.
    secret_url = url.replace("@", f":{canaries.database}@", 1)
    async with model_server(*replies(canaries, home)) as model:
        configure(home, canaries, model.url, secret_url)
        home.environ |= {"REDSHANK_TOKEN": canaries.admin_token, "REDSHANK_URL": home.url}
        async with started(home) as up:
            person = Person(home.url, canaries.admin_token)
            await use(person, home, canaries, model)
            lines = command_lines(up.process.pid)
            await person.http.aclose()
    canaries.by_name["master_key"] = (home.data / "vault.key").read_text().split()[0]
    canaries.by_name["old_master_key"] = (home.data / "vault.key").read_text().split()[1]
    wrote = [*person.heard, *files_of(home), *lines, *(rows(url) if url else [])]
    assert len(canaries.by_name) >= 20
    assert len(lines) >= 4
    assert any("redshank.db" in where for where, _ in wrote) or url
    leaks = {where: found for where, data in wrote if (found := canaries.found_in(data))}
    assert leaks == {}
